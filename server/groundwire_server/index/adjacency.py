"""The dependency graph: for every row its edges in both directions, sorted by (edge type, other end).

Compressed sparse rows are mapped and shared by all workers, and a walk reads no more of a hub than its limits
admit (docs/adr/0003).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_server.index.files import map_array, write_array


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """An edge between two rows; `edge_type` is a position in the index's sorted list of edge types."""

    from_row: int
    to_row: int
    edge_type: int
    confidence: float


def write_adjacency(directory: Path, node_count: int, edges: Sequence[EdgeRow]) -> None:
    """Writes distinct edges in both directions."""
    columns = np.asarray([(edge.from_row, edge.to_row, edge.edge_type) for edge in edges], dtype=np.int32).reshape(
        -1, 3
    )
    # A confidence is above 0, also one that single precision would round to it.
    smallest = np.nextafter(np.float32(0), np.float32(1))
    confidences = np.maximum(np.asarray([edge.confidence for edge in edges], dtype=np.float32), smallest)
    for name, near, far in (("outgoing", columns[:, 0], columns[:, 1]), ("incoming", columns[:, 1], columns[:, 0])):
        order = np.lexsort((far, columns[:, 2], near))
        starts = np.zeros(node_count + 1, dtype=np.int64)
        np.cumsum(np.bincount(near, minlength=node_count), out=starts[1:])
        write_array(directory / f"{name}.starts.bin", starts)
        write_array(directory / f"{name}.ends.bin", far[order])
        write_array(directory / f"{name}.types.bin", columns[order, 2])
        write_array(directory / f"{name}.confidences.bin", confidences[order])


class Adjacency:
    """The mapped edges of one direction. Slices of `ends`, `types`, `confidences` between two `starts` are a row's."""

    def __init__(self, directory: Path, name: str, node_count: int, edge_count: int) -> None:
        """Maps `outgoing` or `incoming`. Raises IndexDamagedError."""
        self.starts = map_array(directory / f"{name}.starts.bin", np.int64, (node_count + 1,))
        self.ends = map_array(directory / f"{name}.ends.bin", np.int32, (edge_count,))
        self.types = map_array(directory / f"{name}.types.bin", np.int32, (edge_count,))
        self.confidences = map_array(directory / f"{name}.confidences.bin", np.float32, (edge_count,))

    def span(self, row: int) -> tuple[int, int]:
        """Where the row's edges start and end."""
        return int(self.starts[row]), int(self.starts[row + 1])

    def all_ends(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """For every edge, the row it belongs to and its other end."""
        degrees = self.starts[1:] - self.starts[:-1]
        owners = np.repeat(np.arange(len(degrees), dtype=np.int32), degrees)
        return owners, self.ends
