"""The SelectedGraph of the Milvus backend."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_index.milvus.packing import INCOMING
from groundwire_index.milvus.schema import VersionCollections
from groundwire_index.milvus.store import MilvusStore
from groundwire_server.backends.milvus.graph.adjacency import Adjacency
from groundwire_server.backends.milvus.graph.neighbours import Judge, ReadNeighbours
from groundwire_server.backends.shared.graph.selected_graph import Positions, StoredEdges
from groundwire_server.domain.graph.expansion import Direction


@dataclass(frozen=True, slots=True)
class GraphReading:
    """The place of a version's graph, the part read for a snapshot, and its visibility; see `SelectedGraph`.

    `selected` judges what the question is about, `visible` what its caller sees, filter or not.
    """

    store: MilvusStore
    collections: VersionCollections
    edge_types: tuple[str, ...]
    node_count: int
    adjacency: Adjacency
    selected: Judge
    visible: Judge

    def neighbours(self, direction: Direction, followed_types: NDArray[np.bool_], least: np.float32) -> ReadNeighbours:
        """See `SelectedGraph.neighbours`."""
        return ReadNeighbours(self.adjacency, self.selected, direction, followed_types, least)

    def edges(self, positions: Sequence[int] | Positions) -> StoredEdges:
        """See `SelectedGraph.edges`; no round trip."""
        nears, edges = self.adjacency.known()
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
