"""BM25 artifacts: term frequencies by term, and document lengths. No statistic of the whole index is stored.

Document frequencies and the mean length are those of the documents a caller may see, so they are computed at
query time from these raw counts (design §1.2); the impact scores that BM25 libraries store would hold hidden ones.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_server.index.files import map_array, write_array
from groundwire_server.index.strings import StringColumn


def write_lexical(directory: Path, documents: Iterable[Sequence[str]]) -> tuple[int, int]:
    """Writes the postings of tokenised documents, one a row; returns the counts of terms and of postings."""
    vocabulary: dict[str, int] = {}
    # Flat machine integers: a list of pairs would need ten times the memory of a large corpus.
    codes, rows, frequencies, lengths = array("i"), array("i"), array("i"), array("i")
    for row, tokens in enumerate(documents):
        lengths.append(len(tokens))
        for term, frequency in Counter(tokens).items():
            codes.append(vocabulary.setdefault(term, len(vocabulary)))
            rows.append(row)
            frequencies.append(frequency)
    terms = sorted(vocabulary)
    ranks = np.empty(len(terms), dtype=np.int32)
    ranks[[vocabulary[term] for term in terms]] = np.arange(len(terms), dtype=np.int32)
    ranked = ranks[np.asarray(codes, dtype=np.int32)]
    order = np.argsort(ranked, kind="stable")
    starts = np.zeros(len(terms) + 1, dtype=np.int64)
    np.cumsum(np.bincount(ranked, minlength=len(terms)), out=starts[1:])
    StringColumn.write(directory, "terms", terms)
    write_array(directory / "postings.starts.bin", starts)
    write_array(directory / "postings.rows.bin", np.asarray(rows, dtype=np.int32)[order])
    write_array(directory / "postings.frequencies.bin", np.asarray(frequencies, dtype=np.int32)[order])
    write_array(directory / "lengths.bin", np.asarray(lengths, dtype=np.int32))
    return len(terms), len(order)


class LexicalTable:
    """The mapped BM25 artifacts of an index."""

    def __init__(self, directory: Path, node_count: int, term_count: int, posting_count: int) -> None:
        """Maps the postings. Raises IndexDamagedError."""
        self._terms = StringColumn.open(directory, "terms", term_count)
        self._starts = map_array(directory / "postings.starts.bin", np.int64, (term_count + 1,))
        self._rows = map_array(directory / "postings.rows.bin", np.int32, (posting_count,))
        self._frequencies = map_array(directory / "postings.frequencies.bin", np.int32, (posting_count,))
        self.lengths = map_array(directory / "lengths.bin", np.int32, (node_count,))

    def postings(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The rows that hold the term, ascending, and how often each does; both empty for an unknown term."""
        position = self._terms.find(term)
        span = slice(0, 0) if position is None else slice(int(self._starts[position]), int(self._starts[position + 1]))
        return self._rows[span], self._frequencies[span]
