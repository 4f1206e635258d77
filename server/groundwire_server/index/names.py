"""The names of an index: which rows bear each, and which names hold each trigram."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_server.index.files import map_array, write_array
from groundwire_server.index.postings import Postings, PostingsWriter
from groundwire_server.index.strings import StringColumn
from groundwire_server.text.names import trigrams

_NAMES = "names"
_TRIGRAMS = "trigrams"
_SIZES_FILE = "names.sizes.bin"


def write_names(directory: Path, names: Iterable[Sequence[str]]) -> None:
    """Writes the distinct normalised names of every row, in row order."""
    bearers = PostingsWriter()
    for row, names_of_row in enumerate(names):
        for name in names_of_row:
            bearers.add(name, row)
    bearers.write(directory, _NAMES)
    holders = PostingsWriter()
    sizes: list[int] = []
    for position, name in enumerate(bearers.terms()):
        held = sorted(trigrams(name))
        sizes.append(len(held))
        for trigram in held:
            holders.add(trigram, position)
    holders.write(directory, _TRIGRAMS)
    write_array(directory / _SIZES_FILE, np.asarray(sizes, dtype=np.int32))


class NameTable:
    """The mapped names of an index. A name is known by its position among the distinct names, which are sorted.

    `sizes` [names] is the number of distinct trigrams of each.
    """

    def __init__(self, directory: Path) -> None:
        """Maps the names. Raises IndexDamagedError."""
        self._bearers = Postings(directory, _NAMES)
        self._holders = Postings(directory, _TRIGRAMS)
        self.sizes = map_array(directory / _SIZES_FILE, np.int32, (len(self._bearers.terms),))

    @property
    def names(self) -> StringColumn:
        """The distinct names."""
        return self._bearers.terms

    def holding(self, trigram: str) -> NDArray[np.int32]:
        """The positions, ascending, of the names that hold the trigram."""
        return self._holders.rows_with(trigram)

    def rows_of(self, positions: NDArray[np.integer]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The rows that bear the names at several positions [m], ascending for each.

        Returns rows [r] and for each of them which of the `positions`, 0 to m - 1, it bears.
        """
        return self._bearers.rows_at(positions)
