"""The records that every source yields: nodes, edges and the files that it could not use. A source knows no index."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

from groundwire_index.nodes.node import JsonValue, Node
from groundwire_index.repository_edges.ends import Ends
from groundwire_index.scope import node_key


@dataclass(frozen=True, slots=True)
class StatedAccess:
    """Access data exactly as the source states it; None means that the source is silent on it.

    Silence and "stated as public" differ: a source that states a field on one node must state it
    on every node.
    """

    tenant_id: str | None = None
    acl_tags: tuple[str, ...] | None = None
    classification_labels: tuple[str, ...] | None = None
    clearance_level: int | None = None


@dataclass(frozen=True, slots=True)
class SourceNode:
    """One chunk of source text with an identity.

    `kind` and `local_id` name the node within its scope. Lines are 1-based and inclusive, 0 when
    unknown. `origin` is the record's place in its source, for error messages. The rest is as in `domain.nodes.Node`; an
    empty `repo_name` means the scope's repository.
    """

    kind: str
    local_id: str
    text: str
    origin: str
    path: str = ""
    start_line: int = 0
    end_line: int = 0
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
    access: StatedAccess = field(default_factory=StatedAccess)
    vector: tuple[float, ...] | None = None
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """`<kind>::<local id>`, the name that edges use."""
        return node_key(self.kind, self.local_id)


TEXT_FIELDS = tuple(item.name for item in fields(SourceNode) if item.default == "")
"""The fields of a node that are texts and may be left out."""

_OF_INDEX = {item.name for item in fields(Node)} - {"access"}
_STORED_FIELDS = tuple(item.name for item in fields(SourceNode) if item.name in _OF_INDEX)


def stored_fields(node: SourceNode | Node, repo_name: str) -> dict[str, Any]:
    """The fields by name that a node has alike in a source and in an index, with another `repo_name`."""
    return {name: getattr(node, name) for name in _STORED_FIELDS} | {"repo_name": repo_name}


@dataclass(frozen=True, slots=True)
class SourceEdge:
    """A dependency between two node keys.

    `confidence` is in (0, 1], 1 when the source asserts it. `line` is the 1-based line of the file of `from_key` where
    the dependency is, 0 when unknown.
    """

    from_key: str
    to_key: str
    edge_type: str
    origin: str
    confidence: float = 1.0
    line: int = 0


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of a file that nodes come from, for exact search; a source yields one for each path at most."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class LateFacts:
    """Facts about a node that a source learns after it has yielded it, without effect for a key that no node has.

    `context` is a last line of its `context_prefix`. `is_test` makes it part of a test.
    """

    key: str
    context: str = ""
    is_test: bool = False

    def added_to(self, node: SourceNode) -> SourceNode:
        """The node with these facts."""
        prefix = "\n".join(filter(None, (node.context_prefix, self.context)))
        return replace(node, context_prefix=prefix, is_test=node.is_test or self.is_test)


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file, or a part of one, that could not be used, and why; counted and named, never dropped silently."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class DerivedNames:
    """Says that the names of later nodes follow from paths and symbols of files, so the source cannot shorten one.

    A node whose id is too long is then skipped with its edges, and the build goes on.
    """


SourceRecord: TypeAlias = SourceNode | SourceEdge | FileText | LateFacts | SkippedFile | DerivedNames | Ends


@dataclass(frozen=True, slots=True)
class LineMoves:
    """The new line of each line that the facts of a file name; their order is the same."""

    new_lines: Mapping[int, int]

    def moved(self, line: int) -> int | None:
        """The new line; None for one that is not known.

        0, which is no line, stays. 1 is also the line of the file itself, which stays.
        """
        new_line = self.moved_statement(line)
        if line == 1:
            return 1 if new_line in (None, 1) else None
        return new_line

    def moved_statement(self, line: int) -> int | None:
        """The same where the line is not that of the file itself."""
        return self.new_lines.get(line) if line else 0

    def stay_behind(self, line: int, new_line: int) -> bool:
        """True if all that is at a line of the file before its edit, or behind it, is not before a line of it now."""
        return all(new_line <= new for old, new in (*self.new_lines.items(), (1, 1)) if old >= line)


@dataclass(frozen=True, slots=True)
class MovedFile:
    """A file of a source whose edit changed nothing but the texts of its nodes, and lines.

    `nodes` are pairs of a node as it was read before and as it is now, before the source adds what it knows of others;
    `edges` those of the edges that follow from the file alone, whose lines are those of nodes. `text` is that of the
    file now. `lines` has the lines of all other edges.
    """

    path: str
    nodes: tuple[tuple[SourceNode, SourceNode], ...]
    edges: tuple[tuple[SourceEdge, SourceEdge], ...]
    text: str
    lines: LineMoves


FileContents: TypeAlias = Sequence[tuple[str, str]]
"""The paths of all files of a source, in its order, each with what identifies its content."""


class Source(Protocol):
    """Something that can be indexed. `read` may be called once; raises IngestError when it is unusable."""

    @property
    def description(self) -> str:
        """The kind and name of the source, for messages and the manifest, such as `source tree shop`."""
        ...

    def read(self) -> Iterator[SourceRecord]:
        """Yields records in a deterministic order, those about a node after it; keys of nodes are unique."""
        ...


@runtime_checkable
class SourceOfFiles(Protocol):
    """A source that knows how many files it has, and how many of them it has read so far; 0 until it knows."""

    @property
    def file_count(self) -> int:
        """All files."""
        ...

    @property
    def files_read(self) -> int:
        """Those that have been read; after the last one `read` yields what joins nodes of several files."""
        ...


@runtime_checkable
class ComparableSource(Protocol):
    """A source that can say how it differs from what an earlier build collected of it."""

    @property
    def settings(self) -> str:
        """What its records depend on besides its files."""
        ...

    def contents(self) -> FileContents:
        """Its files as they are now; what changes later is not seen."""
        ...

    def unused_patterns(self) -> tuple[str, ...]:
        """The patterns of paths to leave out, as the operator wrote them, that match nothing as `contents` sees it."""
        ...

    def readings_in(self, file: Path, software: str, others: Sequence[Path] = ()) -> AbstractContextManager[None]:
        """Keeps the results of reading its files in `file` while the context is open, for later builds by `software`.

        The file is made anew where it is damaged, or of other software. `others` are such files of other branches: they
        are not written, and their results for files with the same content are taken over.
        """
        ...

    def moved(self, before: FileContents, now: FileContents) -> tuple[MovedFile, ...] | None:
        """The files whose content differs from that of an earlier build; None if other records may differ as well."""
        ...
