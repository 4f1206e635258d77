"""Counts over the nodes that a caller sees: by class where classes decide visibility, else by rows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from groundwire_index.lexical.lexical import CODE, PROSE
from groundwire_index.nodes.reading_order import NO_DOCUMENT
from groundwire_milvus.document import EdgeCount, VersionDocument
from groundwire_milvus.packing import TermFact, hexed, unhexed
from groundwire_milvus.rows import Rows
from groundwire_milvus.serving.filter_expression import any_of, both, rows_from, starting
from groundwire_milvus.serving.graph.adjacency import Adjacency, near_ends
from groundwire_milvus.serving.version import OpenVersion
from groundwire_milvus.store import MOST_ROWS, among
from groundwire_server.domain.graph.expansion import Direction
from groundwire_server.domain.indexes import MAX_NAMES, is_folder, top_of
from groundwire_server.execution.call import Checkpoint

_TERMS_AT_A_TIME = 32
_NEAR_ROWS_AT_A_TIME = 1_024
_FIELDS = ("row", "class", "document", "code_length", "prose_length")


class ClassStatistics:
    """Counts over the nodes of chosen visibility classes, a mask [classes]: sums of what the document has."""

    def __init__(self, document: VersionDocument, chosen: NDArray[np.bool_]) -> None:
        self._document = document
        self._numbers = frozenset(np.flatnonzero(chosen).tolist())
        self._classes = [document.classes[number] for number in sorted(self._numbers)]

    @property
    def nodes(self) -> int:
        """How many there are."""
        return sum(counts.nodes for counts in self._classes)

    @property
    def documents(self) -> int:
        """How many documents of the reading order they belong to."""
        return sum(
            counts.documents for counts in self._document.documents if not self._numbers.isdisjoint(counts.classes)
        )

    @property
    def edges(self) -> int:
        """How many edges lead from one to another."""
        return sum(counts.edges for counts in self._edges)

    @property
    def edge_types(self) -> list[int]:
        """The types of these edges, ascending places among the manifest's `edge_types`."""
        return sorted({number for counts in self._edges for number in counts.types})

    @property
    def _edges(self) -> list[EdgeCount]:
        return [counts for counts in self._document.edges if {counts.from_class, counts.to_class} <= self._numbers]

    @property
    def code_length_in_documents(self) -> int:
        """The code tokens of those that belong to a document."""
        return sum(counts.code_length_in_documents for counts in self._classes)

    def length(self, table: str) -> int:
        """Their tokens in a lexical table."""
        return sum(counts.code_length if table == CODE else counts.prose_length for counts in self._classes)

    def holders(self, table: str, terms: Sequence[TermFact]) -> list[int]:
        """How many of them hold each of several terms of a table."""
        return [sum(count for class_, count in term.holders.items() if class_ in self._numbers) for term in terms]


class BoundRows(NamedTuple):
    """Rows, ascending, with the visibility class, the document and the lengths in tokens of each; arrays [m]."""

    rows: NDArray[np.int64]
    classes: NDArray[np.int64]
    documents: NDArray[np.int64]
    code_lengths: NDArray[np.int64]
    prose_lengths: NDArray[np.int64]

    def of_classes(self, chosen: NDArray[np.bool_]) -> "BoundRows":
        """Those of the visibility classes that are chosen, a mask [classes]."""
        kept = chosen.take(self.classes)
        return BoundRows(*(column[kept] for column in self))


def read_bound_rows(version: OpenVersion, expression: str) -> BoundRows:
    """The rows that meet an expression. Raises StorageUnavailableError and CollectionMissingError."""
    pages = list(_pages(version, expression, _FIELDS))
    columns = (np.concatenate([np.empty(0, np.int64), *(page.integers(field) for page in pages)]) for field in _FIELDS)
    bound_rows = BoundRows(*columns)
    order = np.argsort(bound_rows.rows)
    return BoundRows(*(column[order] for column in bound_rows))


def read_rows(version: OpenVersion, expression: str, checkpoint: Checkpoint) -> NDArray[np.int64]:
    """The numbers of the rows that meet an expression, in no order.

    Raises StorageUnavailableError, CollectionMissingError, and what `checkpoint` raises, which is called for each page.
    """
    numbers: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    for page in _pages(version, expression, ("row",)):
        checkpoint()
        numbers.append(page.integers("row"))
    return np.concatenate(numbers)


def distinct_values(version: OpenVersion, expression: str, field: str) -> list[str]:
    """The distinct values of a string field that are not empty, of the nodes that meet an expression, sorted.

    Asks for nodes of other values than those found, until there are none, or more than MAX_NAMES are found.

    Raises StorageUnavailableError and CollectionMissingError.
    """
    values = {""}
    while len(values) <= MAX_NAMES + 1:
        others = f"not ({among(field, sorted(values))})"
        further_values = version.store.query(version.collections.nodes, both(expression, others), (field,)).strings(
            field
        )
        if not further_values:
            break
        values.update(further_values)
    return sorted(map(unhexed, values - {""}))


def distinct_tops(version: OpenVersion, expression: str) -> list[str]:
    """The distinct results of `top_of` for the paths of the nodes that meet an expression, sorted.

    Asks for nodes that are in none of those found, until there are none, or more than MAX_NAMES are found.

    Raises StorageUnavailableError and CollectionMissingError.
    """
    tops = {""}
    while len(tops) <= MAX_NAMES + 1:
        files = sorted(hexed(top) for top in tops if not is_folder(top))
        folders = sorted(top for top in tops if is_folder(top))
        within = any_of([among("path", files), *(starting("path", folder) for folder in folders)])
        paths = version.store.query(version.collections.nodes, both(expression, f"not {within}"), ("path",)).strings(
            "path"
        )
        if not paths:
            break
        tops.update(top_of(unhexed(path)) for path in paths)
    return sorted(tops - {""})


def _pages(version: OpenVersion, expression: str, fields: Sequence[str]) -> Iterator[Rows]:
    """Some fields of the rows that meet an expression, in pieces that one answer can hold."""
    yield from _pages_between(version, expression, fields, 0, version.manifest.node_count)


def _pages_between(
    version: OpenVersion, expression: str, fields: Sequence[str], first: int, end: int
) -> Iterator[Rows]:
    """As `_pages`, of the rows from `first` up to `end`."""
    store, nodes, within = version.store, version.collections.nodes, both(expression, rows_from(first, end))
    if end - first <= MOST_ROWS or store.count(nodes, within) <= MOST_ROWS:
        yield store.query(nodes, within, fields)
        return
    middle = (first + end) // 2
    yield from _pages_between(version, expression, fields, first, middle)
    yield from _pages_between(version, expression, fields, middle, end)


class RowStatistics:
    """As `ClassStatistics`, over some rows, which are all that meet an expression. Results are remembered."""

    def __init__(self, version: OpenVersion, rows: BoundRows, expression: str) -> None:
        self._version = version
        self.rows = rows
        self._expression = expression
        self._holders: Mapping[str, dict[int, int]] = {CODE: {}, PROSE: {}}
        self._edge_counts: NDArray[np.int64] | None = None

    @property
    def nodes(self) -> int:
        return len(self.rows.rows)

    @property
    def documents(self) -> int:
        return len(np.setdiff1d(self.rows.documents, [NO_DOCUMENT]))

    @property
    def edges(self) -> int:
        return int(self._edges_by_type().sum())

    @property
    def edge_types(self) -> list[int]:
        return np.flatnonzero(self._edges_by_type()).tolist()

    def _edges_by_type(self) -> NDArray[np.int64]:
        """How many edges of each type [t] lead from one row to another; reads all edges that leave the rows, once."""
        if self._edge_counts is None:
            self._edge_counts = self._read_edges()
        return self._edge_counts

    def _read_edges(self) -> NDArray[np.int64]:
        rows, types = self.rows.rows, len(self._version.manifest.edge_types)
        counts = np.zeros(types, dtype=np.int64)
        for first in range(0, len(rows), _NEAR_ROWS_AT_A_TIME):
            adjacency = Adjacency(self._version.store, self._version.collections.edges)
            nears = near_ends(rows[first : first + _NEAR_ROWS_AT_A_TIME].tolist(), Direction.OUTGOING)
            adjacency.finish(nears)
            edges = adjacency.edges_of(nears)[1]
            counts += np.bincount(edges["type"][np.isin(edges["far"], rows)], minlength=types)
        return counts

    @property
    def code_length_in_documents(self) -> int:
        return int(self.rows.code_lengths[self.rows.documents != NO_DOCUMENT].sum())

    def length(self, table: str) -> int:
        return int((self.rows.code_lengths if table == CODE else self.rows.prose_lengths).sum())

    def holders(self, table: str, terms: Sequence[TermFact]) -> list[int]:
        """Searches for the terms that were not asked for before, each by itself."""
        known = self._holders[table]
        fresh = [term.number for term in terms if term.number not in known]
        for first in range(0, len(fresh), _TERMS_AT_A_TIME):
            some = fresh[first : first + _TERMS_AT_A_TIME]
            known.update(zip(some, self._counted(table, some), strict=True))
        return [known[term.number] for term in terms]

    def _counted(self, table: str, terms: Sequence[int]) -> list[int]:
        rows, counts = self.rows.rows, np.zeros(len(terms), dtype=np.int64)
        queries = [{term: 1.0} for term in terms]
        for first in range(0, len(rows), MOST_ROWS):
            piece = rows[first : first + MOST_ROWS]
            within = both(self._expression, rows_from(int(piece[0]), int(piece[-1]) + 1))
            hits_of_queries = self._version.store.search(
                self._version.collections.nodes, table, queries, len(piece), within
            )
            counts += [len(hits.rows) for hits in hits_of_queries]
        return counts.tolist()


Statistics: TypeAlias = ClassStatistics | RowStatistics
