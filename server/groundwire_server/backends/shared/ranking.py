"""Top-k selection with one total order: score descending, then row (which is id order) ascending."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class RankedRows:
    """Rows [m], best first, and their scores [m]."""

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.rows)

    def first(self, count: int) -> "RankedRows":
        """The best `count`."""
        return RankedRows(self.rows[:count], self.scores[:count])

    def followed_by(self, later: "RankedRows") -> "RankedRows":
        """These, then others."""
        return RankedRows(np.concatenate((self.rows, later.rows)), np.concatenate((self.scores, later.scores)))


NO_ROWS = RankedRows(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64))


def top_rows(rows: NDArray[np.int64], scores: NDArray[np.float64], count: int) -> RankedRows:
    """The best `count` of rows [m] by their scores [m]. The result for a smaller count is a prefix of a larger's."""
    if len(rows) > count:
        lowest = np.partition(scores, len(scores) - count)[len(scores) - count]
        possible = scores >= lowest
        rows, scores = rows[possible], scores[possible]
    order = np.lexsort((rows, -scores))[:count]
    return RankedRows(rows[order], scores[order])
