"""Filters over rows: each field decides a row by that row alone, so a filter can only narrow."""

from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from groundwire_index.nodes.row_conditions import EVERY_ROW, RowTest
from groundwire_index.store.loaded import LoadedIndex
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
    for field, column in FILTERED_STRINGS.items():
        wanted: tuple[str, ...] = getattr(filter_, field)
        if wanted:
            yield _of_category(index, column, wanted)
    if filter_.path_prefixes:
        yield _below(index, filter_.path_prefixes)
    if filter_.tenant_ids:
        yield _of_tenants(index, filter_.tenant_ids)
    for field in FILTERED_FLAGS:
        wanted_flag: bool | None = getattr(filter_, field)
        if wanted_flag is not None:
            yield _flagged(index.nodes.flags[field], wanted_flag)
    if filter_.metadata:
        yield _with_metadata(index, filter_.metadata)


def _of_category(index: LoadedIndex, column: str, wanted: Sequence[str]) -> RowTest:
    category = index.nodes.categories[column]
    positions = (category.values.find(value) for value in set(wanted))
    return category.holding([range(position, position + 1) for position in positions if position is not None])


def _below(index: LoadedIndex, prefixes: Sequence[str]) -> RowTest:
    paths = index.nodes.categories["path"]
    return paths.holding([paths.values.prefix_range(prefix) for prefix in set(prefixes)])


def _of_tenants(index: LoadedIndex, tenant_ids: Sequence[str]) -> RowTest:
    classes = np.asarray([policy.tenant_id in tenant_ids for policy in index.policies.classes], dtype=np.bool_)
    return index.policies.holding(classes)


def _flagged(flags: NDArray[np.bool_], wanted: bool) -> RowTest:
    return lambda rows: flags[rows] == wanted


def _with_metadata(index: LoadedIndex, conditions: Sequence[MetadataCondition]) -> RowTest:
    """All conditions as one mask, so that many of them cost a walk no more than one at each of its steps."""
    meeting = reduce(np.logical_and, (_holders(index, condition) for condition in conditions))
    return lambda rows: meeting[rows]


def _holders(index: LoadedIndex, condition: MetadataCondition) -> NDArray[np.bool_]:
    holding = np.zeros(index.manifest.node_count, dtype=np.bool_)
    for value in condition.values:
        holding[index.metadata_terms.rows_with(condition.key, value)] = True
    return holding
