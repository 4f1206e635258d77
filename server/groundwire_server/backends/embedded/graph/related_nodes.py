"""The nodes around nodes: their parents, the chunks before and after, their neighbourhood, their services."""

from collections.abc import Sequence

import numpy as np

from groundwire_index.nodes.node import CONTAINS
from groundwire_server.backends.embedded.graph.graph import Graph
from groundwire_server.backends.embedded.visibility.row_selection import RowSelection
from groundwire_server.backends.embedded.visibility.visibility import Visibility
from groundwire_server.backends.shared.graph.related_nodes import EdgesOfServices, neighbourhood_of, service_contexts
from groundwire_server.backends.shared.graph.selected_graph import Positions, Rows
from groundwire_server.domain.query.neighbourhood import Neighbourhood
from groundwire_server.domain.query.query_result import ServiceContext


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


def visible_neighbourhood(graph: Graph, visibility: Visibility, rows: Positions) -> Neighbourhood:
    """See `Snapshot.neighbourhood`. Costs what the rows' edges do."""
    sides = graph.outgoing, graph.incoming
    read = [(side, *side.of(rows)) for side in sides]
    places = np.concatenate([places for _, places, _ in read])
    far = np.concatenate([side.ends.take(positions) for side, _, positions in read])
    confidences = np.concatenate([side.edges.confidences.take(positions) for side, _, positions in read])
    seen = np.flatnonzero(visibility.mask.take(far))
    return neighbourhood_of(rows, places.take(seen), far.take(seen), confidences.take(seen), len(visibility.mask))


def selected_service_contexts(selection: RowSelection, service_names: Sequence[str]) -> tuple[ServiceContext, ...]:
    """See `Snapshot.service_contexts`."""
    services, edges = selection.index.nodes.categories["service_name"], selection.index.service_edges
    asked = map(services.values.find, sorted(set(service_names)))
    touching = edges.touching([position for position in asked if position is not None])
    from_rows, to_rows = edges.from_rows.take(touching), edges.to_rows.take(touching)
    held = np.flatnonzero(selection.holds(from_rows) & selection.holds(to_rows))
    found = EdgesOfServices(
        services.codes.take(from_rows.take(held)),
        services.codes.take(to_rows.take(held)),
        edges.types.take(touching.take(held)),
    )
    return service_contexts(service_names, services.values, selection.index.manifest.edge_types, found)


def _containers(selection: RowSelection, row: int, contains: int) -> Rows:
    """The rows whose edges of type `contains` lead to this one, ascending."""
    positions = selection.graph.incoming.positions(row)
    first, last = np.searchsorted(selection.index.edges.types.take(positions), (contains, contains + 1))
    return selection.index.edges.from_rows.take(positions[first:last])


def _held(selection: RowSelection, rows: Rows) -> Positions:
    return rows[selection.holds(rows)].astype(np.int64)
