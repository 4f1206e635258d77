"""The rows that one question is about: of those that its caller sees the ones that pass its filter."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_index.store.loaded import LoadedIndex
from groundwire_server.backends.embedded.graph.graph import Graph
from groundwire_server.backends.embedded.visibility.narrowing import RowFilter
from groundwire_server.backends.embedded.visibility.visibility import Visibility
from groundwire_server.domain.search.search import NodeLabel


@dataclass(frozen=True, slots=True)
class RowSelection:
    """The rows that a walk, a fetch or the context of a match may use; `filter` None keeps every visible row.

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

    def rows_of(self, ids: Iterable[str]) -> dict[str, int]:
        """The rows of those ids that the question is about, in the order of the ids."""
        found = self.visibility.rows_of(ids)
        held = self.holds(np.fromiter(found.values(), dtype=np.int32, count=len(found)))
        return {id_: row for (id_, row), holds in zip(found.items(), held.tolist(), strict=True) if holds}

    def labels(self, rows: Sequence[int]) -> list[NodeLabel]:
        """The facts about rows that a response states. Raises as `Visibility.check` does."""
        nodes = self.index.nodes
        return [
            NodeLabel(id_, nodes.symbols[row], nodes.location(row), **nodes.origin_flags(row))
            for row, id_ in zip(rows, self.visibility.ids_of(rows), strict=True)
        ]

    @property
    def mask(self) -> NDArray[np.bool_]:
        """The same of every row [n]; not to be written to."""
        visible = self.visibility.mask
        return visible if self.filter is None else self.filter.within(visible)
