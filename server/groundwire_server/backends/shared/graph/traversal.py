"""Breadth-first walk of the dependency graph within limits.

Nodes of one depth are in the order (seed that reached them, edge type, id); a node reached in several ways counts for
the first. The node limit acts inside the walk: of a hub little more is read than it allows. Nodes that are hidden or do
not pass the filter are never stepped on, so nothing behind them is reached through them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundwire_server.backends.shared.graph.selected_graph import Neighbours, Rows
from groundwire_server.execution.call import Checkpoint


class ReachedRow(NamedTuple):
    """A row of the walk: its depth, and the row it was reached from (-1 for a seed)."""

    row: int
    depth: int
    parent: int


class _Level(NamedTuple):
    """The rows of one depth in order, with the position of the seed that reached each; arrays [m]."""

    rows: Rows
    seeds: NDArray[np.int64]


@dataclass(slots=True)
class Walker:
    """One walk along `neighbours`."""

    neighbours: Neighbours
    max_depth: int
    max_nodes: int
    checkpoint: Checkpoint
    limit_reached: bool = False
    _reached: list[ReachedRow] = field(default_factory=list)

    def walk(self, seeds: Sequence[int]) -> list[ReachedRow]:
        """The reached rows in order, distinct `seeds` first; sets `limit_reached` when a row had no place."""
        self.limit_reached = len(seeds) > self.max_nodes
        first = np.asarray(seeds[: self.max_nodes], dtype=np.int32)
        level = _Level(first, np.arange(len(first)))
        self._reached = [ReachedRow(row, 0, -1) for row in first.tolist()]
        for depth in range(1, self.max_depth + 1):
            self.checkpoint()
            level = self._next_level(level, depth)
            if not len(level.rows) or self.limit_reached:
                break
        return self._reached

    def keep(self, count: int) -> None:
        """Gives up all but the first `count` reached rows."""
        self._reached = self._reached[:count]

    def edges(self) -> list[int]:
        """The positions of the edges between reached rows that leave one of less than the greatest depth.

        They leave it in the directions asked. Each is there once, ordered by (that row's place, edge type, other end).
        """
        near = np.asarray([reached.row for reached in self._reached if reached.depth < self.max_depth], dtype=np.int32)
        chosen = np.asarray(sorted(reached.row for reached in self._reached), dtype=np.int32)
        found = self.neighbours.among(near, chosen)
        # The sort keeps outgoing edges before incoming ones that are alike. One found from both its ends comes twice.
        order = np.lexsort((found.ends, found.types, found.places))
        return list(dict.fromkeys(found.positions[order].tolist()))

    def leads_on(self) -> bool:
        """True if an edge that may be walked leads from a row of the greatest depth to one that was not reached.

        Ends at the first such edge: of a hub no more is judged than leads to rows that were reached.
        """
        last = np.asarray([reached.row for reached in self._reached if reached.depth == self.max_depth], dtype=np.int32)
        known = {reached.row for reached in self._reached}
        for ends in self.neighbours.ends_of(last):
            self.checkpoint()
            if not known.issuperset(ends.tolist()):
                return True
        return False

    def _next_level(self, level: _Level, depth: int) -> _Level:
        known = {reached.row for reached in self._reached}
        room = self.max_nodes - len(known)
        found = self.neighbours.of(level.rows, known, room)
        seeds = level.seeds.take(found.places)
        order = np.lexsort((found.places, found.ends, found.types, seeds))
        fresh: list[int] = []
        for place, row in zip(order.tolist(), found.ends[order].tolist(), strict=True):
            if row not in known:
                if len(fresh) == room:
                    self.limit_reached = True
                    break
                known.add(row)
                fresh.append(place)
        chosen = np.asarray(fresh, dtype=np.int64)
        next_level = _Level(found.ends[chosen], seeds[chosen])
        parents = level.rows.take(found.places[chosen])
        self._reached += map(ReachedRow, next_level.rows.tolist(), repeat(depth), parents.tolist())
        return next_level
