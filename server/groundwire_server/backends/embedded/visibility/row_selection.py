"""The rows that one question is about: of those that its caller sees the ones that pass its filter."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_index.store.loaded import LoadedIndex
from groundwire_server.backends.embedded.graph.graph import Graph, SideNeighbours
from groundwire_server.backends.embedded.visibility.narrowing import RowFilter
from groundwire_server.backends.embedded.visibility.visibility import Visibility
from groundwire_server.backends.shared.graph.selected_graph import Positions, StoredEdges
from groundwire_server.domain.graph.expansion import Direction


@dataclass(frozen=True, slots=True)
class RowSelection:
    """The rows that a walk, a fetch or the context of a match may use; `filter` None keeps every visible row.

    It is also the SelectedGraph of these rows, over the loaded graph.

    Rows are judged as they are reached: a walk reaches hundreds, and a mask would judge all rows of the index.
    """

    index: LoadedIndex
    graph: Graph
    visibility: Visibility
    filter: RowFilter | None = None

    def holds(self, rows: NDArray[np.integer]) -> NDArray[np.bool_]:
        """For each of some rows [m], whether the question is about it."""
        held = self.visibility.mask.take(rows)
        if self.filter is not None:
            visible = np.flatnonzero(held)
            held[visible] = self.filter.passing(rows[visible])
        return held

    @property
    def mask(self) -> NDArray[np.bool_]:
        """The same of every row [n]; not to be written to."""
        visible = self.visibility.mask
        return visible if self.filter is None else self.filter.within(visible)

    @property
    def edge_types(self) -> tuple[str, ...]:
        """See `SelectedGraph.edge_types`."""
        return self.index.manifest.edge_types

    def neighbours(self, direction: Direction, followed_types: NDArray[np.bool_], least: np.float32) -> SideNeighbours:
        """See `SelectedGraph.neighbours`."""
        match direction:
            case Direction.OUTGOING:
                sides = [self.graph.outgoing]
            case Direction.INCOMING:
                sides = [self.graph.incoming]
            case Direction.BOTH:
                sides = [self.graph.outgoing, self.graph.incoming]
        return SideNeighbours(sides, followed_types, self.holds, least)

    def edges(self, positions: Sequence[int] | Positions) -> StoredEdges:
        """See `SelectedGraph.edges`."""
        edges = self.index.edges
        return StoredEdges(
            edges.from_rows.take(positions),
            edges.to_rows.take(positions),
            edges.types.take(positions),
            edges.confidences.take(positions),
            edges.lines.take(positions),
        )
