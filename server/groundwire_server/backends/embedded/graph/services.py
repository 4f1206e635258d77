"""Which services depend on which, by the edges between their nodes."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from groundwire_server.backends.embedded.visibility.row_selection import RowSelection
from groundwire_server.domain.query.query_result import ServiceContext, ServiceEdge


def service_contexts(selection: RowSelection, service_names: Iterable[str]) -> tuple[ServiceContext, ...]:
    """See `Snapshot.service_contexts`. A service without such edges has an empty neighbourhood."""
    names = sorted(set(service_names))
    edges_of: defaultdict[str, list[ServiceEdge]] = defaultdict(list)
    for edge in _edges_touching(selection, names):
        edges_of[edge.from_service].append(edge)
        edges_of[edge.to_service].append(edge)
    return tuple(_context(name, edges_of[name]) for name in names)


def _edges_touching(selection: RowSelection, names: Sequence[str]) -> Iterator[ServiceEdge]:
    """The selected edges from or to these services, counted by (from, to, type) and sorted so."""
    services, edges = selection.index.nodes.categories["service_name"], selection.index.service_edges
    touching = edges.touching([position for position in map(services.values.find, names) if position is not None])
    from_rows, to_rows = edges.from_rows.take(touching), edges.to_rows.take(touching)
    held = np.flatnonzero(selection.holds(from_rows) & selection.holds(to_rows))
    from_services = services.codes.take(from_rows.take(held))
    to_services = services.codes.take(to_rows.take(held))
    # One number an edge sorts as its three positions do, which sort as the names that stand there.
    service_count, edge_types = len(services.values), selection.index.manifest.edge_types
    pairs = from_services.astype(np.int64) * service_count + to_services
    types = edges.types.take(touching.take(held))
    keys, counts = np.unique(pairs * len(edge_types) + types, return_counts=True)
    for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
        pair, edge_type = divmod(key, len(edge_types))
        from_service, to_service = divmod(pair, service_count)
        yield ServiceEdge(services.values[from_service], services.values[to_service], edge_types[edge_type], count)


def _context(name: str, edges: Sequence[ServiceEdge]) -> ServiceContext:
    return ServiceContext(
        service_name=name,
        calls=tuple(sorted({edge.to_service for edge in edges if edge.from_service == name})),
        called_by=tuple(sorted({edge.from_service for edge in edges if edge.to_service == name})),
        edges=tuple(edges),
    )
