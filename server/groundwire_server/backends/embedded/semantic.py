"""Exact semantic search over the rows a caller may see.

FAISS proposes, one fixed routine decides: FAISS promises no order of summation, and its scores of one row differ in the
last bits between a query alone and in a batch, or between versions. Every row that could belong to the result within
FAISS's rounding error is scored again, each by itself, and only that score counts.
"""

import numpy as np
from numpy.typing import NDArray

from groundwire_server.backends.embedded.ranking import RankedRow, top_rows
from groundwire_server.index.vectors import VectorTable

GATHER_ROWS = 2_048
"""Up to this many rows are scored directly; beyond, a FAISS scan proposes candidates first."""
_SLACK = 64


def unit_vector(query: NDArray[np.floating]) -> NDArray[np.float64]:
    """The query vector [dimension] scaled to length 1."""
    # Scaled by the largest component first, so that neither huge nor tiny vectors overflow the sum of squares.
    scaled: NDArray[np.float64] = query.astype(np.float64) / np.abs(query).max()
    unit: NDArray[np.float64] = scaled / np.sqrt(np.square(scaled).sum())
    return unit


def rank_by_similarity(
    vectors: VectorTable, query: NDArray[np.float64], allowed: NDArray[np.bool_], count: int
) -> list[RankedRow]:
    """The `count` allowed rows of highest cosine similarity to a unit query [dimension]; `allowed` is a mask [n]."""
    mask = allowed & vectors.present
    visible = int(np.count_nonzero(mask))
    if visible <= max(GATHER_ROWS, count):
        rows = np.flatnonzero(mask)
    else:
        rows = _propose(vectors, query, mask, visible, count)
    return top_rows(rows, similarities(vectors, rows, query), count)


def similarities(vectors: VectorTable, rows: NDArray[np.int64], query: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosine similarity of each row [m] to a unit query, in double precision; a row's value depends on it alone."""
    products = vectors.rows[rows].astype(np.float64) * query
    cosines: NDArray[np.float64] = np.clip(products.sum(axis=1), -1.0, 1.0)
    return cosines


def _propose(
    vectors: VectorTable, query: NDArray[np.float64], mask: NDArray[np.bool_], visible: int, count: int
) -> NDArray[np.int64]:
    """A superset of the exact top `count`: all rows whose approximate score reaches the last one's, less the error."""
    single = query.astype(np.float32)
    error = _rounding_error(len(query))
    width = count + _SLACK
    while True:
        scores, rows = vectors.scan(single, mask, min(width, visible))
        threshold = float(scores[count - 1]) - 2 * error
        if width >= visible or scores[-1] < threshold:
            return rows[scores >= threshold]
        width *= 4


def _rounding_error(dimension: int) -> float:
    """A bound on the error of a single-precision inner product of two unit vectors (Higham 2002, §3.1)."""
    return (dimension + 3) * float(np.finfo(np.float32).eps)
