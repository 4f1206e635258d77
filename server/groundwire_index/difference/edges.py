"""The edges of two index versions: which came, which went, and which say something else."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_index.difference.alignment import Alignment
from groundwire_index.store.loaded import LoadedIndex

CONFIDENCE, LINE = "confidence", "line"


@dataclass(frozen=True, slots=True)
class EdgeChanges:
    """The edges of one type that differ, as positions among the edges of the versions.

    `removed` are among those of the old version, `added` among those of the new one. `changed` [2, m] are in both, with
    another confidence (`confidence_differs` [m]) or on another line (`line_differs` [m]).
    """

    edge_type: str
    removed: NDArray[np.intp]
    added: NDArray[np.intp]
    changed: NDArray[np.intp]
    confidence_differs: NDArray[np.bool_]
    line_differs: NDArray[np.bool_]

    def fields(self, place: int) -> list[str]:
        """The names of what differs in one of the changed edges."""
        names = ((CONFIDENCE, self.confidence_differs), (LINE, self.line_differs))
        return [name for name, differs in names if differs[place]]


def edge_changes(old: LoadedIndex, new: LoadedIndex, nodes: Alignment) -> Iterator[EdgeChanges]:
    """Compares the edges, one type after the other; an edge is known by its ends and type."""
    for edge_type in sorted({*old.manifest.edge_types, *new.manifest.edge_types}):
        olds, old_keys = _of_type(old, edge_type, nodes.old, nodes.count)
        news, new_keys = _of_type(new, edge_type, nodes.new, nodes.count)
        _, old_places, new_places = np.intersect1d(old_keys, new_keys, assume_unique=True, return_indices=True)
        both = np.stack((olds[old_places], news[new_places]))
        confidence = old.edges.confidences[both[0]] != new.edges.confidences[both[1]]
        line = old.edges.lines[both[0]] != new.edges.lines[both[1]]
        some = confidence | line
        yield EdgeChanges(
            edge_type=edge_type,
            removed=np.delete(olds, old_places),
            added=np.delete(news, new_places),
            changed=both[:, some],
            confidence_differs=confidence[some],
            line_differs=line[some],
        )


def _of_type(
    index: LoadedIndex, edge_type: str, numbers: NDArray[np.int64], count: int
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """The positions of the edges of a type, by their ends, and a number for both ends together."""
    if edge_type not in index.manifest.edge_types:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.int64)
    # Edges of a type are sorted descending by their ends.
    positions = np.flatnonzero(index.edges.types == index.manifest.edge_types.index(edge_type))[::-1]
    return positions, numbers[index.edges.from_rows[positions]] * count + numbers[index.edges.to_rows[positions]]
