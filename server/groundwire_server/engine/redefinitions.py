"""Which of some rows are older definitions of an object, and which the newer ones, by the edges of the graph."""

from typing import NamedTuple

import numpy as np

from groundwire_server.backends.interface import Snapshot
from groundwire_server.backends.selected_graph import SelectedGraph, neighbours_along
from groundwire_server.domain.graph.expansion import Direction
from groundwire_server.domain.query.definitions import REDEFINED_BY
from groundwire_server.domain.query.neighbourhood import CONFIDENT
from groundwire_server.domain.search.candidates import Positions
from groundwire_server.engine.edges_between import NO_EDGES
from groundwire_server.engine.union_graph import UnionGraph


class Redefinitions(NamedTuple):
    """Rows [m] of older definitions, and those of newer ones [m] of the same objects."""

    older: Positions
    newer: Positions


NO_REDEFINITIONS = Redefinitions(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


def redefinitions_among(snapshot: Snapshot, rows: Positions) -> Redefinitions:
    """The redefinitions among rows [n], which ascend; nothing is read if there can be none.

    An object and its redefinitions are in one repository.
    """
    parts = snapshot.parts
    graph: SelectedGraph = parts[0].graph if snapshot.index else UnionGraph(parts, NO_EDGES)
    if len(rows) < 2 or all(edge_type.casefold() != REDEFINED_BY for edge_type in graph.edge_types):
        return NO_REDEFINITIONS
    edges = neighbours_along(graph, Direction.OUTGOING, frozenset({REDEFINED_BY}), CONFIDENT).among(rows, rows)
    return Redefinitions(rows.take(edges.places), edges.ends.astype(np.int64))
