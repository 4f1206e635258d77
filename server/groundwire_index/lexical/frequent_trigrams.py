"""The frequent trigrams of an index's names: for each a bitmap of the names that hold it, beside its postings.

A bitmap is no larger than the postings that it stands beside, and many are counted up in far less time than as many
lists would take to go through (docs/adr/0015).
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_index.lexical.postings import Postings
from groundwire_index.store.files import byte_size, map_array, write_array

NAMES_A_HOLDER = 32
"""A trigram is frequent when at least one name in this many holds it: then four bytes a holder are a bit a name."""
LEAST_HOLDERS = 4_096
"""Fewer names than this are no burden in any case."""
BLOCK_BYTES = 1 << 15
"""So much of every bitmap is counted at a time: the counts stay in the processor's cache."""


def write_frequent_trigrams(
    directory: Path,
    name: str,
    postings: Postings,
    name_count: int,
    names_a_holder: int = NAMES_A_HOLDER,
    least_holders: int = LEAST_HOLDERS,
) -> None:
    """Writes the bitmaps of the frequent ones among the trigrams."""
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
        """Which names hold the trigram at a position, as packed bits, or None for one that is not frequent."""
        number = self._numbers.get(term)
        return None if number is None else self._bitmaps[number]


def add_bitmaps(
    counts: NDArray[np.unsignedinteger], bitmaps: Sequence[NDArray[np.uint8]], block_bytes: int = BLOCK_BYTES
) -> None:
    """Adds 1 to the count of a name [names] for each bitmap that has it."""
    for start in range(0, (len(counts) + 7) // 8, block_bytes):
        block = counts[start * 8 : (start + block_bytes) * 8]
        for bitmap in bitmaps:
            block += np.unpackbits(bitmap[start : start + block_bytes], count=len(block))
