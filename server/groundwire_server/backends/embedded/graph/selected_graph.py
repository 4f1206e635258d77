"""The SelectedGraph of the embedded backend: the loaded graph, and the columns of edges and nodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_server.backends.embedded.graph.neighbours import SideNeighbours
from groundwire_server.backends.embedded.visibility.row_selection import RowSelection
from groundwire_server.backends.shared.graph.selected_graph import Positions, StoredEdges
from groundwire_server.domain.graph.expansion import Direction
from groundwire_server.domain.search.search import NodeLabel


@dataclass(frozen=True, slots=True)
class EmbeddedGraph:
    """See `SelectedGraph`."""

    selection: RowSelection

    @property
    def version(self) -> str:
        """See `SelectedGraph.version`."""
        return self.selection.index.manifest.version

    @property
    def edge_types(self) -> tuple[str, ...]:
        """See `SelectedGraph.edge_types`."""
        return self.selection.index.manifest.edge_types

    def rows_of(self, ids: Sequence[str]) -> Mapping[str, int]:
        """See `SelectedGraph.rows_of`."""
        return self.selection.rows_of(ids)

    def labels(self, rows: Sequence[int]) -> list[NodeLabel]:
        """See `SelectedGraph.labels`."""
        return self.selection.labels(rows)

    def neighbours(self, direction: Direction, followed_types: NDArray[np.bool_], least: np.float32) -> SideNeighbours:
        """See `SelectedGraph.neighbours`."""
        graph = self.selection.graph
        match direction:
            case Direction.OUTGOING:
                sides = [graph.outgoing]
            case Direction.INCOMING:
                sides = [graph.incoming]
            case Direction.BOTH:
                sides = [graph.outgoing, graph.incoming]
        return SideNeighbours(sides, followed_types, self.selection.holds, least)

    def edges(self, positions: Sequence[int] | Positions) -> StoredEdges:
        """See `SelectedGraph.edges`."""
        edges = self.selection.index.edges
        return StoredEdges(
            edges.from_rows.take(positions),
            edges.to_rows.take(positions),
            edges.types.take(positions),
            edges.confidences.take(positions),
            edges.lines.take(positions),
        )
