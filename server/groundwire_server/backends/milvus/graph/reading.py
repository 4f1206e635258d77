"""Reads the graph of a version, and judges the rows that a question is about."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_index.milvus.schema import VersionCollections
from groundwire_index.milvus.store import MilvusStore
from groundwire_server.backends.milvus.graph.adjacency import Adjacency

ROWS_AT_A_TIME = 16_384
"""How many rows are judged by one request."""

RowNumbers = NDArray[np.int64]


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
        asked, passed = self._known
        fresh = np.setdiff1d(rows[held].astype(np.int64), asked)
        if len(fresh):
            pieces = [fresh[first : first + ROWS_AT_A_TIME] for first in range(0, len(fresh), ROWS_AT_A_TIME)]
            passed = np.union1d(passed, np.concatenate(list(map(self._passing, pieces))))
            self._known = np.union1d(asked, fresh), passed
        held &= np.isin(rows, passed)
        return held


@dataclass(frozen=True, slots=True)
class GraphReading:
    """The place of a version's graph, the part read for a snapshot, and its visibility.

    `selected` judges what the question is about, `visible` what its caller sees, filter or not.
    """

    store: MilvusStore
    collections: VersionCollections
    edge_types: tuple[str, ...]
    node_count: int
    adjacency: Adjacency
    selected: Judge
    visible: Judge
