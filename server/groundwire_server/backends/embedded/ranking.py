"""Top-k selection with one total order: score descending, then row (which is id order) ascending."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class RankedRow:
    """A row and its score."""

    row: int
    score: float


def top_rows(rows: NDArray[np.int64], scores: NDArray[np.float64], count: int) -> list[RankedRow]:
    """The best `count` of rows [m] by their scores [m]. The result for a smaller count is a prefix of a larger's."""
    if len(rows) > count:
        lowest = np.partition(scores, len(scores) - count)[len(scores) - count]
        contenders = scores >= lowest
        rows, scores = rows[contenders], scores[contenders]
    order = np.lexsort((rows, -scores))[:count]
    return [RankedRow(row, score) for row, score in zip(rows[order].tolist(), scores[order].tolist(), strict=True)]
