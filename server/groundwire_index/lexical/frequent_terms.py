"""The frequent terms of a lexical table: each has its postings and a column with its frequency in every row.

Scanning a column reads memory in order, and looking up a row is one access; in a posting list a row must be searched
for. Columns are memory-mapped like all tables, so all workers share them (docs/adr/0004).
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_index.lexical.postings import Postings
from groundwire_index.store.errors import IndexDamagedError
from groundwire_index.store.files import byte_size, map_array, write_array

ROWS_A_HOLDER = 16
"""A term is frequent if at least one row in this many contains it: scanning its column then costs no more than its
postings."""
LEAST_HOLDERS = 4_096
"""A term in fewer rows than this is never frequent: its postings are short in any case."""
SATURATED = 255
"""The value in a column for this frequency and all larger ones."""


def write_frequent_terms(
    directory: Path,
    name: str,
    postings: Postings,
    frequencies: NDArray[np.int32],
    node_count: int,
    rows_a_holder: float = ROWS_A_HOLDER,
    least_holders: int = LEAST_HOLDERS,
) -> None:
    """Writes the columns of the frequent terms; `frequencies` are in the order of the postings."""
    holders = np.diff(postings.starts)
    frequent = np.flatnonzero(holders >= max(least_holders, node_count / rows_a_holder))
    saturated = np.zeros(node_count, dtype=np.bool_)
    with (directory / f"{name}.frequent.bin").open("wb") as file:
        for position in frequent.tolist():
            span = slice(int(postings.starts[position]), int(postings.starts[position + 1]))
            rows, counts = postings.rows[span], np.minimum(frequencies[span], SATURATED)
            column = np.zeros(node_count, dtype=np.uint8)
            column[rows] = counts
            saturated[rows[counts == SATURATED]] = True
            file.write(column.tobytes())
    write_array(directory / f"{name}.frequent.terms.bin", frequent.astype(np.int32))
    write_array(directory / f"{name}.frequent.saturated.bin", np.flatnonzero(saturated).astype(np.int32))


class FrequentTerms:
    """The mapped columns. `saturated` are the rows, ascending, that contain a frequent term SATURATED times or more."""

    def __init__(self, directory: Path, name: str, node_count: int) -> None:
        """Maps the columns. Raises IndexDamagedError."""
        terms = _map_int32(directory / f"{name}.frequent.terms.bin")
        self.saturated = _map_int32(directory / f"{name}.frequent.saturated.bin")
        if len(self.saturated) and not 0 <= int(self.saturated[0]) <= int(self.saturated[-1]) < node_count:
            raise IndexDamagedError(f"{name}.frequent.saturated.bin: names rows that do not exist")
        self._columns = map_array(directory / f"{name}.frequent.bin", np.uint8, (len(terms), node_count))
        self._numbers = {term: number for number, term in enumerate(terms.tolist())}

    def column(self, term: int) -> NDArray[np.uint8] | None:
        """The frequency in each row [n] of the term at a position; None for a term that is not frequent."""
        number = self._numbers.get(term)
        return None if number is None else self._columns[number]


def _map_int32(path: Path) -> NDArray[np.int32]:
    return map_array(path, np.int32, (byte_size(path) // 4,))
