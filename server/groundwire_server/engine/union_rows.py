"""Rows of several index versions that are asked as one: the number of the part, then the row in it."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from groundwire_server.domain.search.candidates import Positions

PART_BITS = 40
"""A row of the union is the number of its part, followed by these bits of its row in the part."""


def first_row(part: int) -> int:
    """The row of the union that a part's row 0 is."""
    return part << PART_BITS


def by_part(rows: NDArray[np.integer]) -> Iterator[tuple[int, Positions, Positions]]:
    """The parts that rows [m] are in, by number: each with the places of its rows among all, and their rows in it."""
    of_union = rows.astype(np.int64)
    numbers = of_union >> PART_BITS
    for number in np.unique(numbers).tolist():
        places: Positions = np.flatnonzero(numbers == number)
        yield number, places, of_union[places] - first_row(number)
