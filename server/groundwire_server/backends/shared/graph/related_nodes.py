"""The nodes around nodes, as both backends tell them: the edges among candidates, and those between services."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from groundwire_server.backends.selected_graph import Positions, Rows
from groundwire_server.domain.query.neighbourhood import CONFIDENT, Neighbourhood
from groundwire_server.domain.query.query_result import ServiceContext, ServiceEdge


class ServiceNames(Protocol):
    """Sorted distinct strings by position."""

    def __len__(self) -> int: ...

    def __getitem__(self, position: int, /) -> str: ...


class EdgesOfServices(NamedTuple):
    """Edges between nodes of two services, arrays [m]: positions among the services' names and the edge types."""

    from_services: Rows
    to_services: Rows
    types: Rows


def service_contexts(
    service_names: Iterable[str], services: ServiceNames, edge_types: tuple[str, ...], edges: EdgesOfServices
) -> tuple[ServiceContext, ...]:
    """The neighbourhood of each service, sorted by name, over distinct edges that touch one of them.

    A service without such edges has an empty neighbourhood.
    """
    edges_of: defaultdict[str, list[ServiceEdge]] = defaultdict(list)
    for edge in _counted(services, edge_types, edges):
        edges_of[edge.from_service].append(edge)
        edges_of[edge.to_service].append(edge)
    return tuple(_context(name, edges_of[name]) for name in sorted(set(service_names)))


def _counted(services: ServiceNames, edge_types: tuple[str, ...], edges: EdgesOfServices) -> Iterator[ServiceEdge]:
    """The edges counted by (from, to, type) and sorted so."""
    # One number an edge sorts as its three positions do, which sort as the names at these positions.
    pairs = edges.from_services.astype(np.int64) * len(services) + edges.to_services
    keys, counts = np.unique(pairs * len(edge_types) + edges.types, return_counts=True)
    for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
        pair, edge_type = divmod(key, len(edge_types))
        from_service, to_service = divmod(pair, len(services))
        yield ServiceEdge(services[from_service], services[to_service], edge_types[edge_type], count)


def _context(name: str, edges: Sequence[ServiceEdge]) -> ServiceContext:
    return ServiceContext(
        service_name=name,
        calls=tuple(sorted({edge.to_service for edge in edges if edge.from_service == name})),
        called_by=tuple(sorted({edge.from_service for edge in edges if edge.to_service == name})),
        edges=tuple(edges),
    )


def neighbourhood_of(
    rows: Positions, places: Positions, far: NDArray[np.integer], confidences: NDArray[np.float32], node_count: int
) -> Neighbourhood:
    """The confident edges among distinct rows [n], ascending, and how many neighbours each has.

    Of several edges between two rows the most confident counts.
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
