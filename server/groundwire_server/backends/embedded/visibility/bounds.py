"""The rows within what a caller is limited to: each bound decides a row by that row's own value."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from groundwire_index.nodes.node import WORKFLOW_KEY
from groundwire_index.nodes.row_conditions import EVERY_ROW
from groundwire_index.nodes.strings import StringColumn
from groundwire_index.store.loaded import LoadedIndex
from groundwire_server.domain.access.access import Bounds
from groundwire_server.domain.access.names import Names


def within(index: LoadedIndex, bounds: Bounds) -> NDArray[np.bool_]:
    """A new mask [n]: the rows that are within every bound. A row without a value is within none."""
    mask = np.ones(index.manifest.node_count, dtype=np.bool_)
    for column, names in bounds.by_field.items():
        category = index.nodes.categories[column]
        mask &= category.holding(list(_positions(category.values, names)))(EVERY_ROW)
    if bounds.workflows is not None:
        mask &= _of_workflows(index, bounds.workflows)
    return mask


def _positions(values: StringColumn, names: Names) -> Iterator[range]:
    """The places of the names among sorted values; never that of the empty one."""
    for name in names.listed - {""}:
        position = values.find(name)
        if position is not None:
            yield range(position, position + 1)
    for prefix in names.prefixes:
        found = values.prefix_range(prefix)
        yield found[1:] if found and not values[found.start] else found


def _of_workflows(index: LoadedIndex, names: Names) -> NDArray[np.bool_]:
    holding = np.zeros(index.manifest.node_count, dtype=np.bool_)
    for name in names.listed - {""}:
        holding[index.metadata_terms.rows_with(WORKFLOW_KEY, name)] = True
    for prefix in names.prefixes:
        holding[index.metadata_terms.rows_with_prefix(WORKFLOW_KEY, prefix)] = True
    return holding
