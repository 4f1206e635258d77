"""The names of an index: the rows of each name, the names of each row, and the names that contain each trigram."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_index.files.durable_files import map_array, write_array
from groundwire_index.files.segment import HeldSegment, Parts, Segment
from groundwire_index.files.spans import positions_of
from groundwire_index.files.string_column import StringColumn
from groundwire_index.lexical.postings import FrequentTerms, Postings, write_frequent
from groundwire_index.lexical.term_runs import vocabulary_parts, write_merged_postings

_BEFORE, _AFTER = "  ", " "
_PADDING = len(_BEFORE + _AFTER)
_MOST_PAIRS = np.iinfo(np.int64).max
"""How many pairs of a trigram and a name have numbers."""


def trigram_parts(name: str, names: Sequence[str]) -> tuple[Parts, NDArray[np.int32]]:
    """The run of the trigrams of names, and how many distinct trigrams each name has [names].

    The parts are those of `TermRun.parts`; the rows are the positions of the names. There is at least one name, none is
    empty, and they are at most as many as `fitting` says.
    """
    characters = _characters(f"{_BEFORE}{node_name}{_AFTER}" for node_name in names)
    alphabet = _alphabet(characters)
    codes_by_character = np.zeros(int(alphabet[-1]) + 1, dtype=np.int64)
    codes_by_character[alphabet] = np.arange(len(alphabet))
    codes = codes_by_character.take(characters)
    trigrams = (codes[:-2] * len(alphabet) + codes[1:-1]) * len(alphabet) + codes[2:]
    # A trigram starts at every character but the last two of each padded name.
    lengths = np.fromiter(map(len, names), dtype=np.int64, count=len(names))
    owners = np.repeat(np.arange(len(names), dtype=np.int64), lengths + _PADDING - 2)
    starts = np.arange(len(owners)) + 2 * owners
    # One number for each pair: sorting numbers takes a tenth of the time of sorting by two columns.
    pairs = np.sort(trigrams[starts] * len(names) + owners)
    terms, owners = np.divmod(pairs[_differs(pairs)], len(names))
    firsts = np.flatnonzero(_differs(terms))
    parts: Parts = {
        **vocabulary_parts(name, _texts(terms[firsts], alphabet)),
        f"{name}.counts": np.diff(firsts, append=len(terms)).astype(np.int32),
        f"{name}.rows": owners.astype(np.int32),
    }
    return parts, np.bincount(owners, minlength=len(names)).astype(np.int32)


def fitting(names: Sequence[str]) -> int:
    """How many of the first names `trigram_parts` takes at once: all, unless they have tens of thousands of letters."""
    count = len(names)
    while count * len(_alphabet(_characters([_BEFORE, *names[:count]]))) ** 3 > _MOST_PAIRS:
        count //= 2
    return count


def _characters(texts: Iterable[str]) -> NDArray[np.uint32]:
    """The code points of texts, one after the other."""
    return np.frombuffer("".join(texts).encode("utf-32-le"), dtype="<u4")


def _alphabet(characters: NDArray[np.uint32]) -> NDArray[np.int64]:
    """The distinct code points, ascending."""
    return np.flatnonzero(np.bincount(characters))


def _differs(values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of sorted values [m] differ from the one before them."""
    return np.concatenate(([True], values[1:] != values[:-1]))


def _texts(trigrams: NDArray[np.int64], alphabet: NDArray[np.int64]) -> list[str]:
    """Trigrams as texts; each is a number whose three digits are places in the alphabet."""
    pairs, last = np.divmod(trigrams, len(alphabet))
    characters = alphabet[np.stack((*np.divmod(pairs, len(alphabet)), last), axis=1)]
    return ["".join(map(chr, trigram)) for trigram in characters.tolist()]


NAMES = "names"
"""The name of this table in a segment and in an index."""
_TRIGRAMS = "trigrams"
_SIZES_FILE = "names.sizes.bin"
_OF_ROWS_FILE = "names.of_rows.bin"
_OF_ROWS_STARTS_FILE = "names.of_rows.starts.bin"
NAMES_A_RUN = 1 << 15
"""Names whose trigrams are sorted at once: some 60 MB. More runs take longer to merge."""
NAMES_A_HOLDER = 32
"""A trigram is frequent if at least one name in this many contains it: its postings (4 bytes each) are then at least as
large as its bitmap."""
LEAST_HOLDERS = 4_096
"""A trigram of fewer names than this is never frequent: its postings are short in any case."""
BLOCK_BYTES = 1 << 15
"""How much of every bitmap is added up at a time, so that the counts stay in the processor's cache."""


def write_names(directory: Path, segments: Sequence[Segment], scratch: Path, names_a_run: int = NAMES_A_RUN) -> None:
    """Writes the names of all rows and the trigrams of all names; `scratch` is a folder for intermediate runs."""
    write_merged_postings(directory, NAMES, segments)
    bearers = Postings(directory, NAMES)
    _write_names_of_rows(directory, bearers, sum(segment.row_count for segment in segments))
    names = bearers.terms
    sizes = [np.zeros(0, dtype=np.int32)]
    runs: list[Segment] = []
    start = 0
    while start < len(names):
        block = [names[position] for position in range(start, min(start + names_a_run, len(names)))]
        block = block[: fitting(block)]
        parts, held = trigram_parts(_TRIGRAMS, block)
        sizes.append(held)
        runs.append(HeldSegment(start, len(block), parts).spill(scratch / f"{_TRIGRAMS}.{start}"))
        start += len(block)
    write_merged_postings(directory, _TRIGRAMS, runs)
    write_frequent_trigrams(directory, len(names))
    write_array(directory / _SIZES_FILE, np.concatenate(sizes))


def write_frequent_trigrams(
    directory: Path, name_count: int, names_a_holder: int = NAMES_A_HOLDER, least_holders: int = LEAST_HOLDERS
) -> None:
    """Writes the bitmaps of the frequent trigrams."""
    postings = Postings(directory, _TRIGRAMS)

    def bitmap_of(span: slice) -> NDArray[np.uint8]:
        holding = np.zeros(name_count, dtype=np.bool_)
        holding[postings.rows[span]] = True
        return np.packbits(holding)

    write_frequent(directory, _TRIGRAMS, postings, max(least_holders, name_count / names_a_holder), bitmap_of)


class NameTable:
    """The mapped names of an index. A name is identified by its position among the sorted distinct names.

    `sizes` [names] is the number of distinct trigrams of each.
    """

    def __init__(self, directory: Path) -> None:
        """Maps the names. Raises IndexDamagedError."""
        self._bearers = Postings(directory, NAMES)
        self._holders = Postings(directory, _TRIGRAMS)
        self._bitmaps = FrequentTerms(directory, _TRIGRAMS, (len(self._bearers.terms) + 7) // 8)
        self.sizes = map_array(directory / _SIZES_FILE, np.int32, (len(self._bearers.terms),))
        self._starts_of_rows = map_array(directory / _OF_ROWS_STARTS_FILE, np.int64, (None,), least=1)
        self._of_rows = map_array(directory / _OF_ROWS_FILE, np.int32, (int(self._starts_of_rows[-1]),))

    @property
    def names(self) -> StringColumn:
        """The distinct names."""
        return self._bearers.terms

    @property
    def trigrams(self) -> StringColumn:
        """The distinct trigrams of all names."""
        return self._holders.terms

    def shared(self, trigrams: Collection[str]) -> NDArray[np.unsignedinteger]:
        """How many of the given distinct trigrams each name contains [names]."""
        counts = np.zeros(len(self.sizes), dtype=np.min_scalar_type(len(trigrams)))
        bitmaps: list[NDArray[np.uint8]] = []
        for term in map(self._holders.terms.find, trigrams):
            bitmap = None if term is None else self._bitmaps.of(term)
            if bitmap is not None:
                bitmaps.append(bitmap)
            elif term is not None:
                counts[self._holders.rows[self._holders.span_at(term)]] += 1
        add_bitmaps(counts, bitmaps)
        return counts

    def rows_of(self, positions: NDArray[np.integer]) -> NDArray[np.int32]:
        """The rows of the names at positions [m], name by name, ascending for each name."""
        return self._bearers.rows.take(positions_of(self._bearers.starts, positions)[0])

    def of_rows(self, rows: NDArray[np.integer]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The positions of the names of rows [m], row by row, and how many names each row has [m]."""
        positions, counts = positions_of(self._starts_of_rows, rows)
        return self._of_rows.take(positions), counts


def add_bitmaps(
    counts: NDArray[np.unsignedinteger], bitmaps: Sequence[NDArray[np.uint8]], block_bytes: int = BLOCK_BYTES
) -> None:
    """Adds 1 to a name's count [names] for each bitmap in which the name is set."""
    for start in range(0, (len(counts) + 7) // 8, block_bytes):
        block = counts[start * 8 : (start + block_bytes) * 8]
        for bitmap in bitmaps:
            block += np.unpackbits(bitmap[start : start + block_bytes], count=len(block))


def _write_names_of_rows(directory: Path, bearers: Postings, node_count: int) -> None:
    """Writes the names of each row: the inverse of `bearers`, which has the rows of each name."""
    positions = np.repeat(np.arange(len(bearers.terms), dtype=np.int32), np.diff(bearers.starts))
    starts = np.zeros(node_count + 1, dtype=np.int64)
    np.cumsum(np.bincount(bearers.rows, minlength=node_count), out=starts[1:])
    write_array(directory / _OF_ROWS_FILE, positions[np.argsort(bearers.rows, kind="stable")])
    write_array(directory / _OF_ROWS_STARTS_FILE, starts)
