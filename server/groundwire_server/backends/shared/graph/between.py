"""The rows between two sets of rows, reached level by level from both within a limit of nodes.

A level counts whole or not at all. So the rows reached depend only on the rows that exist, never on the order of
reading. They include every path within the hops that the levels span.
"""

import math
from dataclasses import dataclass

import numpy as np

from groundwire_server.backends.shared.graph.selected_graph import Neighbours, Rows
from groundwire_server.execution.call import Checkpoint

_NONE: Rows = np.empty(0, dtype=np.int32)


@dataclass(slots=True)
class _Side:
    """The rows reached from one set of ends by `depth` whole levels; infinite when there is nothing further.

    `last` is the last level, `known` the ends of both sides and all that was reached from this one, sorted.
    """

    onward: Neighbours
    last: Rows
    known: Rows
    depth: float = 0
    is_full: bool = False


class Between:
    """The rows between `starts` and `ends`, which are sorted and distinct. `inner` are those reached so far, sorted."""

    def __init__(
        self, starts: Rows, ends: Rows, onward: Neighbours, backward: Neighbours, max_nodes: int, checkpoint: Checkpoint
    ) -> None:
        """`onward` are the neighbours that a path may go on to, `backward` those that it may come from."""
        self.starts = starts
        self.ends = ends
        self.inner = _NONE
        self._max_nodes = max_nodes
        self._checkpoint = checkpoint
        known = np.union1d(starts, ends)
        self._sides = _Side(onward, starts, known), _Side(backward, ends, known)

    @property
    def hops(self) -> float:
        """All paths within this number of hops lie between: a level from each side, and the hop that joins them."""
        return sum(side.depth for side in self._sides) + 1

    def widen(self) -> bool:
        """Reaches a level more from the side whose last one is smaller, or else from the other; False without room."""
        candidates = sorted((side for side in self._sides if not side.is_full), key=lambda side: len(side.last))
        return any(map(self._advance, candidates))

    def _advance(self, side: _Side) -> bool:
        self._checkpoint()
        level, inner = _NONE, self.inner
        for piece in side.onward.ends_of(side.last):
            level = np.union1d(level, np.setdiff1d(piece, side.known))
            inner = np.union1d(inner, level)
            if len(inner) > self._max_nodes:
                side.is_full = True
                return False
        side.depth = side.depth + 1 if len(level) else math.inf
        side.last, side.known = level, np.union1d(side.known, level)
        self.inner = inner
        return True
