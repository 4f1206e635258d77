"""The edges between services, as the index has them."""

from collections.abc import Sequence

import numpy as np

from groundwire_server.backends.embedded.visibility.row_selection import RowSelection
from groundwire_server.backends.shared.graph.services import EdgesOfServices, service_contexts
from groundwire_server.domain.query.query_result import ServiceContext


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
