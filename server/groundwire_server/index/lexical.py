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
from groundwire_server.index.postings import Postings, PostingsWriter

CODE = "code"
PROSE = "prose"
"""The names of an index's two lexical tables: what their files start with."""


def write_lexical(directory: Path, name: str, documents: Iterable[Sequence[str]]) -> tuple[int, int]:
    """Writes the table of tokenised documents, one a row; returns the counts of terms and of postings.

    Of the documents only one at a time is held.
    """
    postings = PostingsWriter()
    frequencies, lengths = array("i"), array("i")
    for row, tokens in enumerate(documents):
        lengths.append(len(tokens))
        for term, frequency in Counter(tokens).items():
            postings.add(term, row)
            frequencies.append(frequency)
    term_count, order = postings.write(directory, name)
    write_array(directory / f"{name}.frequencies.bin", np.asarray(frequencies, dtype=np.int32)[order])
    write_array(directory / f"{name}.lengths.bin", np.asarray(lengths, dtype=np.int32))
    return term_count, len(order)


class LexicalTable:
    """The mapped BM25 artifacts of one tokeniser. `lengths` [n] are the documents' lengths in tokens."""

    def __init__(self, directory: Path, name: str, node_count: int, term_count: int, posting_count: int) -> None:
        """Maps the table. Raises IndexDamagedError."""
        self._postings = Postings(directory, name, term_count)
        self._frequencies = map_array(directory / f"{name}.frequencies.bin", np.int32, (posting_count,))
        self.lengths = map_array(directory / f"{name}.lengths.bin", np.int32, (node_count,))

    def postings(self, term: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The rows that hold the term, ascending, and how often each does; both empty for an unknown term."""
        span = self._postings.span(term)
        return self._postings.rows[span], self._frequencies[span]
