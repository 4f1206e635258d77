"""Differences that may be due to chance: the paired bootstrap over queries of Sakai (SIGIR 2006)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

RESAMPLES = 10_000
SEED = 20_260_101
_LEVELS = (0.025, 0.975)
_RESAMPLES_A_BLOCK = 500


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean difference and its 95 % interval: the 2.5 % and 97.5 % quantiles of the resampled means."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


def paired_difference(values: ArrayLike, baseline: ArrayLike) -> Difference:
    """The mean of `values - baseline` over queries, both of shape [queries], at least one.

    Queries are drawn with replacement `RESAMPLES` times, from a fixed seed, so that the same values give the same
    interval.
    """
    differences = np.subtract(values, baseline, dtype=np.float64)
    generator = np.random.default_rng(SEED)
    means = np.empty(RESAMPLES, dtype=np.float64)
    for start in range(0, RESAMPLES, _RESAMPLES_A_BLOCK):
        drawn = generator.integers(0, len(differences), (_RESAMPLES_A_BLOCK, len(differences)))
        means[start : start + _RESAMPLES_A_BLOCK] = differences[drawn].mean(axis=1)
    low, high = np.quantile(means, _LEVELS)
    return Difference(float(differences.mean()), float(low), float(high))
