"""The frequent trigrams of an index's names: each has its postings and a bitmap of the names that contain it.

A bitmap is no larger than the posting list of the same trigram, and adding up bitmaps is much faster than going
through the lists (docs/adr/0004).
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_index.lexical.postings import Postings
from groundwire_index.store.files import byte_size, map_array, write_array

NAMES_A_HOLDER = 32
"""A trigram is frequent if at least one name in this many contains it: its postings (4 bytes each) are then at least as
large as its bitmap."""
LEAST_HOLDERS = 4_096
"""A trigram of fewer names than this is never frequent: its postings are short in any case."""
BLOCK_BYTES = 1 << 15
"""How much of every bitmap is added up at a time, so that the counts stay in the processor's cache."""


def write_frequent_trigrams(
    directory: Path,
    name: str,
    postings: Postings,
    name_count: int,
    names_a_holder: int = NAMES_A_HOLDER,
    least_holders: int = LEAST_HOLDERS,
) -> None:
    """Writes the bitmaps of the frequent trigrams."""
    holders = np.diff(postings.starts)
    frequent = np.flatnonzero(holders >= max(least_holders, name_count / names_a_holder))
    with (directory / f"{name}.frequent.bin").open("wb") as file:
        for position in frequent.tolist():
            holding = np.zeros(name_count, dtype=np.bool_)
            holding[postings.rows[postings.span_at(position)]] = True
            file.write(np.packbits(holding).tobytes())
    write_array(directory / f"{name}.frequent.terms.bin", frequent.astype(np.int32))


class FrequentTrigrams:
    """The mapped bitmaps."""

    def __init__(self, directory: Path, name: str, name_count: int) -> None:
        """Maps the bitmaps. Raises IndexDamagedError."""
        terms_file = directory / f"{name}.frequent.terms.bin"
        terms = map_array(terms_file, np.int32, (byte_size(terms_file) // 4,))
        self._bitmaps = map_array(directory / f"{name}.frequent.bin", np.uint8, (len(terms), (name_count + 7) // 8))
        self._numbers = {term: number for number, term in enumerate(terms.tolist())}

    def bitmap(self, term: int) -> NDArray[np.uint8] | None:
        """The names that contain the trigram at a position, as packed bits; None for a trigram that is not frequent."""
        number = self._numbers.get(term)
        return None if number is None else self._bitmaps[number]


def add_bitmaps(
    counts: NDArray[np.unsignedinteger], bitmaps: Sequence[NDArray[np.uint8]], block_bytes: int = BLOCK_BYTES
) -> None:
    """Adds 1 to a name's count [names] for each bitmap in which the name is set."""
    for start in range(0, (len(counts) + 7) // 8, block_bytes):
        block = counts[start * 8 : (start + block_bytes) * 8]
        for bitmap in bitmaps:
            block += np.unpackbits(bitmap[start : start + block_bytes], count=len(block))
