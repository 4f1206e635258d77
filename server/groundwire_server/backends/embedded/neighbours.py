"""A row's neighbours as a walk may use them: by edges that it follows, in its sight, by (edge type, other end)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundwire_server.index.adjacency import Adjacency
from groundwire_server.index.spans import positions_of

HUB_DEGREE = 256
"""From more edges on, a row is read piece by piece, and edges into a small set are looked up in it."""
ROWS_AT_A_TIME = 1_024
"""How many rows that are no hubs are read at a time: at most as many edges as a large hub has."""

Positions = NDArray[np.int64]
Rows = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The other end of an edge."""

    edge_type: int
    row: int


class EdgesAmong(NamedTuple):
    """Edges, all arrays [m]: the near end's place among the rows asked for, edge type, far end, confidence, line."""

    places: NDArray[np.int64]
    types: Rows
    ends: Rows
    confidences: NDArray[np.float32]
    lines: NDArray[np.int32]


NO_EDGES = EdgesAmong(
    np.empty(0, dtype=np.int64),
    np.empty(0, dtype=np.int32),
    np.empty(0, dtype=np.int32),
    np.empty(0, dtype=np.float32),
    np.empty(0, dtype=np.int32),
)


class Neighbours:
    """The edges of one direction, reduced to those that a walk follows and to rows in its sight."""

    def __init__(
        self,
        adjacency: Adjacency,
        admitted: NDArray[np.bool_],
        holds: Callable[[Rows], NDArray[np.bool_]],
        least: float,
    ) -> None:
        """`admitted` is a mask [edge types], `holds` says of rows [m] which are in sight, `least` is a confidence."""
        self._adjacency = adjacency
        self._admitted = admitted
        self._holds = holds
        # As confidences are stored: the 0.7 of an edge is 0.7 in single precision, which lies below the double.
        self._least = np.float32(least)

    def is_hub(self, row: int) -> bool:
        """Whether the row is to be read with `of`, and not together with others."""
        start, end = self._adjacency.span(row)
        return end - start > HUB_DEGREE

    def of(self, row: int) -> Iterator[Neighbour]:
        """All neighbours in order, read in growing pieces: a caller that stops early has read little of a hub."""
        for positions in self._pieces(row):
            _, types, ends = self._admit(positions)
            yield from map(Neighbour, types.tolist(), ends.tolist())

    def of_all(self, rows: Rows) -> Iterator[tuple[int, Neighbour]]:
        """All neighbours of rows [m] that are no hubs, with each row's place, by (edge type, other end, place)."""
        positions, counts = positions_of(self._adjacency.starts, rows)
        kept, types, ends = self._admit(positions)
        places = np.repeat(np.arange(len(rows)), counts).take(kept)
        order = np.lexsort((places, ends, types))
        others = map(Neighbour, types[order].tolist(), ends[order].tolist())
        return zip(places[order].tolist(), others, strict=True)

    def ends_of(self, rows: Rows) -> Iterator[Rows]:
        """The other ends of all edges of rows [m], in pieces: a caller that stops early has read little of a hub."""
        degrees = self._adjacency.starts.take(rows + 1) - self._adjacency.starts.take(rows)
        few = rows[degrees <= HUB_DEGREE]
        for first in range(0, len(few), ROWS_AT_A_TIME):
            positions, _ = positions_of(self._adjacency.starts, few[first : first + ROWS_AT_A_TIME])
            yield self._admit(positions)[2]
        for hub in rows[degrees > HUB_DEGREE].tolist():
            for positions in self._pieces(hub):
                yield self._admit(positions)[2]

    def among(self, rows: Rows, chosen: Rows) -> EdgesAmong:
        """The edges from rows [m] to those in `chosen`, which is sorted and not empty; in no defined order."""
        degrees = self._adjacency.starts.take(rows + 1) - self._adjacency.starts.take(rows)
        few = np.flatnonzero(degrees <= HUB_DEGREE)
        positions, counts = positions_of(self._adjacency.starts, rows[few])
        near = _standing_in(chosen, self._adjacency.ends.take(positions))
        found = [(np.repeat(few, counts)[near], positions[near])]
        for hub in np.flatnonzero(degrees > HUB_DEGREE).tolist():
            looked_up = self._look_up(int(rows[hub]), chosen)
            found.append((np.full(len(looked_up), hub, dtype=np.int64), looked_up))
        places, positions = (np.concatenate(column) for column in zip(*found, strict=True))
        kept, types, ends = self._admit(positions)
        positions = positions.take(kept)
        confidences, lines = self._adjacency.confidences.take(positions), self._adjacency.lines.take(positions)
        return EdgesAmong(places.take(kept), types, ends, confidences, lines)

    def _pieces(self, row: int) -> Iterator[Positions]:
        """The positions of a row's edges, in growing pieces."""
        start, end = self._adjacency.span(row)
        piece = HUB_DEGREE
        while start < end:
            stop = min(start + piece, end)
            yield np.arange(start, stop)
            start, piece = stop, piece * 2

    def _look_up(self, row: int, chosen: Rows) -> Positions:
        """Positions of a row's edges into `chosen`, by binary search within each edge type's run of sorted ends."""
        start, end = self._adjacency.span(row)
        # As 32 bits like the types: numbers of 64 would have all of them copied to their width first.
        edge_types = np.arange(len(self._admitted) + 1, dtype=np.int32)
        bounds = start + np.searchsorted(self._adjacency.types[start:end], edge_types)
        positions: list[Positions] = [np.empty(0, dtype=np.int64)]
        for edge_type in np.flatnonzero(self._admitted).tolist():
            first, last = int(bounds[edge_type]), int(bounds[edge_type + 1])
            if first < last:
                run = self._adjacency.ends[first:last]
                found = np.minimum(np.searchsorted(run, chosen), last - first - 1)
                positions.append(first + found[run.take(found) == chosen])
        return np.concatenate(positions)

    def _admit(self, positions: Positions) -> tuple[Positions, Rows, Rows]:
        """Which of the edges at some positions [m] may be walked, and the edge type and other end of each of these."""
        types, ends = self._adjacency.types.take(positions), self._adjacency.ends.take(positions)
        followed = self._admitted.take(types)
        if self._least > 0:
            followed &= self._adjacency.confidences.take(positions) >= self._least
        kept = np.flatnonzero(followed)
        kept = kept[self._holds(ends.take(kept))]
        return kept, types.take(kept), ends.take(kept)


def _standing_in(chosen: Rows, rows: Rows) -> Positions:
    """The places of those of several rows [m] that stand in `chosen`."""
    found = np.minimum(np.searchsorted(chosen, rows), len(chosen) - 1)
    return np.flatnonzero(chosen.take(found) == rows)
