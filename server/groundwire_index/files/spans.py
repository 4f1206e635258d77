"""Runs of values in arrays.

In compressed sparse rows the values of place `p` are from `starts[p]` up to `starts[p + 1]`.
"""

import numpy as np
from numpy.typing import NDArray


def positions_of(starts: NDArray[np.int64], places: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The positions of the values of several places [m], one after the other, and the number of each [m]."""
    firsts = starts.take(places)
    counts = starts.take(np.asarray(places) + 1) - firsts
    shifts = np.repeat(firsts - (np.cumsum(counts) - counts), counts)
    return shifts + np.arange(len(shifts), dtype=np.int64), counts


def is_first_of_pair(left: NDArray[np.integer], right: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which of sorted pairs [m], given by two columns, differ from the one before them."""
    first = np.ones(len(left), dtype=np.bool_)
    first[1:] = (left[1:] != left[:-1]) | (right[1:] != right[:-1])
    return first
