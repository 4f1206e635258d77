"""What stands around a node: the nodes that contain it, and the chunks before and after it in its document."""

import numpy as np

from groundwire_index.nodes.node import CONTAINS
from groundwire_server.backends.embedded.visibility.row_selection import RowSelection
from groundwire_server.backends.shared.graph.selected_graph import Positions, Rows


def parents_of(selection: RowSelection, rows: Positions) -> list[Positions]:
    """See `Snapshot.parents`."""
    edge_types = selection.index.manifest.edge_types
    if CONTAINS not in edge_types:
        return [np.empty(0, dtype=np.int64)] * len(rows)
    contains = edge_types.index(CONTAINS)
    return [_held(selection, _containers(selection, row, contains)) for row in rows.tolist()]


def adjacent_to(selection: RowSelection, rows: Positions) -> list[Positions]:
    """See `Snapshot.adjacent`: the nearest selected row before each in its document, and the nearest after it."""
    reading = selection.index.reading_order
    return [
        np.concatenate((_held(selection, reading.before(row))[:1], _held(selection, reading.after(row))[:1]))
        for row in rows.tolist()
    ]


def _containers(selection: RowSelection, row: int, contains: int) -> Rows:
    """The rows whose edges of type `contains` lead to this one, ascending."""
    positions = selection.graph.incoming.positions(row)
    first, last = np.searchsorted(selection.index.edges.types.take(positions), (contains, contains + 1))
    return selection.index.edges.from_rows.take(positions[first:last])


def _held(selection: RowSelection, rows: Rows) -> Positions:
    return rows[selection.holds(rows)].astype(np.int64)
