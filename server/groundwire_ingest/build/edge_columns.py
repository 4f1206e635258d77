"""The edges of a source as flat arrays while it is read, and as edges between rows once the nodes are known."""

import pickle
from array import array
from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_index.graph.edges import EdgeTable
from groundwire_ingest.errors import IngestError
from groundwire_ingest.records import SourceEdge

_ORIGINS_FILE = "edges.origins.pickled"


class EdgeColumns:
    """Edges between numbered keys. Their places in the source wait on disk, because only an error needs them."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / _ORIGINS_FILE
        self._origins = self._path.open("wb")
        self._types: dict[str, int] = {}
        self._from, self._to, self._type, self._lines = array("i"), array("i"), array("i"), array("i")
        self._confidences = array("d")

    def __enter__(self) -> "EdgeColumns":
        return self

    def __exit__(self, *_: object) -> None:
        self._origins.close()

    def add(self, edge: SourceEdge, from_number: int, to_number: int) -> None:
        """Notes an edge between the keys of these numbers."""
        self._from.append(from_number)
        self._to.append(to_number)
        self._type.append(self._types.setdefault(edge.edge_type, len(self._types)))
        self._confidences.append(edge.confidence)
        self._lines.append(edge.line)
        pickle.dump(edge.origin, self._origins)

    def table(self, rows: NDArray[np.int32], keys: Sequence[str], *, skip_dangling: bool) -> tuple[EdgeTable, int]:
        """Distinct edges between rows, sorted; of equal ones the surest is kept. And the number of dangling ones.

        `rows` [keys] are those of the keys, by number, below 0 for a key that no node has. Raises IngestError for an
        edge to a node that does not exist, unless such edges are skipped.
        """
        from_rows, to_rows = rows[np.asarray(self._from)], rows[np.asarray(self._to)]
        whole = (from_rows >= 0) & (to_rows >= 0)
        if not skip_dangling and not whole.all():
            position = int(np.argmin(whole))
            raise self._dangling(position, bool(from_rows[position] >= 0), keys)
        edge_types, types = self._sorted_types(whole)
        confidences, lines = np.asarray(self._confidences)[whole], np.asarray(self._lines, dtype=np.int32)[whole]
        table = _surest(EdgeTable(edge_types, from_rows[whole], to_rows[whole], types, confidences, lines))
        return table, len(whole) - int(whole.sum())

    def _sorted_types(self, kept: NDArray[np.bool_]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
        """The types of the kept edges, sorted, and each kept edge's place among them."""
        codes = np.asarray(self._type, dtype=np.int32)[kept]
        names = list(self._types)
        used = sorted(np.unique(codes).tolist(), key=names.__getitem__)
        ranks = np.zeros(len(names), dtype=np.int32)
        ranks[used] = np.arange(len(used), dtype=np.int32)
        return tuple(names[code] for code in used), ranks[codes]

    def _dangling(self, position: int, from_is_there: bool, keys: Sequence[str]) -> IngestError:
        self._origins.flush()
        with self._path.open("rb") as file:
            origin = next(islice(iter(partial(pickle.load, file), None), position, None))
        missing = (self._to if from_is_there else self._from)[position]
        key = keys[missing]
        edge_type = next(islice(self._types, self._type[position], None))
        return IngestError(
            f"{origin}: {edge_type} edge to a node that is not there: {key!r}; add the node, or give "
            "--skip-dangling-edges"
        )


def _surest(edges: EdgeTable) -> EdgeTable:
    """The edges sorted by ends and type, each once: the surest, of equally sure ones that of the lowest known line."""
    unknown_last = np.where(edges.lines > 0, edges.lines, np.iinfo(np.int32).max)
    order = np.lexsort((unknown_last, -edges.confidences, edges.types, edges.to_rows, edges.from_rows))
    columns = np.stack((edges.from_rows[order], edges.to_rows[order], edges.types[order], edges.lines[order]))
    first = np.flatnonzero(np.concatenate(([True], np.any(columns[:3, 1:] != columns[:3, :-1], axis=0)))[: len(order)])
    from_rows, to_rows, types, lines = columns[:, first]
    return EdgeTable(edges.edge_types, from_rows, to_rows, types, edges.confidences[order[first]], lines)
