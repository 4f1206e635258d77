"""The neighbours of a row by the edges that a walk follows, among selected rows, by (edge type, other end)."""

from collections.abc import Callable, Iterator, Set
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundwire_server.backends.embedded.graph.graph import HUB_DEGREE, Positions, Rows, Side

ROWS_AT_A_TIME = 1_024
MANY_ROWS = 1_024
"""From here on a table of all rows is faster than a binary search for each."""


class FollowedEdges(NamedTuple):
    """Edges, all arrays [m]: the near end's place among the rows asked for, edge type, far end, and their position."""

    places: NDArray[np.int64]
    types: Rows
    ends: Rows
    positions: Positions


class Neighbours:
    """The edges of one direction, reduced to those that a walk follows and to selected rows."""

    def __init__(
        self,
        side: Side,
        followed_types: NDArray[np.bool_],
        holds: Callable[[Rows], NDArray[np.bool_]],
        least: float,
    ) -> None:
        """`followed_types` is a mask [edge types]; `holds` tells selected rows [m]; `least` is a confidence."""
        self._side = side
        self._followed_types = followed_types
        self._holds = holds
        # As confidences are stored: the 0.7 of an edge is 0.7 in single precision, which lies below the double.
        self._least = np.float32(least)

    def of(self, rows: Rows, known: Set[int], most: int) -> FollowedEdges:
        """The edges of rows [m], those of each in order, as far as they matter to a walk with room for `most` rows.

        Of a hub those are left out that stand behind more than `most` rows which are not among the `known` ones.
        """
        places, positions = self._side.of(rows, partial(self._needed, known=known, most=most))
        return self._follow(places, positions)

    def ends_of(self, rows: Rows) -> Iterator[Rows]:
        """The other ends of all edges of rows [m], in pieces: a caller that stops early has read little of a hub."""
        for first in range(0, len(rows), ROWS_AT_A_TIME):
            places, positions = self._side.of(rows[first : first + ROWS_AT_A_TIME])
            read, length = 0, HUB_DEGREE
            while read < len(positions):
                yield self._follow(places[read : read + length], positions[read : read + length]).ends
                read, length = read + length, 2 * length

    def among(self, rows: Rows, chosen: Rows) -> FollowedEdges:
        """The edges from rows [m] to those in `chosen`, which is sorted and not empty; row by row, each in order."""
        places, positions = self._side.of(rows)
        near = _standing_in(chosen, self._side.ends.take(positions))
        return self._follow(places.take(near), positions.take(near))

    def _needed(self, positions: Positions, known: Set[int], most: int) -> int:
        """How many of a row's edges hold more than `most` rows that are not known; all of them where none do."""
        fresh: set[int] = set()
        read, length = 0, HUB_DEGREE
        while read < len(positions) and len(fresh) <= most:
            piece = positions[read : read + length]
            fresh.update(self._follow(np.zeros_like(piece), piece).ends.tolist())
            fresh -= known
            read, length = read + length, 2 * length
        return read

    def _follow(self, places: NDArray[np.int64], positions: Positions) -> FollowedEdges:
        """Those of some edges [m] that may be walked."""
        edges = self._side.edges
        types = edges.types.take(positions)
        followed = self._followed_types.take(types)
        if self._least > 0:
            followed &= edges.confidences.take(positions) >= self._least
        kept = np.flatnonzero(followed)
        ends = self._side.ends.take(positions.take(kept))
        held = self._holds(ends)
        kept = kept[held]
        return FollowedEdges(places.take(kept), types.take(kept), ends[held], positions.take(kept))


def _standing_in(chosen: Rows, rows: Rows) -> NDArray[np.int64]:
    """The places of those of several rows [m] that stand in `chosen`."""
    if len(rows) > MANY_ROWS:
        return np.flatnonzero(np.isin(rows, chosen))
    found = np.minimum(np.searchsorted(chosen, rows), len(chosen) - 1)
    return np.flatnonzero(chosen.take(found) == rows)
