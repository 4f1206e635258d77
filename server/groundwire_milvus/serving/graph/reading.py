"""The graph of the Milvus backend: the edges that a walk follows, read level by level, and which rows are selected."""

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_index.scope import Scope
from groundwire_milvus.packing import INCOMING
from groundwire_milvus.schema import VersionCollections
from groundwire_milvus.serving.graph.adjacency import CHUNKS_AT_A_TIME, Adjacency, near_ends
from groundwire_milvus.serving.refusals import refusals_raised, with_refusals
from groundwire_milvus.store import MilvusStore
from groundwire_server.backends.selected_graph import FollowedEdges, Positions, Rows, StoredEdges
from groundwire_server.domain.graph.expansion import Direction

ROWS_AT_A_TIME = 16_384
"""How many rows are judged by one request."""

RowNumbers = NDArray[np.int64]
_Followed = tuple[NDArray[np.int64], NDArray[np.void]]
"""The places of near ends, and edges of them."""


class Judge:
    """Decides which rows are selected: by their visibility classes, and where these do not decide, by asking Milvus.

    Results are remembered.
    """

    def __init__(self, classes: NDArray[np.bool_], passing: Callable[[RowNumbers], RowNumbers] | None) -> None:
        """`classes` [visibility classes] are the selected ones.

        `passing` gives those of at most ROWS_AT_A_TIME distinct ascending rows that are within the caller's bounds and
        pass the filter, in one round trip. None without bounds and filter.
        """
        self._classes = classes
        self._passing = passing
        # One value, so that of two threads that judge at a time neither takes what the other forgot for refused.
        self._known: tuple[RowNumbers, RowNumbers] = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)

    def holds(self, rows: NDArray[np.integer], classes: NDArray[np.integer]) -> NDArray[np.bool_]:
        """For each of some rows [m], of these classes [m], whether it is selected."""
        held = self._classes.take(classes)
        if self._passing is None:
            return held
        judged, passed = self._known
        fresh = np.setdiff1d(rows[held].astype(np.int64), judged)
        if len(fresh):
            pieces = [fresh[first : first + ROWS_AT_A_TIME] for first in range(0, len(fresh), ROWS_AT_A_TIME)]
            passed = np.union1d(passed, np.concatenate(list(map(self._passing, pieces))))
            self._known = np.union1d(judged, fresh), passed
        held &= np.isin(rows, passed)
        return held


@dataclass(frozen=True, slots=True)
class ReadNeighbours:
    """The Neighbours in one direction or both: edges of some types, a mask [edge types], that are sure enough.

    A level costs one round trip, one more where rows are judged by asking, and some more where it has hubs. Edges that
    were read before cost none.
    """

    scope: Scope
    adjacency: Adjacency
    judge: Judge
    direction: Direction
    followed_types: NDArray[np.bool_]
    least: np.float32

    @with_refusals
    def of(self, rows: Rows, known: Set[int], most: int) -> FollowedEdges:
        nears = near_ends(rows.tolist(), self.direction)
        self.adjacency.begin(nears)
        followed = self._follow(*self.adjacency.edges_of(nears))
        while short := self._short(nears, followed, known, most):
            self.adjacency.go_on(short)
            followed = self._follow(*self.adjacency.edges_of(nears))
        return _followed_edges(followed, len(rows))

    def ends_of(self, rows: Rows) -> Iterator[Rows]:
        nears = near_ends(rows.tolist(), self.direction)
        with refusals_raised(self.scope):
            for first in range(0, len(nears), CHUNKS_AT_A_TIME):
                some = nears[first : first + CHUNKS_AT_A_TIME]
                self.adjacency.begin(some)
                yield from self._ends(some)
                while hubs := self.adjacency.unfinished(some):
                    self.adjacency.go_on(hubs)
                    yield from self._ends(hubs)

    @with_refusals
    def among(self, rows: Rows, chosen: Rows) -> FollowedEdges:
        nears = near_ends(rows.tolist(), self.direction)
        places, edges = self._sure(*self.adjacency.between(nears, chosen.tolist()))
        order = np.argsort(places, kind="stable")
        return _followed_edges((places[order], edges[order]), len(rows))

    def _short(self, nears: Sequence[int], followed: _Followed, known: Set[int], most: int) -> list[int]:
        """Those near ends that may have more edges, and lead to no more than `most` rows which are not known."""
        unfinished = self.adjacency.unfinished(nears)
        if not unfinished:
            return []
        places, edges = followed
        fresh = ~np.isin(edges["far"], np.fromiter(known, dtype=np.int64, count=len(known)))
        distinct = np.unique(np.stack((places[fresh], edges["far"][fresh])), axis=1)
        counts = dict(zip(nears, np.bincount(distinct[0], minlength=len(nears)).tolist(), strict=True))
        return [near for near in unfinished if counts[near] <= most]

    def _ends(self, nears: Sequence[int]) -> Iterator[Rows]:
        """The selected far ends of what was read of near ends, in pieces that are judged at once."""
        places, edges = self._sure(*self.adjacency.edges_of(nears))
        for first in range(0, len(edges), ROWS_AT_A_TIME):
            piece = slice(first, first + ROWS_AT_A_TIME)
            yield self._held(places[piece], edges[piece])[1]["far"].astype(np.int32)

    def _follow(self, places: NDArray[np.int64], edges: NDArray[np.void]) -> _Followed:
        """Those of some edges [m] that may be walked."""
        return self._held(*self._sure(places, edges))

    def _sure(self, places: NDArray[np.int64], edges: NDArray[np.void]) -> _Followed:
        kept = self.followed_types.take(edges["type"]) & (edges["confidence"] >= self.least)
        return places[kept], edges[kept]

    def _held(self, places: NDArray[np.int64], edges: NDArray[np.void]) -> _Followed:
        kept = self.judge.holds(edges["far"], edges["far_class"])
        return places[kept], edges[kept]


def _followed_edges(followed: _Followed, row_count: int) -> FollowedEdges:
    """Edges by the place of the row that each is of; of two near ends of a row the second is `row_count` later."""
    places, edges = followed
    return FollowedEdges(places % row_count, edges["type"], edges["far"].astype(np.int32), edges["position"])


@dataclass(frozen=True, slots=True)
class GraphReading:
    """The place of a version's graph, the part read for a snapshot, and its visibility; see `SelectedGraph`.

    `selected` judges what the question is about, `visible` what its caller sees, filter or not.
    """

    scope: Scope
    store: MilvusStore
    collections: VersionCollections
    edge_types: tuple[str, ...]
    node_count: int
    adjacency: Adjacency
    selected: Judge
    visible: Judge

    def neighbours(self, direction: Direction, followed_types: NDArray[np.bool_], least: np.float32) -> ReadNeighbours:
        return ReadNeighbours(self.scope, self.adjacency, self.selected, direction, followed_types, least)

    def edges(self, positions: Sequence[int] | Positions) -> StoredEdges:
        """Needs no round trip: `neighbours` has read the edges."""
        nears, edges = self.adjacency.known()
        order = np.argsort(edges["position"])
        places = order.take(np.searchsorted(edges["position"], np.asarray(positions, dtype=np.int64), sorter=order))
        near, is_incoming = (nears[places] // 2).astype(np.int32), nears[places] % 2 == INCOMING
        chosen_edges = edges[places]
        far = chosen_edges["far"].astype(np.int32)
        return StoredEdges(
            np.where(is_incoming, far, near),
            np.where(is_incoming, near, far),
            chosen_edges["type"],
            chosen_edges["confidence"],
            chosen_edges["line"],
        )
