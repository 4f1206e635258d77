"""The confident edges among the candidates of a query, and how many neighbours each has in sight of the caller."""

import numpy as np
from numpy.typing import NDArray

from groundwire_server.backends.embedded.graph.graph import Graph, Side
from groundwire_server.backends.embedded.visibility.visibility import Visibility
from groundwire_server.domain.query.neighbourhood import CONFIDENT, Neighbourhood

Rows = NDArray[np.int64]


def neighbourhood_of(graph: Graph, visibility: Visibility, rows: Rows) -> Neighbourhood:
    """The edges among distinct rows [n], ascending; of several edges between two rows the most confident counts.

    Every edge type counts, whichever way it points. Costs what the rows' edges do.
    """
    sides = [_edges_of(side, visibility, rows) for side in (graph.outgoing, graph.incoming)]
    near, far, confidences = (np.concatenate(column) for column in zip(*sides, strict=True))
    # One number for each pair of rows is sorted faster than two columns.
    pairs = near * len(visibility.mask) + far
    order = np.argsort(pairs)
    first = np.flatnonzero(np.diff(pairs[order], prepend=-1))
    near, far = np.divmod(pairs[order[first]], len(visibility.mask))
    confidences = np.maximum.reduceat(confidences[order], first)
    degrees = np.bincount(near, minlength=len(rows))
    places = np.minimum(np.searchsorted(rows, far), len(rows) - 1)
    among = np.flatnonzero(rows.take(places) == far)
    return Neighbourhood(np.stack((near[among], places[among])), confidences[among], degrees)


def _edges_of(side: Side, visibility: Visibility, rows: Rows) -> tuple[NDArray[np.int64], Rows, NDArray[np.float64]]:
    """The confident edges of rows [n] to visible others: the row's place, the other end, the confidence."""
    near, positions = side.of(rows)
    far = side.ends.take(positions).astype(np.int64)
    confidences = side.edges.confidences.take(positions)
    kept = np.flatnonzero((confidences >= np.float32(CONFIDENT)) & visibility.mask.take(far) & (rows.take(near) != far))
    return near.take(kept), far.take(kept), confidences.take(kept).astype(np.float64)
