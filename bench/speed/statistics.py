"""What is told of many times."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds: percentiles of all calls, and the lowest median of a round, which other programs disturb least."""

    calls: int
    median: float
    p95: float
    p99: float
    best: float


def times(rounds: Sequence[Sequence[float]]) -> Times:
    """Of the times of each round, in milliseconds; percentiles between two calls are interpolated."""
    every = np.concatenate([np.asarray(one, dtype=np.float64) for one in rounds])
    median, p95, p99 = np.percentile(every, (50.0, 95.0, 99.0)).tolist()
    return Times(len(every), median, p95, p99, min(float(np.median(one)) for one in rounds))
