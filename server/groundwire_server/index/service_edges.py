"""The edges between services: both ends belong to a service, and not to the same."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_server.index.adjacency import EdgeRow
from groundwire_server.index.files import map_array, map_bytes, write_array

_FILE = "service_edges.bin"
_BYTES_AN_EDGE = 12


def write_service_edges(
    directory: Path, services: Sequence[str], edges: Sequence[EdgeRow], contains: int | None
) -> None:
    """Writes the edges between rows of different services; `services` [n] are the rows' services, "" for none.

    `contains` is the edge type that says what is part of what and is left out, None when no edge has it.
    """
    chosen = sorted(
        (edge.from_row, edge.to_row, edge.edge_type)
        for edge in edges
        if edge.edge_type != contains and _differ(services[edge.from_row], services[edge.to_row])
    )
    write_array(directory / _FILE, np.asarray(chosen, dtype=np.int32).reshape(-1, 3).T)


class ServiceEdges:
    """The mapped edges between services, by (from row, to row, type); all arrays [m].

    `types` are positions in the index's sorted list of edge types.
    """

    def __init__(self, directory: Path) -> None:
        """Maps the edges. Raises IndexDamagedError."""
        count = len(map_bytes(directory / _FILE)) // _BYTES_AN_EDGE
        edges = map_array(directory / _FILE, np.int32, (3, count))
        self.from_rows: NDArray[np.int32] = edges[0]
        self.to_rows: NDArray[np.int32] = edges[1]
        self.types: NDArray[np.int32] = edges[2]


def _differ(service: str, other: str) -> bool:
    return bool(service and other) and service != other
