"""What stands around a node: the nodes that contain it, and the chunks before and after it in its document."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from groundwire_server.backends.embedded.pool import View
from groundwire_server.domain.nodes import CONTAINS

Rows = NDArray[np.int32]


def parents_of(view: View, rows: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
    """See `RetrievalSnapshot.parents`; `rows` are visible rows by id."""
    edge_types = view.index.manifest.edge_types
    if CONTAINS not in edge_types:
        return {}
    contains = edge_types.index(CONTAINS)
    return _named(view, {id_: _visible(view, _containers(view, row, contains)) for id_, row in rows.items()})


def neighbors_of(view: View, rows: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
    """See `RetrievalSnapshot.neighbors`; `rows` are visible rows by id. Ids without neighbours are left out."""
    return _named(view, {id_: _nearest(view, row) for id_, row in rows.items()})


def _containers(view: View, row: int, contains: int) -> Rows:
    """The rows whose edges of type `contains` lead to this one, ascending."""
    start, end = view.index.incoming.span(row)
    first, last = np.searchsorted(view.index.incoming.types[start:end], (contains, contains + 1))
    return view.index.incoming.ends[start + first : start + last]


def _nearest(view: View, row: int) -> Rows:
    """The nearest visible row before this one in its document, and the nearest after it."""
    reading = view.index.reading_order
    before, after = _visible(view, reading.before(row)), _visible(view, reading.after(row))
    return np.concatenate((before[:1], after[:1]))


def _visible(view: View, rows: Rows) -> Rows:
    return rows[view.visibility.mask[rows]]


def _named(view: View, rows: Mapping[str, Rows]) -> dict[str, tuple[str, ...]]:
    """The ids of those rows; what has none is left out."""
    return {id_: tuple(view.visibility.ids_of(found.tolist())) for id_, found in rows.items() if len(found)}
