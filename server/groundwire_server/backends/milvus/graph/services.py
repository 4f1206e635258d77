"""The edges between services, as the facts of the index tell them."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from groundwire_index.milvus.facts import SERVICE, fact_key, read_facts
from groundwire_index.milvus.packing import SERVICE_EDGE, unpacked_service_edges
from groundwire_server.backends.milvus.graph.reading import GraphReading
from groundwire_server.backends.shared.graph.services import EdgesOfServices, service_contexts
from groundwire_server.domain.query.query_result import ServiceContext


def selected_service_contexts(reading: GraphReading, service_names: Sequence[str]) -> tuple[ServiceContext, ...]:
    """See `Snapshot.service_contexts`."""
    keys = [fact_key(SERVICE, name) for name in sorted(set(service_names))]
    told = list(map(unpacked_service_edges, read_facts(reading.store, reading.collections.facts, keys).values()))
    services = sorted({name for names, _ in told for name in names})
    place_of = {name: place for place, name in enumerate(services)}
    edges = np.concatenate([np.empty(0, dtype=SERVICE_EDGE), *(_numbered(place_of, *one) for one in told)])
    # An edge between two services that are asked for is told by both.
    edges = edges[np.unique(edges["position"], return_index=True)[1]]
    rows = np.concatenate((edges["from_row"], edges["to_row"]))
    held = reading.selected.holds(rows, np.concatenate((edges["from_class"], edges["to_class"])))
    edges = edges[held.reshape(2, -1).all(axis=0)]
    found = EdgesOfServices(edges["from_service"], edges["to_service"], edges["type"])
    return service_contexts(service_names, services, reading.edge_types, found)


def _numbered(place_of: Mapping[str, int], names: Sequence[str], edges: NDArray[np.void]) -> NDArray[np.void]:
    """The edges with other places for their services than those among `names`."""
    places = np.asarray([place_of[name] for name in names], dtype=np.int32)
    numbered = edges.copy()
    for end in ("from_service", "to_service"):
        numbered[end] = places.take(edges[end])
    return numbered
