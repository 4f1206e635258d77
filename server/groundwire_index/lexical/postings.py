"""Postings: for every term the rows that contain it. Terms are sorted, and so are the rows of each term.

A frequent term also has an array over all rows, which is no larger than its postings and much faster to go through.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_index.files.durable_files import map_array, write_array
from groundwire_index.files.string_column import StringColumn


class Postings:
    """Mapped postings. `terms` are sorted; `rows[starts[p]:starts[p + 1]]` are the rows of the term at position `p`."""

    def __init__(self, directory: Path, name: str, term_count: int | None = None) -> None:
        """Maps postings; `term_count` is checked if it is given. Raises IndexDamagedError."""
        self.terms = StringColumn.open(directory, f"{name}.terms", term_count)
        self.starts = map_array(directory / f"{name}.starts.bin", np.int64, (len(self.terms) + 1,))
        self.rows = map_array(directory / f"{name}.rows.bin", np.int32, (int(self.starts[-1]),))

    def span_at(self, position: int) -> slice:
        """Where the rows of the term at a position are in `rows`."""
        return slice(int(self.starts[position]), int(self.starts[position + 1]))

    def rows_with(self, term: str) -> NDArray[np.int32]:
        """The rows that contain the term, ascending; none for an unknown term."""
        position = self.terms.find(term)
        return self.rows[:0] if position is None else self.rows[self.span_at(position)]

    def rows_of(self, positions: range) -> NDArray[np.int32]:
        """The rows of the terms at consecutive positions, term by term."""
        return self.rows[int(self.starts[positions.start]) : int(self.starts[positions.stop])]

    def terms_of(
        self, groups: NDArray[np.integer], first: int, end: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """The other way round: the terms that the rows hold whose group is from `first` up to `end`.

        `groups` [n] has the group of each row. Gives, for each pair of a term and a row of these groups, ascending by
        (group, row, term), the row [pairs], the term [pairs] and the place among `rows` [pairs]. Reads all postings.
        """
        of_rows = groups.take(self.rows)
        held = np.flatnonzero((of_rows >= first) & (of_rows < end))
        rows = self.rows.take(held)
        order = np.lexsort((rows, of_rows.take(held)))
        places = held.take(order)
        return rows.take(order), np.searchsorted(self.starts, places, side="right") - 1, places


def write_frequent(
    directory: Path, name: str, postings: Postings, holders: float, array_of: Callable[[slice], NDArray[np.uint8]]
) -> None:
    """Writes the arrays of terms that `holders` rows or more hold; `array_of` makes one by the span of a term."""
    frequent = np.flatnonzero(np.diff(postings.starts) >= holders)
    with (directory / f"{name}.frequent.bin").open("wb") as file:
        for position in frequent.tolist():
            file.write(array_of(postings.span_at(position)).tobytes())
    write_array(directory / f"{name}.frequent.terms.bin", frequent.astype(np.int32))


class FrequentTerms:
    """The mapped arrays of the frequent terms, each of `size` bytes."""

    def __init__(self, directory: Path, name: str, size: int) -> None:
        """Maps the arrays. Raises IndexDamagedError."""
        terms = map_array(directory / f"{name}.frequent.terms.bin", np.int32, (None,))
        self._arrays = map_array(directory / f"{name}.frequent.bin", np.uint8, (len(terms), size))
        self._numbers = {term: number for number, term in enumerate(terms.tolist())}

    def of(self, term: int) -> NDArray[np.uint8] | None:
        """The array [size] of the term at a position; None for a term that is not frequent."""
        number = self._numbers.get(term)
        return None if number is None else self._arrays[number]
