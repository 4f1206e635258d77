"""The confident edges among the candidates of a query, and how many neighbours each has that the caller sees."""

import numpy as np
from numpy.typing import NDArray

from groundwire_server.backends.shared.graph.selected_graph import Positions
from groundwire_server.domain.query.neighbourhood import CONFIDENT, Neighbourhood


def neighbourhood_of(
    rows: Positions, places: Positions, far: NDArray[np.integer], confidences: NDArray[np.float32], node_count: int
) -> Neighbourhood:
    """The edges among distinct rows [n], ascending; of several edges between two rows the most confident counts.

    All edges of the rows to others that the caller sees are given, [m]: the place of the row that each is of, its far
    end and its confidence. Every edge type counts, whichever way it points.
    """
    kept = np.flatnonzero((confidences >= np.float32(CONFIDENT)) & (rows.take(places) != far))
    # One number for each pair of rows is sorted faster than two columns.
    pairs = places.take(kept) * node_count + far.take(kept)
    order = np.argsort(pairs)
    first = np.flatnonzero(np.diff(pairs[order], prepend=-1))
    near, others = np.divmod(pairs[order[first]], node_count)
    surest = np.maximum.reduceat(confidences.take(kept)[order], first).astype(np.float64)
    degrees = np.bincount(near, minlength=len(rows))
    ends = np.minimum(np.searchsorted(rows, others), len(rows) - 1)
    among = np.flatnonzero(rows.take(ends) == others)
    return Neighbourhood(np.stack((near[among], ends[among])), surest[among], degrees)
