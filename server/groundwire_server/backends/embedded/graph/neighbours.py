"""The neighbours of a row by the edges that a walk follows, among selected rows, by (edge type, other end)."""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import partial

import numpy as np
from numpy.typing import NDArray

from groundwire_server.backends.embedded.graph.graph import HUB_DEGREE, Side
from groundwire_server.backends.shared.graph.selected_graph import FollowedEdges, Positions, Rows

ROWS_AT_A_TIME = 1_024
MANY_ROWS = 1_024
"""From here on a table of all rows is faster than a binary search for each."""


class SideNeighbours:
    """The Neighbours of one or both sides of a loaded graph, reduced to what a walk follows and to selected rows."""

    def __init__(
        self,
        sides: Sequence[Side],
        followed_types: NDArray[np.bool_],
        holds: Callable[[Rows], NDArray[np.bool_]],
        least: np.float32,
    ) -> None:
        """`followed_types` is a mask [edge types]; `holds` is True for selected rows [m]; `least` is a confidence."""
        self._sides = sides
        self._followed_types = followed_types
        self._holds = holds
        self._least = least

    def of(self, rows: Rows, known: Set[int], most: int) -> FollowedEdges:
        """See `Neighbours.of`."""
        return _together(
            self._follow(side, *side.of(rows, partial(self._needed, side, known=known, most=most)))
            for side in self._sides
        )

    def ends_of(self, rows: Rows) -> Iterator[Rows]:
        """See `Neighbours.ends_of`."""
        for side in self._sides:
            for first in range(0, len(rows), ROWS_AT_A_TIME):
                places, positions = side.of(rows[first : first + ROWS_AT_A_TIME])
                read, length = 0, HUB_DEGREE
                while read < len(positions):
                    yield self._follow(side, places[read : read + length], positions[read : read + length]).ends
                    read, length = read + length, 2 * length

    def among(self, rows: Rows, chosen: Rows) -> FollowedEdges:
        """See `Neighbours.among`."""
        return _together(self._among(side, rows, chosen) for side in self._sides)

    def _among(self, side: Side, rows: Rows, chosen: Rows) -> FollowedEdges:
        places, positions = side.of(rows)
        near = _standing_in(chosen, side.ends.take(positions))
        return self._follow(side, places.take(near), positions.take(near))

    def _needed(self, side: Side, positions: Positions, known: Set[int], most: int) -> int:
        """How many of a row's edges hold more than `most` rows that are not known; all of them where none do."""
        fresh: set[int] = set()
        read, length = 0, HUB_DEGREE
        while read < len(positions) and len(fresh) <= most:
            piece = positions[read : read + length]
            fresh.update(self._follow(side, np.zeros_like(piece), piece).ends.tolist())
            fresh -= known
            read, length = read + length, 2 * length
        return read

    def _follow(self, side: Side, places: NDArray[np.int64], positions: Positions) -> FollowedEdges:
        """Those of some edges [m] that may be walked."""
        types = side.edges.types.take(positions)
        followed = self._followed_types.take(types)
        if self._least > 0:
            followed &= side.edges.confidences.take(positions) >= self._least
        kept = np.flatnonzero(followed)
        ends = side.ends.take(positions.take(kept))
        held = self._holds(ends)
        kept = kept[held]
        return FollowedEdges(places.take(kept), types.take(kept), ends[held], positions.take(kept))


def _together(found: Iterable[FollowedEdges]) -> FollowedEdges:
    return FollowedEdges(*map(np.concatenate, zip(*found, strict=True)))


def _standing_in(chosen: Rows, rows: Rows) -> NDArray[np.int64]:
    """The places of those of several rows [m] that are in `chosen`."""
    if len(rows) > MANY_ROWS:
        return np.flatnonzero(np.isin(rows, chosen))
    found = np.minimum(np.searchsorted(chosen, rows), len(chosen) - 1)
    return np.flatnonzero(chosen.take(found) == rows)
