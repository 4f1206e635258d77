"""The dependency graph: for every row its edges in both directions, sorted by (edge type, other end).

Compressed sparse rows are mapped and shared by all workers, and a walk reads no more of a hub than its limits
admit (docs/adr/0003).
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_server.index.files import map_array, write_array


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


def write_adjacency(directory: Path, node_count: int, edges: EdgeTable) -> None:
    """Writes the edges in both directions."""
    # A confidence is above 0, also one that single precision would round to it.
    smallest = np.nextafter(np.float32(0), np.float32(1))
    confidences = np.maximum(edges.confidences.astype(np.float32), smallest)
    ends = ("outgoing", edges.from_rows, edges.to_rows), ("incoming", edges.to_rows, edges.from_rows)
    for name, near, far in ends:
        order = np.lexsort((far, edges.types, near))
        starts = np.zeros(node_count + 1, dtype=np.int64)
        np.cumsum(np.bincount(near, minlength=node_count), out=starts[1:])
        write_array(directory / f"{name}.starts.bin", starts)
        write_array(directory / f"{name}.ends.bin", far[order])
        write_array(directory / f"{name}.types.bin", edges.types[order])
        write_array(directory / f"{name}.confidences.bin", confidences[order])
        write_array(directory / f"{name}.lines.bin", edges.lines[order])


class Adjacency:
    """The mapped edges of one direction: between two `starts`, a row's `ends`, `types`, `confidences` and `lines`."""

    def __init__(self, directory: Path, name: str, node_count: int, edge_count: int) -> None:
        """Maps `outgoing` or `incoming`. Raises IndexDamagedError."""
        self.starts = map_array(directory / f"{name}.starts.bin", np.int64, (node_count + 1,))
        self.ends = map_array(directory / f"{name}.ends.bin", np.int32, (edge_count,))
        self.types = map_array(directory / f"{name}.types.bin", np.int32, (edge_count,))
        self.confidences = map_array(directory / f"{name}.confidences.bin", np.float32, (edge_count,))
        self.lines = map_array(directory / f"{name}.lines.bin", np.int32, (edge_count,))

    def span(self, row: int) -> tuple[int, int]:
        """Where the row's edges start and end."""
        return int(self.starts[row]), int(self.starts[row + 1])

    def all_ends(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """For every edge, the row it belongs to and its other end."""
        degrees = self.starts[1:] - self.starts[:-1]
        owners = np.repeat(np.arange(len(degrees), dtype=np.int32), degrees)
        return owners, self.ends
