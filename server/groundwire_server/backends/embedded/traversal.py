"""Breadth-first walk of the dependency graph within limits (design §5; seed 000 `expand_dependency_tree`).

Nodes of one depth stand in the order (seed that reached them, edge type, id); a node reached in several ways counts
for the first. The node limit acts inside the walk: of a hub no more is read than it admits. Nodes that are hidden or do
not pass the filter are never stepped on, so nothing behind them is reached through them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import groupby, repeat
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from groundwire_server.backends.embedded.neighbours import NO_EDGES, Neighbour, Neighbours
from groundwire_server.domain.checkpoint import Checkpoint

_Entry: TypeAlias = tuple[tuple[int, int, int], int, Neighbour]
"""(edge type, other end, parent's place), the parent's row, the neighbour."""


@dataclass(frozen=True, slots=True)
class ReachedRow:
    """A row of the walk: its depth, the row it was reached from (-1 for a seed) and the seed's position."""

    row: int
    depth: int
    parent: int
    seed: int


@dataclass(frozen=True, slots=True)
class WalkedEdge:
    """An edge between two reached rows, in its own direction, whichever way it was walked."""

    from_row: int
    to_row: int
    edge_type: int
    confidence: float
    line: int


@dataclass(slots=True)
class Walker:
    """One walk. `outgoing` and `incoming` are the neighbours to follow; None for a direction not asked."""

    outgoing: Neighbours | None
    incoming: Neighbours | None
    max_depth: int
    max_nodes: int
    checkpoint: Checkpoint
    limit_reached: bool = False
    _reached: dict[int, ReachedRow] = field(default_factory=dict)

    def walk(self, seeds: Sequence[int]) -> list[ReachedRow]:
        """The reached rows in order, distinct `seeds` first; sets `limit_reached` when a row had no place."""
        self.limit_reached = len(seeds) > self.max_nodes
        level = [ReachedRow(row, 0, -1, position) for position, row in enumerate(seeds[: self.max_nodes])]
        self._reached = {reached.row: reached for reached in level}
        for depth in range(1, self.max_depth + 1):
            self.checkpoint()
            level = self._next_level(level, depth)
            if not level or self.limit_reached:
                break
        return list(self._reached.values())

    def keep(self, count: int) -> None:
        """Gives up all but the first `count` reached rows."""
        self._reached = dict(list(self._reached.items())[:count])

    def edges(self) -> Iterator[WalkedEdge]:
        """The edges between reached rows that leave, in the directions asked, one of less than the greatest depth.

        Each once, in the order of (that row's place, edge type, other end).
        """
        rows = [reached.row for reached in self._reached.values() if reached.depth < self.max_depth]
        told: set[tuple[int, int, int]] = set()
        for edge in self._edges_from(np.asarray(rows, dtype=np.int32)):
            identity = (edge.from_row, edge.to_row, edge.edge_type)
            if identity not in told:
                told.add(identity)
                yield edge

    def leads_on(self) -> bool:
        """Whether an edge that may be walked leads from a row of the greatest depth to one that was not reached.

        Ends at the first such edge: of a hub no more is read than leads to rows that were reached.
        """
        last = np.asarray([row.row for row in self._reached.values() if row.depth == self.max_depth], dtype=np.int32)
        known = np.asarray(sorted(self._reached), dtype=np.int32)
        for neighbours in (self.outgoing, self.incoming):
            for ends in neighbours.ends_of(last) if neighbours is not None else ():
                self.checkpoint()
                if not np.isin(ends, known).all():
                    return True
        return False

    def _next_level(self, level: Sequence[ReachedRow], depth: int) -> list[ReachedRow]:
        next_level: list[ReachedRow] = []
        for seed, parents in groupby(level, key=lambda reached: reached.seed):
            for parent, neighbour in self._in_order(list(parents)):
                if neighbour.row in self._reached:
                    continue
                if len(self._reached) == self.max_nodes:
                    self.limit_reached = True
                    return next_level
                reached = ReachedRow(neighbour.row, depth, parent, seed)
                self._reached[neighbour.row] = reached
                next_level.append(reached)
        return next_level

    def _in_order(self, parents: Sequence[ReachedRow]) -> Iterator[tuple[int, Neighbour]]:
        """The neighbours of several parents merged by (edge type, id, parent's place), read as far as consumed."""
        streams = [
            stream
            for neighbours in (self.outgoing, self.incoming)
            if neighbours is not None
            for stream in _streams([parent.row for parent in parents], neighbours)
        ]
        for _, parent_row, neighbour in merge(*streams, key=lambda entry: entry[0]):
            yield parent_row, neighbour

    def _edges_from(self, rows: NDArray[np.int32]) -> Iterator[WalkedEdge]:
        """The edges between reached rows that leave some of them [m], by (row's place, edge type, other end)."""
        chosen = np.asarray(sorted(self._reached), dtype=np.int32)
        onward = self.outgoing.among(rows, chosen) if self.outgoing else NO_EDGES
        backward = self.incoming.among(rows, chosen) if self.incoming else NO_EDGES
        places = np.concatenate((onward.places, backward.places))
        types = np.concatenate((onward.types, backward.types))
        near, far = rows.take(places), np.concatenate((onward.ends, backward.ends))
        confidences = np.concatenate((onward.confidences, backward.confidences))
        lines = np.concatenate((onward.lines, backward.lines))
        is_onward = np.arange(len(places)) < len(onward.places)
        order = np.lexsort((~is_onward, far, types, places))
        from_rows, to_rows = np.where(is_onward, (near, far), (far, near))[:, order]
        facts = (column[order].tolist() for column in (types, confidences, lines))
        return map(WalkedEdge, from_rows.tolist(), to_rows.tolist(), *facts)


def _streams(rows: Sequence[int], neighbours: Neighbours) -> Iterator[Iterator[_Entry]]:
    """The neighbours of rows, each stream in order: one for all rows of few edges, and one for each hub."""
    hubs: list[int] = []
    others: list[int] = []
    for place, row in enumerate(rows):
        (hubs if neighbours.is_hub(row) else others).append(place)
    if others:
        together = neighbours.of_all(np.asarray([rows[place] for place in others], dtype=np.int32))
        yield (_entry(rows, others[place], neighbour) for place, neighbour in together)
    for hub in hubs:
        yield (_entry(rows, place, neighbour) for place, neighbour in zip(repeat(hub), neighbours.of(rows[hub])))


def _entry(rows: Sequence[int], place: int, neighbour: Neighbour) -> _Entry:
    return (neighbour.edge_type, neighbour.row, place), rows[place], neighbour
