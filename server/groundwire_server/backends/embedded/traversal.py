"""Breadth-first walk of the dependency graph within limits (design §5; seed 000 `expand_dependency_tree`).

Nodes of one depth stand in the order (seed that reached them, edge type, id); a node reached in several ways counts
for the first. The node limit acts inside the walk: of a hub no more is read than it admits. Hidden nodes are never
stepped on, so nothing behind them is reached through them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import groupby

import numpy as np

from groundwire_server.backends.embedded.neighbours import Neighbour, Neighbours
from groundwire_server.domain.checkpoint import Checkpoint


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
        chosen = np.asarray(sorted(self._reached), dtype=np.int32)
        told: set[tuple[int, int, int]] = set()
        for reached in self._reached.values():
            if reached.depth == self.max_depth:
                return
            for edge in self._edges_of(reached.row, chosen):
                identity = (edge.from_row, edge.to_row, edge.edge_type)
                if identity not in told:
                    told.add(identity)
                    yield edge

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
        streams = (
            self._ordered(place, parent.row, neighbours)
            for place, parent in enumerate(parents)
            for neighbours in (self.outgoing, self.incoming)
            if neighbours is not None
        )
        for _, parent_row, neighbour in merge(*streams, key=lambda entry: entry[0]):
            yield parent_row, neighbour

    def _ordered(
        self, place: int, parent_row: int, neighbours: Neighbours
    ) -> Iterator[tuple[tuple[int, int, int], int, Neighbour]]:
        for neighbour in neighbours.of(parent_row):
            yield (neighbour.edge_type, neighbour.row, place), parent_row, neighbour

    def _edges_of(self, row: int, chosen: np.ndarray[tuple[int], np.dtype[np.int32]]) -> Iterator[WalkedEdge]:
        onward = self.outgoing.among(row, chosen) if self.outgoing else ()
        backward = self.incoming.among(row, chosen) if self.incoming else ()
        edges = [
            *(
                (near.edge_type, near.row, WalkedEdge(row, near.row, near.edge_type, near.confidence))
                for near in onward
            ),
            *(
                (near.edge_type, near.row, WalkedEdge(near.row, row, near.edge_type, near.confidence))
                for near in backward
            ),
        ]
        for _, _, edge in sorted(edges, key=lambda entry: entry[:2]):
            yield edge
