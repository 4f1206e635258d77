"""Nodes, edges and what is known about them. A node is one chunk of source with an identity."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from groundwire_index.link_template import LinkTemplate

MetadataScalar: TypeAlias = "bool | int | float | str | None"
JsonValue: TypeAlias = "MetadataScalar | list[JsonValue] | dict[str, JsonValue]"


def content_hash(text: str) -> str:
    """Lower-case hexadecimal SHA-256 of the UTF-8 text: 64 characters."""
    return hashlib.sha256(text.encode()).hexdigest()


WORKFLOW_KEY = "workflow_id"
"""The metadata key that names a node's workflows: a string, or a list that holds some."""


@dataclass(frozen=True, slots=True, order=True)
class NodeAccess:
    """The access rules of a node.

    Defaults describe a public node: no tenant, no tags, no labels, level 0 (which means "absent").
    Tags and labels are kept sorted and unique, so equal demands compare equal.
    """

    tenant_id: str = ""
    acl_tags: tuple[str, ...] = ()
    classification_labels: tuple[str, ...] = ()
    clearance_level: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "acl_tags", tuple(sorted(set(self.acl_tags))))
        object.__setattr__(self, "classification_labels", tuple(sorted(set(self.classification_labels))))


@dataclass(frozen=True, slots=True)
class Location:
    """Where a node's text is: path within the source, 1-based inclusive lines (0 = unknown), text hash.

    `links` is the template of the index that the node was read from; it is no part of the place.
    """

    path: str
    start_line: int
    end_line: int
    content_hash: str
    links: LinkTemplate | None = field(default=None, compare=False, repr=False)

    @property
    def url(self) -> str:
        """The link to the text; "" without one."""
        return self.url_of_lines(self.start_line, self.end_line)

    def url_of_lines(self, start_line: int, end_line: int) -> str:
        """The link to other lines of the same file; for a `start_line` of 0 to the file."""
        return "" if self.links is None else self.links.link(self.path, start_line, end_line)


@dataclass(frozen=True, slots=True)
class Node:
    """A node as an index holds it; `id` is canonical, text lengths are counted once at ingestion.

    `repo_name` is the scope's repository unless the source says otherwise. `chunk_index` orders the chunks of one
    document, 0 when unknown. `timestamp` has a zone. `context_prefix` says where in its document the text is, such as
    the headings above it; it is searched with the text, but is no part of it. `deleted` marks nodes that the source has
    deleted, `is_test` tests, `is_generated` code that a tool generated.
    """

    id: str
    kind: str
    local_id: str
    text: str
    token_count: int
    location: Location
    symbol: str = ""
    signature: str = ""
    language: str = ""
    data_type: str = ""
    corpus_type: str = ""
    collection_id: str = ""
    case_id: str = ""
    document_id: str = ""
    document_version_id: str = ""
    chunk_index: int = 0
    is_latest: bool = True
    deleted: bool = False
    service_name: str = ""
    repo_name: str = ""
    section_path: str = ""
    author: str = ""
    channel: str = ""
    timestamp: datetime | None = None
    source_uri: str = ""
    context_prefix: str = ""
    is_test: bool = False
    is_generated: bool = False
    access: NodeAccess = field(default_factory=NodeAccess)
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)


CONTAINS = "Contains"
"""The edge type from a whole to its part; the parents of a chunk are the nodes that contain it."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A typed dependency between two nodes; `confidence` in (0, 1], 1 when the source asserts it.

    `line` is the 1-based line of the file of `from_id` where the dependency is written, 0 when unknown.
    """

    from_id: str
    to_id: str
    edge_type: str
    confidence: float = 1.0
    line: int = 0
