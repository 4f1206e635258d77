"""The edges of the dependency graph: one row an edge, in five columns."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_index.store.files import map_array, write_array


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
