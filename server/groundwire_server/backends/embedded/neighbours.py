"""A row's neighbours as a walk may use them: of admitted edge types, visible, in the order (edge type, other end)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_server.index.adjacency import Adjacency

_FIRST_PIECE = 256
_SEARCH_DEGREE = 512
"""From this many edges on, edges into a small set are looked up instead of read one after the other."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The other end of an edge."""

    edge_type: int
    row: int
    confidence: float


class Neighbours:
    """The edges of one direction, reduced to admitted edge types and visible rows."""

    def __init__(self, adjacency: Adjacency, admitted: NDArray[np.bool_], visible: NDArray[np.bool_]) -> None:
        """`admitted` [edge types] and `visible` [n] are masks."""
        self._adjacency = adjacency
        self._admitted = admitted
        self._visible = visible

    def of(self, row: int) -> Iterator[Neighbour]:
        """All neighbours in order, read in growing pieces: a caller that stops early has read little of a hub."""
        start, end = self._adjacency.span(row)
        piece = _FIRST_PIECE
        while start < end:
            stop = min(start + piece, end)
            yield from self._admit(np.arange(start, stop))
            start, piece = stop, piece * 2

    def among(self, row: int, chosen: NDArray[np.int32]) -> Iterator[Neighbour]:
        """The neighbours that stand in `chosen`, which is sorted, in order."""
        start, end = self._adjacency.span(row)
        if end - start < _SEARCH_DEGREE:
            positions = np.arange(start, end)
            ends = self._adjacency.ends[start:end]
            found = np.minimum(np.searchsorted(chosen, ends), len(chosen) - 1)
            yield from self._admit(positions[chosen[found] == ends])
        else:
            yield from self._admit(self._look_up(start, end, chosen))

    def _look_up(self, start: int, end: int, chosen: NDArray[np.int32]) -> NDArray[np.int64]:
        """Positions of the edges into `chosen`, by binary search within each edge type's run of sorted ends."""
        types = self._adjacency.types[start:end]
        bounds = start + np.searchsorted(types, np.arange(len(self._admitted) + 1))
        positions: list[NDArray[np.int64]] = []
        for edge_type in np.flatnonzero(self._admitted):
            first, last = int(bounds[edge_type]), int(bounds[edge_type + 1])
            if first < last:
                run = self._adjacency.ends[first:last]
                found = np.minimum(np.searchsorted(run, chosen), last - first - 1)
                positions.append(first + found[run[found] == chosen])
        return np.concatenate([np.empty(0, dtype=np.int64), *positions])

    def _admit(self, positions: NDArray[np.int64]) -> Iterator[Neighbour]:
        types = self._adjacency.types[positions]
        ends = self._adjacency.ends[positions]
        keep = self._admitted[types] & self._visible[ends]
        kept = (types[keep].tolist(), ends[keep].tolist(), self._adjacency.confidences[positions[keep]].tolist())
        for edge_type, row, confidence in zip(*kept, strict=True):
            yield Neighbour(edge_type, row, confidence)
