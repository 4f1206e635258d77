"""The tables of BM25: term frequencies by term, and document lengths. No statistic of the whole index is stored.

Document frequencies and the mean length are those of the documents that a caller may see, so they are computed from
these raw counts at query time. The impact scores that BM25 libraries store would include hidden documents.
"""

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from groundwire_index.files.durable_files import map_array, write_array
from groundwire_index.files.segment import Parts, Segment, whole_column
from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.lexical.postings import FrequentTerms, Postings, write_frequent
from groundwire_index.lexical.term_runs import TermRun, write_merged_postings

K1: Final = 1.5
B: Final = 0.75
"""The parameters of BM25, which scoring and what an index stores for it share.

A term that a document holds `f` times weighs `f / (f + K1 * (1 - B + B * length / mean length))` of its idf.
"""
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
    saturated = np.zeros(node_count, dtype=np.bool_)

    def column_of(span: slice) -> NDArray[np.uint8]:
        rows, counts = postings.rows[span], np.minimum(frequencies[span], SATURATED)
        column = np.zeros(node_count, dtype=np.uint8)
        column[rows] = counts
        saturated[rows[counts == SATURATED]] = True
        return column

    write_frequent(directory, name, postings, max(least_holders, node_count / rows_a_holder), column_of)
    write_array(directory / f"{name}.frequent.saturated.bin", np.flatnonzero(saturated).astype(np.int32))


CODE = "code"
PROSE = "prose"
"""The names of an index's two lexical tables; their files start with them."""


class LexicalRun:
    """Collects the tokens of one row after another."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._run = TermRun()
        self._frequencies, self._lengths = array("i"), array("i")

    def add(self, tokens: Sequence[str]) -> None:
        """Adds the tokens of the next row."""
        counts = Counter(tokens)
        self._run.add(counts)
        self._frequencies.extend(counts.values())
        self._lengths.append(len(tokens))

    def parts(self) -> Parts:
        """The table as parts of a segment."""
        parts = self._run.parts(self._name, self._frequencies)
        return {**parts, f"{self._name}.lengths": np.asarray(self._lengths, dtype=np.int32)}


def write_lexical(directory: Path, name: str, segments: Sequence[Segment]) -> tuple[int, int]:
    """Writes the table of all rows; returns the counts of terms and of postings."""
    term_count, pair_count = write_merged_postings(directory, name, segments, frequencies=True)
    write_array(directory / f"{name}.lengths.bin", lengths := whole_column(segments, f"{name}.lengths"))
    frequencies = map_array(directory / f"{name}.frequencies.bin", np.int32, (pair_count,))
    write_frequent_terms(directory, name, Postings(directory, name, term_count), frequencies, len(lengths))
    return term_count, pair_count


@dataclass(frozen=True, slots=True)
class TermPostings:
    """The rows that contain a term, ascending, with the frequency in each; none for an unknown term.

    A frequent term also has a column: its frequency in every row [n], at most SATURATED.
    """

    rows: NDArray[np.int32]
    frequencies: NDArray[np.int32]
    column: NDArray[np.uint8] | None

    def frequencies_at(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The term's frequency in each of rows [m]; 0 where it does not occur."""
        if self.column is None:
            return self._looked_up(rows)
        frequencies = self.column.take(rows).astype(np.float64)
        saturated = np.flatnonzero(frequencies == SATURATED)
        if len(saturated):
            frequencies[saturated] = self._looked_up(rows[saturated])
        return frequencies

    def _looked_up(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        if not len(self.rows):
            return np.zeros(len(rows), dtype=np.float64)
        # As 32 bits: with 64-bit rows, searchsorted would first copy the whole list to 64 bits.
        places = np.minimum(np.searchsorted(self.rows, rows.astype(np.int32)), len(self.rows) - 1)
        return np.where(self.rows.take(places) == rows, self.frequencies.take(places), 0).astype(np.float64)


class LexicalTable:
    """The mapped BM25 tables of one tokeniser. `lengths` [n] are the documents' lengths in tokens.

    `by_term` has the rows of each term, `frequencies` how often each of them holds it. `saturated` are the rows,
    ascending, in which a frequent term occurs SATURATED times or more.
    """

    def __init__(self, directory: Path, name: str, node_count: int, term_count: int, posting_count: int) -> None:
        """Maps the table. Raises IndexDamagedError."""
        self.by_term = Postings(directory, name, term_count)
        self.frequencies = map_array(directory / f"{name}.frequencies.bin", np.int32, (posting_count,))
        self._columns = FrequentTerms(directory, name, node_count)
        self.lengths = map_array(directory / f"{name}.lengths.bin", np.int32, (node_count,))
        self.saturated = map_array(directory / f"{name}.frequent.saturated.bin", np.int32, (None,))
        if len(self.saturated) and not 0 <= int(self.saturated[0]) <= int(self.saturated[-1]) < node_count:
            raise IndexDamagedError(f"{name}.frequent.saturated.bin: names rows that do not exist")

    def postings(self, term: str) -> TermPostings:
        """The postings of a term."""
        position = self.by_term.terms.find(term)
        if position is None:
            return TermPostings(self.by_term.rows[:0], self.frequencies[:0], None)
        span = self.by_term.span_at(position)
        return TermPostings(self.by_term.rows[span], self.frequencies[span], self._columns.of(position))
