"""The graph of index versions, limited to selected rows: the interface of backends for walks and paths.

Each method takes all that is asked at a time, for both directions together, since each may be a round trip. Read edges
may be remembered while a walk lasts.
"""

from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from groundwire_server.domain.graph.expansion import Direction

Positions = NDArray[np.int64]
Rows = NDArray[np.integer]


class FollowedEdges(NamedTuple):
    """Edges, all arrays [m]: the near end's place among the rows asked for, edge type, far end, and their position."""

    places: NDArray[np.int64]
    types: Rows
    ends: Rows
    positions: Positions


class StoredEdges(NamedTuple):
    """All that is stored of edges, arrays [m]; types are positions among the graph's edge types."""

    from_rows: Rows
    to_rows: Rows
    types: Rows
    confidences: NDArray[np.float32]
    lines: NDArray[np.int32]


class Neighbours(Protocol):
    """The edges that a walk follows from selected rows to selected rows.

    They leave the rows asked for, arrive at them, or both; then all of a row that leave it come before all that arrive.
    Within one direction they come row by row, those of a row ascending by (edge type, far end) unless it is said
    otherwise. No rows have no edges.
    """

    def of(self, rows: Rows, known: Set[int], most: int) -> FollowedEdges:
        """The edges of rows [m], as far as they matter to a walk with room for `most` rows.

        Of a row's edges of one direction those may be left out that come after more than `most` rows which are not
        among the `known` ones.
        """
        ...

    def ends_of(self, rows: Rows) -> Iterator[Rows]:
        """The far ends of all edges of rows [m], in pieces: a caller that stops early has read little of a hub."""
        ...

    def among(self, rows: Rows, chosen: Rows) -> FollowedEdges:
        """The edges from rows [m] to those in `chosen`, which are selected, sorted and not empty.

        Those of a row come in any order, and may come twice.
        """
        ...


class SelectedGraph(Protocol):
    """The graph of one or more index versions among the rows that one question is about."""

    @property
    def edge_types(self) -> tuple[str, ...]:
        """The names of the edge types that the versions have, sorted."""
        ...

    def neighbours(self, direction: Direction, followed_types: NDArray[np.bool_], least: np.float32) -> Neighbours:
        """The neighbours of rows in a direction, by edges of some types, a mask [edge types], that are sure enough."""
        ...

    def edges(self, positions: Sequence[int] | Positions) -> StoredEdges:
        """The edges at some positions [m], which `neighbours` gave."""
        ...


def neighbours_along(
    graph: SelectedGraph, direction: Direction, edge_types: frozenset[str] | None, least: float
) -> Neighbours:
    """The neighbours by edges whose type is among case-folded names, None for all, and whose confidence suffices."""
    followed = [edge_types is None or name.casefold() in edge_types for name in graph.edge_types]
    # As confidences are stored: the 0.7 of an edge is 0.7 in single precision, which lies below the double.
    return graph.neighbours(direction, np.asarray(followed, dtype=np.bool_), np.float32(least))
