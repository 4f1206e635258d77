"""What stands around a node: the nodes that contain it, and the chunks before and after it in its document."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from groundwire_index.nodes.node import CONTAINS
from groundwire_server.backends.embedded.sight import Sight

Rows = NDArray[np.int32]


def parents_of(sight: Sight, rows: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
    """See `RetrievalSnapshot.parents`; `rows` are rows by id."""
    edge_types = sight.index.manifest.edge_types
    if CONTAINS not in edge_types:
        return {}
    contains = edge_types.index(CONTAINS)
    return _named(sight, {id_: _held(sight, _containers(sight, row, contains)) for id_, row in rows.items()})


def neighbors_of(sight: Sight, rows: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
    """See `RetrievalSnapshot.neighbors`; `rows` are rows by id. Ids without neighbours are left out."""
    return _named(sight, {id_: _nearest(sight, row) for id_, row in rows.items()})


def _containers(sight: Sight, row: int, contains: int) -> Rows:
    """The rows whose edges of type `contains` lead to this one, ascending."""
    positions = sight.graph.incoming.positions(row)
    first, last = np.searchsorted(sight.index.edges.types.take(positions), (contains, contains + 1))
    return sight.index.edges.from_rows.take(positions[first:last])


def _nearest(sight: Sight, row: int) -> Rows:
    """The nearest row of the sight before this one in its document, and the nearest after it."""
    reading = sight.index.reading_order
    before, after = _held(sight, reading.before(row)), _held(sight, reading.after(row))
    return np.concatenate((before[:1], after[:1]))


def _held(sight: Sight, rows: Rows) -> Rows:
    return rows[sight.holds(rows)]


def _named(sight: Sight, rows: Mapping[str, Rows]) -> dict[str, tuple[str, ...]]:
    """The ids of those rows; what has none is left out."""
    return {id_: tuple(sight.ids_of(found.tolist())) for id_, found in rows.items() if len(found)}
