"""What stands around a node: the nodes that contain it, and the chunks before and after it in its document."""

import numpy as np
from numpy.typing import NDArray

from groundwire_index.nodes.node import CONTAINS
from groundwire_server.backends.embedded.visibility.sight import Sight
from groundwire_server.domain.search.candidates import Positions

Rows = NDArray[np.int32]


def parents_of(sight: Sight, rows: Positions) -> list[Positions]:
    """See `Snapshot.parents`."""
    edge_types = sight.index.manifest.edge_types
    if CONTAINS not in edge_types:
        return [np.empty(0, dtype=np.int64)] * len(rows)
    contains = edge_types.index(CONTAINS)
    return [_held(sight, _containers(sight, row, contains)) for row in rows.tolist()]


def adjacent_to(sight: Sight, rows: Positions) -> list[Positions]:
    """See `Snapshot.adjacent`: the nearest row in sight before each in its document, and the nearest after it."""
    reading = sight.index.reading_order
    return [
        np.concatenate((_held(sight, reading.before(row))[:1], _held(sight, reading.after(row))[:1]))
        for row in rows.tolist()
    ]


def _containers(sight: Sight, row: int, contains: int) -> Rows:
    """The rows whose edges of type `contains` lead to this one, ascending."""
    positions = sight.graph.incoming.positions(row)
    first, last = np.searchsorted(sight.index.edges.types.take(positions), (contains, contains + 1))
    return sight.index.edges.from_rows.take(positions[first:last])


def _held(sight: Sight, rows: Rows) -> Positions:
    return rows[sight.holds(rows)].astype(np.int64)
