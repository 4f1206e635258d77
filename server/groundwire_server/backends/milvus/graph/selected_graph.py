"""The SelectedGraph of the Milvus backend."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from groundwire_index.milvus.packing import INCOMING
from groundwire_server.backends.interface import Snapshot
from groundwire_server.backends.milvus.graph.adjacency import Adjacency
from groundwire_server.backends.milvus.graph.neighbours import ReadNeighbours
from groundwire_server.backends.milvus.graph.reading import GraphReading
from groundwire_server.backends.shared.graph.selected_graph import Positions, StoredEdges
from groundwire_server.domain.graph.expansion import Direction
from groundwire_server.domain.search.search import NodeLabel


class MilvusGraph:
    """See `SelectedGraph`. Of one walk or search, whose edges it remembers."""

    def __init__(self, snapshot: Snapshot, reading: GraphReading) -> None:
        """`snapshot` knows the ids and labels of rows; reads nothing yet."""
        self._snapshot = snapshot
        self._reading = reading
        self._adjacency = Adjacency(reading.store, reading.collections.edges)

    @property
    def version(self) -> str:
        """See `SelectedGraph.version`."""
        return self._snapshot.index

    @property
    def edge_types(self) -> tuple[str, ...]:
        """See `SelectedGraph.edge_types`."""
        return self._reading.edge_types

    def rows_of(self, ids: Sequence[str]) -> Mapping[str, int]:
        """See `SelectedGraph.rows_of`."""
        return self._snapshot.rows(ids)

    def labels(self, rows: Sequence[int]) -> list[NodeLabel]:
        """See `SelectedGraph.labels`."""
        return self._snapshot.labels(np.asarray(rows, dtype=np.int64)) if rows else []

    def neighbours(self, direction: Direction, followed_types: NDArray[np.bool_], least: np.float32) -> ReadNeighbours:
        """See `SelectedGraph.neighbours`."""
        return ReadNeighbours(self._adjacency, self._reading.selected, direction, followed_types, least)

    def edges(self, positions: Sequence[int] | Positions) -> StoredEdges:
        """See `SelectedGraph.edges`; no round trip."""
        nears, edges = self._adjacency.known()
        order = np.argsort(edges["position"])
        places = order.take(np.searchsorted(edges["position"], np.asarray(positions, dtype=np.int64), sorter=order))
        near, is_incoming = (nears[places] // 2).astype(np.int32), nears[places] % 2 == INCOMING
        found = edges[places]
        far = found["far"].astype(np.int32)
        return StoredEdges(
            np.where(is_incoming, far, near),
            np.where(is_incoming, near, far),
            found["type"],
            found["confidence"],
            found["line"],
        )
