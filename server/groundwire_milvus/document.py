"""The document of a version: what is known of an index as a whole, and what adds up to the statistics of any caller.

A **visibility class** is a distinct pair of a policy class and the deleted flag. Visibility is decided by class, so the
sum over the visible classes is the count of visible nodes.
"""

import hashlib
from dataclasses import dataclass
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.nodes.node import NodeAccess
from groundwire_index.store.manifest import FileEntry, Format, Manifest
from groundwire_milvus.dense_index import DenseIndex

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """A visibility class, and counts over its nodes.

    `policy` is a place among the document's policies. Lengths are sums of tokens; that `in_documents` counts only the
    nodes that belong to a document of the reading order.
    """

    policy: int
    deleted: bool
    nodes: int
    code_length: int
    prose_length: int
    code_length_in_documents: int


@dataclass(frozen=True, slots=True)
class EdgeCount:
    """How many edges lead from nodes of one class to nodes of another.

    `types` are theirs, ascending places among the manifest's `edge_types`.
    """

    from_class: int
    to_class: int
    edges: int
    types: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentCount:
    """How many documents of the reading order have nodes of exactly these classes, which ascend."""

    classes: tuple[int, ...]
    documents: int


@dataclass(frozen=True, slots=True)
class CollectionState:
    """The expected content of a collection: the number of rows, and the checksum of each page.

    `pages` are the numbers of the rows that begin a page: what is read or written at a time.
    """

    rows: int
    pages: tuple[int, ...]
    checksums: tuple[str, ...]

    def span(self, page: int) -> range:
        """The rows of a page."""
        return range(self.pages[page], (*self.pages, self.rows)[page + 1])


@dataclass(frozen=True, slots=True)
class VersionDocument:
    """The content of a version's entry in the catalogue. `manifest` has no files.

    `classes` are sorted by (policy, deleted); the field `class` of a node is a place among them. The reference lengths
    are the mean lengths of all nodes in tokens, 1 instead of 0; they weighed the sparse vectors. `dense_index` is that
    of the vectors, where there are some. `files` are those that a server reads whole (`whole_files`); a version that an
    older Groundwire published has none.
    """

    manifest: Manifest
    policies: tuple[NodeAccess, ...]
    classes: tuple[ClassCounts, ...]
    code_reference_length: float
    prose_reference_length: float
    dense_index: DenseIndex
    edges: tuple[EdgeCount, ...]
    documents: tuple[DocumentCount, ...]
    nodes_state: CollectionState
    edges_state: CollectionState
    facts_state: CollectionState
    files: tuple[FileEntry, ...] = ()

    def to_content(self) -> str:
        """The document as the catalogue holds it: a line of the policies, then one of all; each with its checksum."""
        return sealed_policies(self.policies) + _sealed(_DOCUMENT.dump_json(self).decode())

    def file(self, name: str) -> FileEntry | None:
        """The file of this name; None if the version has none."""
        return next((entry for entry in self.files if entry.name == name), None)

    @staticmethod
    def from_content(content: str) -> "VersionDocument":
        """Reads a document. Raises IndexDamagedError, also for one of another format."""
        document = content.partition("\n")[2]
        _read(_FORMATTED, document).manifest.check(_DOCUMENT_NAME)
        return _read(_DOCUMENT, document)


@dataclass(frozen=True, slots=True)
class _Formatted:
    """The fields of the document in every format."""

    manifest: Format


def sealed_policies(policies: tuple[NodeAccess, ...]) -> str:
    """The first line of a document, which is what a deleted version keeps of it."""
    return _sealed(_POLICIES.dump_json(policies).decode())


def policies_of(content: str) -> tuple[NodeAccess, ...]:
    """The policies, from the first line of a document; the rest may be damaged. Raises IndexDamagedError."""
    return _read(_POLICIES, content)


_DOCUMENT: TypeAdapter[VersionDocument] = TypeAdapter(VersionDocument)
_FORMATTED: TypeAdapter[_Formatted] = TypeAdapter(_Formatted)
_DOCUMENT_NAME = "the catalogue's document"
_POLICIES: TypeAdapter[tuple[NodeAccess, ...]] = TypeAdapter(tuple[NodeAccess, ...])


def _sealed(line: str) -> str:
    return f"{hashlib.sha256(line.encode()).hexdigest()} {line}\n"


def _read(adapter: TypeAdapter[Value], content: str) -> Value:
    line = content.partition("\n")[0].partition(" ")[2]
    if not content.startswith(_sealed(line)):
        raise IndexDamagedError(f"{_DOCUMENT_NAME} does not match its checksum")
    try:
        return adapter.validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        raise IndexDamagedError(
            f"{_DOCUMENT_NAME} has {error.error_count()} errors, first: {first['loc']} {first['msg']}"
        ) from error
