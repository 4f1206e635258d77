"""The rows that one question is about: of those that its caller sees the ones that pass its filter.

Each field of a filter decides a row by that row alone, so a filter can only narrow.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from groundwire_index.nodes.row_conditions import EVERY_ROW, RowTest
from groundwire_index.store.loaded import LoadedIndex
from groundwire_server.backends.embedded.graph import Graph, SideNeighbours
from groundwire_server.backends.embedded.visibility.visibility import Visibility
from groundwire_server.backends.selected_graph import Positions, StoredEdges
from groundwire_server.domain.graph.expansion import Direction
from groundwire_server.domain.search.search import FILTERED_FLAGS, FILTERED_STRINGS, Filter, MetadataCondition


class RowFilter:
    """A filter over one index, whose values are looked up once."""

    def __init__(self, index: LoadedIndex, filter_: Filter) -> None:
        self._tests = tuple(_tests(index, filter_))

    def within(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """A new mask [n]: the rows of `mask` that pass every field."""
        narrowed = mask.copy()
        for test in self._tests:
            narrowed &= test(EVERY_ROW)
        return narrowed

    def passing(self, rows: NDArray[np.integer]) -> NDArray[np.bool_]:
        """For each of some rows [m], whether it passes every field; costs nothing for the other rows."""
        passing = np.ones(len(rows), dtype=np.bool_)
        for test in self._tests:
            passing &= test(rows)
        return passing


def _tests(index: LoadedIndex, filter_: Filter) -> Iterator[RowTest]:
    categories = index.nodes.categories
    for field, column in FILTERED_STRINGS.items():
        wanted: tuple[str, ...] = getattr(filter_, field)
        if wanted:
            places = (categories[column].values.find(value) for value in set(wanted))
            yield categories[column].holding([range(place, place + 1) for place in places if place is not None])
    if filter_.path_prefixes:
        paths = categories["path"]
        yield paths.holding([paths.values.prefix_range(prefix) for prefix in set(filter_.path_prefixes)])
    if filter_.tenant_ids:
        classes = [policy.tenant_id in filter_.tenant_ids for policy in index.policies.classes]
        yield index.policies.holding(np.asarray(classes, dtype=np.bool_))
    for field in FILTERED_FLAGS:
        wanted_flag: bool | None = getattr(filter_, field)
        if wanted_flag is not None:
            yield _flagged(index.nodes.flags[field], wanted_flag)
    if filter_.metadata:
        # All conditions as one mask, so that many of them cost a walk no more than one at each of its steps.
        meeting = reduce(np.logical_and, (_holders(index, condition) for condition in filter_.metadata))
        yield lambda rows: meeting[rows]


def _flagged(flags: NDArray[np.bool_], wanted: bool) -> RowTest:
    return lambda rows: flags[rows] == wanted


def _holders(index: LoadedIndex, condition: MetadataCondition) -> NDArray[np.bool_]:
    holding = np.zeros(index.manifest.node_count, dtype=np.bool_)
    for value in condition.values:
        holding[index.metadata_terms.rows_with(condition.key, value)] = True
    return holding


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
        return self.index.manifest.edge_types

    def neighbours(self, direction: Direction, followed_types: NDArray[np.bool_], least: np.float32) -> SideNeighbours:
        match direction:
            case Direction.OUTGOING:
                sides = [self.graph.outgoing]
            case Direction.INCOMING:
                sides = [self.graph.incoming]
            case Direction.BOTH:
                sides = [self.graph.outgoing, self.graph.incoming]
        return SideNeighbours(sides, followed_types, self.holds, least)

    def edges(self, positions: Sequence[int] | Positions) -> StoredEdges:
        edges = self.index.edges
        return StoredEdges(
            edges.from_rows.take(positions),
            edges.to_rows.take(positions),
            edges.types.take(positions),
            edges.confidences.take(positions),
            edges.lines.take(positions),
        )
