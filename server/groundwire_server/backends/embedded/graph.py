"""The dependency graph of an open index, in rustworkx, and the neighbours of a row that a walk follows."""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import partial
from itertools import chain
from threading import Event, Lock, Thread

import numpy as np
import rustworkx
from numpy.typing import NDArray

from groundwire_index.graph.edges import Edges
from groundwire_server.backends.selected_graph import FollowedEdges, Positions, Rows
from groundwire_server.domain.errors import PreconditionError, Reason

_LOG = logging.getLogger(__name__)
HUB_DEGREE = 256
"""A row of more edges is a hub: a walk reads no more of them than it needs."""
EDGES_AT_A_TIME = 10_000
"""The number of edges that are added at a time: a few milliseconds in which no other thread computes in Python."""

_Loaded = rustworkx.PyDiGraph[None, None]


@dataclass(frozen=True, slots=True)
class Side:
    """The edges of one direction. `ends` holds the other end of each of the `edges`, [m].

    `edges_of` waits for the graph, and makes the function that returns the numbers of a row's edges in it.
    """

    edges: Edges
    ends: Rows
    edges_of: Callable[[], Callable[[int], rustworkx.EdgeIndices]]

    def positions(self, row: int) -> Positions:
        """The places of a row's edges among all, ascending by (edge type, other end)."""
        return np.asarray(self.edges_of()(row)).view(np.int64)

    def of(
        self, rows: NDArray[np.integer], needed: Callable[[Positions], int] | None = None
    ) -> tuple[NDArray[np.int64], Positions]:
        """The edges of rows [r], row by row: the place of the row each is of, and its position; arrays [e].

        Of a hub only the first are given, as many as `needed` says of its edges.
        """
        edge_positions = list(map(self.edges_of(), rows.tolist()))
        if needed is not None:
            edge_positions = [
                some if len(some) <= HUB_DEGREE else some[: needed(np.asarray(some).view(np.int64))]
                for some in edge_positions
            ]
        counts = list(map(len, edge_positions))
        # One array of all: an array for each of hundreds of rows would take three times as long.
        positions = np.fromiter(chain.from_iterable(edge_positions), dtype=np.int64, count=sum(counts))
        return np.repeat(np.arange(len(edge_positions)), counts), positions


class Graph:
    """The edges of an index in both directions, over one graph. Thread-safe.

    Its nodes are rows, and its edges have the number of their position. It takes 33 bytes an edge of memory in each
    process, and is loaded when the version is first asked.
    """

    def __init__(self, edges: Edges, node_count: int) -> None:
        """Loads nothing yet."""
        self._edges = edges
        self._node_count = node_count
        self._graph: _Loaded | None = None
        self._begun = Lock()
        self._done = Event()

    @property
    def outgoing(self) -> Side:
        """The edges by the rows that they leave."""
        return Side(self._edges, self._edges.to_rows, lambda: self.loaded().out_edge_indices)

    @property
    def incoming(self) -> Side:
        """The edges by the rows that they lead to."""
        return Side(self._edges, self._edges.from_rows, lambda: self.loaded().in_edge_indices)

    def begin(self) -> None:
        """Begins to load in a thread of its own, unless that was done before.

        Requests for edges wait until the graph is loaded.
        """
        if self._begun.acquire(blocking=False):
            Thread(target=self._load, name="groundwire-graph", daemon=True).start()

    @property
    def is_loaded(self) -> bool:
        """True if who asks for edges need not wait."""
        return self._done.is_set()

    def loaded(self) -> _Loaded:
        """The graph once it is loaded. Raises PreconditionError when its edges are damaged."""
        if self._graph is not None:
            return self._graph
        self.begin()
        self._done.wait()
        if self._graph is None:
            raise PreconditionError(Reason.INDEX_DAMAGED, "the edges of this index are damaged; build it anew")
        return self._graph

    def _load(self) -> None:
        try:
            graph: _Loaded = rustworkx.PyDiGraph(node_count_hint=self._node_count, edge_count_hint=len(self._edges))
            graph.add_nodes_from([None] * self._node_count)
            for first in range(0, len(self._edges), EDGES_AT_A_TIME):
                piece = slice(first, first + EDGES_AT_A_TIME)
                ends = self._edges.from_rows[piece].tolist(), self._edges.to_rows[piece].tolist()
                graph.add_edges_from_no_data(list(zip(*ends, strict=True)))
            self._graph = graph
        except BaseException:  # noqa: BLE001 - rustworkx panics on a row that is not there; the requests get the error
            _LOG.exception("the graph of an index cannot be loaded; run `groundwire verify`")
        finally:
            self._done.set()


ROWS_AT_A_TIME = 1_024
MANY_ROWS = 1_024
"""From here on a table of all rows is faster than a binary search for each."""


@dataclass(frozen=True, slots=True)
class SideNeighbours:
    """The Neighbours of one or both sides of a loaded graph, reduced to what a walk follows and to selected rows.

    `followed_types` is a mask [edge types]; `holds` is True for selected rows [m]; `least` is a confidence.
    """

    sides: Sequence[Side]
    followed_types: NDArray[np.bool_]
    holds: Callable[[Rows], NDArray[np.bool_]]
    least: np.float32

    def of(self, rows: Rows, known: Set[int], most: int) -> FollowedEdges:
        return _together(
            self._follow(side, *side.of(rows, partial(self._needed, side, known=known, most=most)))
            for side in self.sides
        )

    def ends_of(self, rows: Rows) -> Iterator[Rows]:
        for side in self.sides:
            for first in range(0, len(rows), ROWS_AT_A_TIME):
                places, positions = side.of(rows[first : first + ROWS_AT_A_TIME])
                read, length = 0, HUB_DEGREE
                while read < len(positions):
                    yield self._follow(side, places[read : read + length], positions[read : read + length]).ends
                    read, length = read + length, 2 * length

    def among(self, rows: Rows, chosen: Rows) -> FollowedEdges:
        return _together(self._among(side, rows, chosen) for side in self.sides)

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
        followed = self.followed_types.take(types)
        if self.least > 0:
            followed &= side.edges.confidences.take(positions) >= self.least
        kept = np.flatnonzero(followed)
        ends = side.ends.take(positions.take(kept))
        held = self.holds(ends)
        kept = kept[held]
        return FollowedEdges(places.take(kept), types.take(kept), ends[held], positions.take(kept))


def _together(followed: Iterable[FollowedEdges]) -> FollowedEdges:
    return FollowedEdges(*map(np.concatenate, zip(*followed, strict=True)))


def _standing_in(chosen: Rows, rows: Rows) -> NDArray[np.int64]:
    """The places of those of several rows [m] that are in `chosen`."""
    if len(rows) > MANY_ROWS:
        return np.flatnonzero(np.isin(rows, chosen))
    places = np.minimum(np.searchsorted(chosen, rows), len(chosen) - 1)
    return np.flatnonzero(chosen.take(places) == rows)
