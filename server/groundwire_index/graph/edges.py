"""The edges of the dependency graph: one row an edge, in five columns.

The edges between services are stored once more: both ends belong to a service, and not to the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_index.files.durable_files import map_array, write_array
from groundwire_index.files.spans import positions_of
from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.nodes.categories import Category
from groundwire_index.nodes.node import CONTAINS


@dataclass(frozen=True, slots=True)
class EdgeTable:
    """Distinct edges between rows, all arrays [m]; `types` are positions in `edge_types`, which are sorted.

    `lines` are 1-based in the file of the row that an edge leaves, 0 when unknown.
    """

    edge_types: tuple[str, ...]
    from_rows: NDArray[np.int32]
    to_rows: NDArray[np.int32]
    types: NDArray[np.int32]
    confidences: NDArray[np.float64]
    lines: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.from_rows)


def write_edges(directory: Path, edges: EdgeTable) -> None:
    """Writes the edges, sorted descending by (edge type, from row, to row)."""
    order = np.lexsort((edges.to_rows, edges.from_rows, edges.types))[::-1]
    # A confidence is above 0, also one that single precision would round to it.
    smallest = np.nextafter(np.float32(0), np.float32(1))
    confidences = np.maximum(edges.confidences.astype(np.float32), smallest)
    columns = {
        "from": edges.from_rows,
        "to": edges.to_rows,
        "types": edges.types,
        "confidences": confidences,
        "lines": edges.lines,
    }
    for name, column in columns.items():
        write_array(directory / f"edges.{name}.bin", column[order])


class Edges:
    """The mapped edges, all arrays [m], sorted descending by (edge type, from row, to row).

    A graph library that hands out the edge added last first so hands out those of a row ascending.
    """

    def __init__(self, directory: Path, count: int) -> None:
        """Maps the edges. Raises IndexDamagedError."""
        self.from_rows = map_array(directory / "edges.from.bin", np.int32, (count,))
        self.to_rows = map_array(directory / "edges.to.bin", np.int32, (count,))
        self.types = map_array(directory / "edges.types.bin", np.int32, (count,))
        self.confidences = map_array(directory / "edges.confidences.bin", np.float32, (count,))
        self.lines = map_array(directory / "edges.lines.bin", np.int32, (count,))

    def __len__(self) -> int:
        return len(self.types)


_SERVICES_FILE = "service_edges.bin"
_INCOMING_FILE = "service_edges.incoming.bin"
_STARTS_FILE = "service_edges.starts.bin"


def write_service_edges(directory: Path, services: Category, edges: EdgeTable) -> None:
    """Writes the edges between rows of different services; what is `Contains` says what is part of what: left out."""
    nowhere = services.values.find("")
    near, far = services.codes[edges.from_rows], services.codes[edges.to_rows]
    chosen = near != far
    if nowhere is not None:
        chosen &= (near != nowhere) & (far != nowhere)
    if CONTAINS in edges.edge_types:
        chosen &= edges.types != edges.edge_types.index(CONTAINS)
    near, far = near[chosen], far[chosen]
    columns = np.stack((edges.from_rows[chosen], edges.to_rows[chosen], edges.types[chosen]))
    order = np.lexsort((*columns[::-1], near))
    starts = np.zeros((2, len(services.values) + 1), dtype=np.int64)
    for ends, services_of in zip(starts, (near, far), strict=True):
        np.cumsum(np.bincount(services_of, minlength=len(services.values)), out=ends[1:])
    write_array(directory / _SERVICES_FILE, columns[:, order])
    write_array(directory / _INCOMING_FILE, np.argsort(far[order], kind="stable").astype(np.int32))
    write_array(directory / _STARTS_FILE, starts)


class ServiceEdges:
    """The mapped edges between services, by (service of the from row, from row, to row, type); all arrays [m].

    `types` are positions in the index's sorted list of edge types.
    """

    def __init__(self, directory: Path) -> None:
        """Maps the edges. Raises IndexDamagedError."""
        edges = map_array(directory / _SERVICES_FILE, np.int32, (3, None))
        count = edges.shape[1]
        self.from_rows: NDArray[np.int32] = edges[0]
        self.to_rows: NDArray[np.int32] = edges[1]
        self.types: NDArray[np.int32] = edges[2]
        self._incoming = map_array(directory / _INCOMING_FILE, np.int32, (count,))
        self._starts = map_array(directory / _STARTS_FILE, np.int64, (2, None), least=1)
        if self._starts[:, -1].tolist() != [count, count]:
            raise IndexDamagedError(f"{_STARTS_FILE}: does not divide the {count} edges of {_SERVICES_FILE}")

    def touching(self, services: Sequence[int]) -> NDArray[np.int64]:
        """The positions, ascending, of the edges from or to services, which are positions among the services' names."""
        places = np.asarray(services, dtype=np.int64)
        outgoing, _ = positions_of(self._starts[0], places)
        incoming, _ = positions_of(self._starts[1], places)
        return np.union1d(outgoing, self._incoming.take(incoming))
