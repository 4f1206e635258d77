"""The edges between the repositories that a call asks together, as its caller sees them.

They are made of the ends of nodes that the caller sees and of nothing else. So neither a hidden node nor a hidden index
has an influence, not even on how sure an edge is.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from groundwire_index.files.spans import is_first_of_pair
from groundwire_index.repository_edges.joining import RepositoryEnds, edges_between
from groundwire_index.repository_edges.stored_ends import SeenEnds
from groundwire_index.scope import Scope
from groundwire_server.backends.interface import IndexSnapshot
from groundwire_server.backends.selected_graph import Positions, Rows, StoredEdges
from groundwire_server.domain.graph.expansion import Direction
from groundwire_server.domain.query.neighbourhood import CONFIDENT, Neighbourhood
from groundwire_server.engine.union_rows import by_part, first_row
from groundwire_server.execution.call import Checkpoint

MAX_BYTES = 64 << 20
"""The most bytes of edges, with what they are kept for, of the last sets of indexes and callers."""
ENTRY_BYTES = 4_096
"""What the objects around the arrays of one set take, names of scopes and types included."""

_Key: TypeAlias = tuple[tuple[Scope, bytes], ...]


@dataclass(frozen=True, slots=True)
class BetweenEdges:
    """Edges between indexes, all arrays [m], sorted by (edge type, from row, to row); rows are those of the union.

    `types` are positions in `edge_types`, which are sorted.
    """

    edge_types: tuple[str, ...]
    stored: StoredEdges

    def __len__(self) -> int:
        return len(self.stored.types)

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        return sum(column.nbytes for column in self.stored)

    def following(self, rows: Rows, direction: Direction) -> tuple[Positions, Positions, Positions]:
        """For rows [n] the place among them, far end and number of each edge that leaves them, then that arrives."""
        sides = {
            Direction.OUTGOING: [(self.stored.from_rows, self.stored.to_rows)],
            Direction.INCOMING: [(self.stored.to_rows, self.stored.from_rows)],
            Direction.BOTH: [
                (self.stored.from_rows, self.stored.to_rows),
                (self.stored.to_rows, self.stored.from_rows),
            ],
        }[direction]
        order: Positions = np.argsort(rows, kind="stable")
        places: list[Positions] = []
        numbers: list[Positions] = []
        ends: list[Positions] = []
        for near, far in sides if len(rows) else ():
            at = np.minimum(np.searchsorted(rows, near, sorter=order), len(rows) - 1)
            touching = np.flatnonzero(rows.take(order.take(at)) == near)
            of_row: Positions = order.take(at.take(touching))
            # Stable: the edges of a row stay in the order of type and far end.
            sorted_by_row = np.argsort(of_row, kind="stable")
            places.append(of_row.take(sorted_by_row))
            numbers.append(touching.take(sorted_by_row))
            ends.append(far.take(numbers[-1]).astype(np.int64))
        none = np.empty(0, dtype=np.int64)
        return np.concatenate([none, *places]), np.concatenate([none, *ends]), np.concatenate([none, *numbers])


NO_EDGES = BetweenEdges(
    (),
    StoredEdges(
        np.empty(0, dtype=np.int64),
        np.empty(0, dtype=np.int64),
        np.empty(0, dtype=np.int64),
        np.empty(0, dtype=np.float32),
        np.empty(0, dtype=np.int32),
    ),
)


@dataclass(slots=True)
class EdgesBetween:
    """Makes the edges between indexes, and keeps those of the last sets of indexes and callers.

    What is kept takes `most_bytes` at most. A set of edges that is larger by itself is not kept.
    """

    most_bytes: int = MAX_BYTES
    _known: OrderedDict[_Key, BetweenEdges] = field(default_factory=OrderedDict)
    _kept_bytes: int = 0
    _lock: Lock = field(default_factory=Lock)

    @property
    def kept_bytes(self) -> int:
        """The bytes of what is kept."""
        return self._kept_bytes

    def of(self, parts: Sequence[IndexSnapshot], checkpoint: Checkpoint) -> BetweenEdges:
        """The edges between parts, in the order of the union.

        `checkpoint` is called while ends are read and joined; nothing is kept of a join that it ends.
        Raises PreconditionError when ends are damaged.
        """
        if len(parts) < 2:
            return NO_EDGES
        seen: list[SeenEnds] = []
        for part in parts:
            checkpoint()
            seen.append(part.ends)
        key = tuple((part.scope, ends.is_seen.tobytes()) for part, ends in zip(parts, seen, strict=True))
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        ends_of_parts: list[RepositoryEnds] = []
        for part, ends in zip(parts, seen, strict=True):
            checkpoint()
            ends_of_parts.append(RepositoryEnds(part.scope.repository, ends.ends))
        joined = edges_between(ends_of_parts, checkpoint)
        rows = [ends.stored.row_by_key for ends in seen]
        edge_types = tuple(sorted({edge.edge_type for edge in joined}))
        numbers = {name: number for number, name in enumerate(edge_types)}
        ends_of_edges = np.asarray(
            [
                (
                    first_row(edge.from_node.index) + rows[edge.from_node.index][edge.from_node.key],
                    first_row(edge.to_node.index) + rows[edge.to_node.index][edge.to_node.key],
                    numbers[edge.edge_type],
                )
                for edge in joined
            ],
            dtype=np.int64,
        ).reshape(-1, 3)
        from_rows, to_rows, types = ends_of_edges.T
        order = np.lexsort((to_rows, from_rows, types))
        edges = BetweenEdges(
            edge_types,
            StoredEdges(
                from_rows[order],
                to_rows[order],
                types[order],
                np.asarray([edge.confidence for edge in joined], dtype=np.float32)[order],
                np.asarray([edge.line for edge in joined], dtype=np.int32)[order],
            ),
        )
        self._keep(key, edges)
        return edges

    def _keep(self, key: _Key, edges: BetweenEdges) -> None:
        with self._lock:
            if key in self._known:
                return  # another call has made them meanwhile
            self._known[key] = edges
            self._kept_bytes += _size(key, edges)
            while self._kept_bytes > self.most_bytes:
                self._kept_bytes -= _size(*self._known.popitem(last=False))


def _size(key: _Key, edges: BetweenEdges) -> int:
    """The bytes that a set of edges takes, with its key."""
    return ENTRY_BYTES + sum(len(is_seen) for _, is_seen in key) + edges.nbytes


def held(parts: Sequence[IndexSnapshot], rows: Rows) -> NDArray[np.bool_]:
    """For each of rows [m] of the union whether the question is about it."""
    holds = np.zeros(len(rows), dtype=np.bool_)
    for number, places, part_rows in by_part(rows):
        holds[places] = parts[number].holds(part_rows)
    return holds


def with_edges_between(neighbourhood: Neighbourhood, rows: Positions, between: BetweenEdges) -> Neighbourhood:
    """The neighbourhood of rows [n], which ascend, with the confident edges between parts."""
    if not len(between):
        return neighbourhood
    places, ends, numbers = between.following(rows, Direction.BOTH)
    confidences = between.stored.confidences.take(numbers)
    confident = np.flatnonzero(confidences >= np.float32(CONFIDENT))
    order = confident[np.lexsort((-confidences[confident], ends[confident], places[confident]))]
    order = order[is_first_of_pair(places[order], ends[order])]
    places, ends, confidences = places[order], ends[order], confidences[order]
    at = np.minimum(np.searchsorted(rows, ends), len(rows) - 1)
    among = np.flatnonzero(rows.take(at) == ends)
    return Neighbourhood(
        np.concatenate((neighbourhood.ends, np.stack((places[among], at[among]))), axis=1),
        np.concatenate((neighbourhood.confidences, confidences[among].astype(np.float64))),
        neighbourhood.degrees + np.bincount(places, minlength=len(rows)),
    )
