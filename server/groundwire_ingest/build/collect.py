"""From a source's records to the nodes and edges of one index, with every rule that all sources share.

A text that no response could hold is cut. Refused: a node named twice, an id that is malformed or too long, access data
stated on some nodes only, an edge to a node that is not there, too many types of edges. Nothing has been written when
a rule is broken.
"""

import pickle
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_index.graph.edges import EdgeTable
from groundwire_index.limits import MAX_EDGE_TYPES
from groundwire_index.nodes.node import CONTAINS, NodeAccess
from groundwire_index.repository_edges.ends import Ends
from groundwire_index.scope import MAX_ID_LENGTH, Scope, canonical_id, kind_problem
from groundwire_ingest.build.long_texts import in_parts
from groundwire_ingest.build.spool import NodeSpool, SpooledEnds, SpooledNodes, SpooledTexts, TextSpool
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.records import (
    DerivedNames,
    FileText,
    LateFacts,
    SkippedFile,
    SourceEdge,
    SourceNode,
    SourceRecord,
    StatedAccess,
)

_ORIGINS_FILE = "edges.origins.pickled"


class EdgeColumns:
    """Edges between numbered keys. Their places in the source wait on disk, because only an error needs them."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / _ORIGINS_FILE
        self._origins = self._path.open("wb")
        self._types: dict[str, int] = {}
        self._from, self._to, self._type, self._lines = array("i"), array("i"), array("i"), array("i")
        self._confidences = array("d")

    def __enter__(self) -> "EdgeColumns":
        return self

    def __exit__(self, *_: object) -> None:
        self._origins.close()

    def add(self, edge: SourceEdge, from_number: int, to_number: int) -> None:
        """Notes an edge between the keys of these numbers."""
        self._from.append(from_number)
        self._to.append(to_number)
        self._type.append(self._types.setdefault(edge.edge_type, len(self._types)))
        if len(self._types) > MAX_EDGE_TYPES:
            raise IngestError(
                f"{edge.origin}: edge type {edge.edge_type[:80]!r} is one more than the {MAX_EDGE_TYPES} that an index "
                "may have; a type is a kind of dependency, such as Calls, and not its ends"
            )
        self._confidences.append(edge.confidence)
        self._lines.append(edge.line)
        pickle.dump(edge.origin, self._origins)

    def table(self, rows: NDArray[np.int32], keys: Sequence[str], *, skip_dangling: bool) -> tuple[EdgeTable, int]:
        """Distinct edges between rows, sorted; of equal ones the surest is kept. And the number of dangling ones.

        `rows` [keys] are those of the keys, by number, below 0 for a key that no node has. Raises IngestError for an
        edge to a node that does not exist, unless such edges are skipped.
        """
        from_rows, to_rows = rows[np.asarray(self._from)], rows[np.asarray(self._to)]
        whole = (from_rows >= 0) & (to_rows >= 0)
        if not skip_dangling and not whole.all():
            position = int(np.argmin(whole))
            raise self._dangling(position, bool(from_rows[position] >= 0), keys)
        edge_types, types = self._sorted_types(whole)
        confidences, lines = np.asarray(self._confidences)[whole], np.asarray(self._lines, dtype=np.int32)[whole]
        table = _surest(EdgeTable(edge_types, from_rows[whole], to_rows[whole], types, confidences, lines))
        return table, len(whole) - int(whole.sum())

    def _sorted_types(self, kept: NDArray[np.bool_]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
        """The types of the kept edges, sorted, and each kept edge's place among them."""
        codes = np.asarray(self._type, dtype=np.int32)[kept]
        names = list(self._types)
        used = sorted(np.unique(codes).tolist(), key=names.__getitem__)
        ranks = np.zeros(len(names), dtype=np.int32)
        ranks[used] = np.arange(len(used), dtype=np.int32)
        return tuple(names[code] for code in used), ranks[codes]

    def _dangling(self, position: int, from_is_there: bool, keys: Sequence[str]) -> IngestError:
        self._origins.flush()
        with self._path.open("rb") as file:
            origin = next(islice(iter(partial(pickle.load, file), None), position, None))
        missing = (self._to if from_is_there else self._from)[position]
        key = keys[missing]
        edge_type = next(islice(self._types, self._type[position], None))
        return IngestError(
            f"{origin}: {edge_type} edge to a node that is not there: {key!r}; add the node, or give "
            "--skip-dangling-edges"
        )


def _surest(edges: EdgeTable) -> EdgeTable:
    """The edges sorted by ends and type, each once: the surest, of equally sure ones that of the lowest known line."""
    unknown_last = np.where(edges.lines > 0, edges.lines, np.iinfo(np.int32).max)
    order = np.lexsort((unknown_last, -edges.confidences, edges.types, edges.to_rows, edges.from_rows))
    columns = np.stack((edges.from_rows[order], edges.to_rows[order], edges.types[order], edges.lines[order]))
    first = np.flatnonzero(np.concatenate(([True], np.any(columns[:3, 1:] != columns[:3, :-1], axis=0)))[: len(order)])
    from_rows, to_rows, types, lines = columns[:, first]
    return EdgeTable(edges.edge_types, from_rows, to_rows, types, edges.confidences[order[first]], lines)


ACCESS_FIELDS = tuple(item.name for item in fields(StatedAccess))

_NOWHERE = -1
_MOST_NAMED = 5
"""The most skipped files that a message names."""


@dataclass(frozen=True, slots=True)
class Collected:
    """The checked content of a source: nodes sorted by canonical id, distinct edges, ends, texts of files.

    `skipped` and `dropped_edges` say what was left out.
    `dimension` is the length of the longest vector that a node brings, None when none brings any. `keys` are those of
    the nodes. `has_long_ids` is True if nodes are left out because their ids are too long.
    """

    nodes: SpooledNodes
    edges: EdgeTable
    ends: SpooledEnds
    texts: SpooledTexts
    skipped: tuple[SkippedFile, ...]
    dropped_edges: int
    dimension: int | None
    keys: Sequence[str]
    has_long_ids: bool


def collect(records: Iterable[SourceRecord], scope: Scope, directory: Path, *, skip_dangling_edges: bool) -> Collected:
    """Reads a source to its end. With `skip_dangling_edges`, edges to absent nodes are counted and left out.

    The nodes wait in the empty folder `directory`; memory holds their keys, the edges as numbers and what was skipped.
    Raises IngestError naming the place and the rule.
    """
    with NodeSpool(directory) as spool, EdgeColumns(directory) as edges, TextSpool(directory) as texts:
        reading = _Reading(scope, spool, edges, texts)
        for record in records:
            reading.add(record)
        return reading.finish(skip_dangling_edges=skip_dangling_edges)


class _Reading:
    """The state of a source while it is read. Keys are numbered in the order in which nodes and edges name them."""

    def __init__(self, scope: Scope, spool: NodeSpool, edges: EdgeColumns, texts: TextSpool) -> None:
        self._scope, self._spool, self._edges, self._texts = scope, spool, edges, texts
        self._skips_long_ids = False
        self._left_out: dict[str, str] = {}
        self._keys: dict[str, int] = {}
        self._places = array("q")
        self._parts: dict[str, list[str]] = {}
        self._skipped: list[SkippedFile] = []
        self._access = _StatedAccess()
        self._ends = Ends()
        self._id_problem = ""
        self._dimension: int | None = None

    def add(self, record: SourceRecord) -> None:
        """Takes the next record."""
        if isinstance(record, SourceEdge):
            self._add_edge(record)
        elif isinstance(record, SkippedFile):
            self._skipped.append(record)
        elif isinstance(record, Ends):
            self._ends = record
        elif isinstance(record, DerivedNames):
            self._skips_long_ids = True
        elif isinstance(record, LateFacts):
            self._add_facts(record)
        elif isinstance(record, FileText):
            self._texts.append(record.path, record.text)
        else:
            whole, *others = in_parts(record)
            self._add_node(whole)
            for part in others:
                self._add_node(part)
                self._parts.setdefault(whole.key, []).append(part.key)
                self.add(SourceEdge(whole.key, part.key, CONTAINS, part.origin))

    def _what_was_skipped(self) -> str:
        """The first files that could not be used, and why, for a message; empty for none."""
        named = [f"{skipped.path} {skipped.why}" for skipped in self._skipped[:_MOST_NAMED]]
        more = f", and {len(self._skipped) - _MOST_NAMED:,} more" if len(self._skipped) > _MOST_NAMED else ""
        return f": skipped are {', '.join(named)}{more}" if named else ""

    def finish(self, *, skip_dangling_edges: bool) -> Collected:
        """Checks what only the whole source shows."""
        places = np.asarray(self._places)
        numbers = np.flatnonzero(places != _NOWHERE)
        if not len(numbers):
            raise IngestError(f"the source holds no nodes; there is nothing to index{self._what_was_skipped()}")
        if self._id_problem:
            raise IngestError(self._id_problem)
        self._access.check()
        # Canonical ids differ in what follows the scope alone, so keys are in their order.
        keys = list(self._keys)
        order = np.asarray(sorted(numbers.tolist(), key=keys.__getitem__))
        rows = np.full(len(keys), _NOWHERE, dtype=np.int32)
        rows[order] = np.arange(len(order), dtype=np.int32)
        edges, dropped = self._edges.table(rows, keys, skip_dangling=skip_dangling_edges)
        nodes = self._spool.finish(places[order])
        skipped = tuple(self._skipped)
        in_order = [keys[number] for number in order.tolist()]
        texts = self._texts.finish()
        ends = SpooledEnds.written(self._ends, nodes.directory)
        has_long_ids = bool(self._left_out)
        return Collected(nodes, edges, ends, texts, skipped, dropped, self._dimension, in_order, has_long_ids)

    def _add_edge(self, edge: SourceEdge) -> None:
        if self._left_out and not self._left_out.keys().isdisjoint((edge.from_key, edge.to_key)):
            return
        self._edges.add(edge, self._number(edge.from_key), self._number(edge.to_key))

    def _leave_out(self, node: SourceNode) -> None:
        """Names the file of a node whose id is too long, each file once."""
        if node.path not in self._left_out.values():
            why = f"the id of a node has more than {MAX_ID_LENGTH} bytes; shorten the file's path or the symbol"
            self._skipped.append(SkippedFile(node.path, why))
        self._left_out[node.key] = node.path

    def _add_node(self, node: SourceNode) -> None:
        if self._skips_long_ids and _is_long(node, self._scope):
            self._leave_out(node)
            return
        key = node.key
        number = self._number(key)
        if self._places[number] != _NOWHERE:
            other = self._spool.read(self._places[number])
            raise IngestError(f"{node.origin}: node {key!r} was already named at {other.origin}; name it once")
        self._places[number] = self._spool.append(node)
        self._id_problem = self._id_problem or _id_problem(node, self._scope)
        self._access.add(node)
        if node.vector is not None:
            self._dimension = max(self._dimension or 0, len(node.vector))

    def _add_facts(self, facts: LateFacts) -> None:
        """Spools a node again, with its parts; few nodes have such facts."""
        for key in (facts.key, *self._parts.get(facts.key, ())):
            number = self._number(key)
            if self._places[number] != _NOWHERE:
                self._places[number] = self._spool.append(facts.added_to(self._spool.read(self._places[number])))

    def _number(self, key: str) -> int:
        number = self._keys.setdefault(key, len(self._keys))
        if number == len(self._places):
            self._places.append(_NOWHERE)
        return number


def node_access(node: SourceNode) -> NodeAccess:
    """The access rules of the node; a source that states none describes public nodes."""
    return NodeAccess(**{name: value for name, value in asdict(node.access).items() if value is not None})


class _StatedAccess:
    """Which node was the first to state a field of access data, and which the first not to."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, bool], SourceNode] = {}

    def add(self, node: SourceNode) -> None:
        for name in ACCESS_FIELDS:
            self._first.setdefault((name, getattr(node.access, name) is None), node)

    def check(self) -> None:
        for name in ACCESS_FIELDS:
            stating, silent = self._first.get((name, False)), self._first.get((name, True))
            if stating is not None and silent is not None:
                raise IngestError(
                    f"{silent.origin}: node {silent.key!r} does not state {name}, but {stating.key!r} at "
                    f"{stating.origin} does; a source that states access data states it on every node (an empty value "
                    "means public)"
                )


def _id_problem(node: SourceNode, scope: Scope) -> str:
    problem = kind_problem(node.kind)
    if problem:
        return f"{node.origin}: kind {node.kind!r} {problem}"
    if not node.local_id:
        return f"{node.origin}: local_id is empty; name the node"
    if _is_long(node, scope):
        id_ = canonical_id(scope, node.kind, node.local_id)
        return f"{node.origin}: id {id_[:80]!r}... has more than {MAX_ID_LENGTH} UTF-8 bytes; shorten local_id"
    return ""


def _is_long(node: SourceNode, scope: Scope) -> bool:
    return len(canonical_id(scope, node.kind, node.local_id).encode()) > MAX_ID_LENGTH
