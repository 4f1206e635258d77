"""The edges of an index as rows of Milvus: for each node those that leave it and those that reach it, in chunks."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from groundwire_index.milvus.packing import EDGE, EDGES_A_CHUNK, INCOMING, OUTGOING, chunk_key, near_keys, packed_edges
from groundwire_index.milvus.schema import UNUSED, UNUSED_VECTOR
from groundwire_index.store.loaded import LoadedIndex

ROWS_A_BLOCK = 1 << 18
"""Rows whose edges are gathered at once, for which all edges are read."""


def edge_rows(index: LoadedIndex, classes: NDArray[np.int32]) -> Iterator[dict[str, object]]:
    """The rows, in order of node and direction; `classes` [n] is the class of each node."""
    number = 0
    for first in range(0, index.manifest.node_count, ROWS_A_BLOCK):
        near, edges = _of_rows(index, classes, first, first + ROWS_A_BLOCK)
        starts = np.concatenate(([0], np.flatnonzero(np.diff(near)) + 1, [len(near)]))
        for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            for chunk, place in enumerate(range(start, end, EDGES_A_CHUNK)):
                yield {
                    "key": chunk_key(int(near[start]), chunk),
                    "number": number,
                    "near": int(near[start]),
                    "content": packed_edges(edges[place : min(place + EDGES_A_CHUNK, end)]),
                    UNUSED: list(UNUSED_VECTOR),
                }
                number += 1


def _of_rows(
    index: LoadedIndex, classes: NDArray[np.int32], first: int, end: int
) -> tuple[NDArray[np.int64], NDArray[np.void]]:
    """The near ends [m] and edges [m] of the rows from `first` up to `end`, by (near end, type, far end)."""
    sides = [
        _side(index, classes, first, end, direction, near, far)
        for direction, near, far in (
            (OUTGOING, index.edges.from_rows, index.edges.to_rows),
            (INCOMING, index.edges.to_rows, index.edges.from_rows),
        )
    ]
    near, edges = (np.concatenate(own) for own in zip(*sides, strict=True))
    order = np.lexsort((edges["far"], edges["type"], near))
    return near.take(order), edges.take(order)


def _side(
    index: LoadedIndex,
    classes: NDArray[np.int32],
    first: int,
    end: int,
    direction: int,
    near: NDArray[np.int32],
    far: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.void]]:
    positions = np.flatnonzero((near >= first) & (near < end))
    edges = np.empty(len(positions), dtype=EDGE)
    edges["type"] = index.edges.types.take(positions)
    edges["far"] = far.take(positions)
    edges["confidence"] = index.edges.confidences.take(positions)
    edges["line"] = index.edges.lines.take(positions)
    edges["far_class"] = classes.take(edges["far"])
    edges["position"] = positions
    return near_keys(near.take(positions), direction), edges
