"""Postings: for every term the rows that hold it. Terms are sorted, and the rows of each term ascend."""

from array import array
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_server.index.files import map_array, write_array
from groundwire_server.index.strings import StringColumn


class PostingsWriter:
    """Collects (term, row) pairs, each once, with ascending rows for each term."""

    def __init__(self) -> None:
        self._vocabulary: dict[str, int] = {}
        # Flat machine integers: a list of pairs would need ten times the memory of a large corpus.
        self._codes, self._rows = array("i"), array("i")

    def add(self, term: str, row: int) -> None:
        """Notes that a row holds a term."""
        self._codes.append(self._vocabulary.setdefault(term, len(self._vocabulary)))
        self._rows.append(row)

    def terms(self) -> list[str]:
        """The distinct terms so far, sorted."""
        return sorted(self._vocabulary)

    def write(self, directory: Path, name: str) -> tuple[int, NDArray[np.int64]]:
        """Writes `<name>.terms` and `<name>.starts.bin`, `<name>.rows.bin`.

        Returns the number of terms, and the order [pairs] in which the pairs stand there, to sort alike what
        belongs to them.
        """
        terms = self.terms()
        ranks = np.empty(len(terms), dtype=np.int32)
        ranks[[self._vocabulary[term] for term in terms]] = np.arange(len(terms), dtype=np.int32)
        ranked = ranks[np.asarray(self._codes, dtype=np.int32)]
        order = np.argsort(ranked, kind="stable")
        starts = np.zeros(len(terms) + 1, dtype=np.int64)
        np.cumsum(np.bincount(ranked, minlength=len(terms)), out=starts[1:])
        StringColumn.write(directory, f"{name}.terms", terms)
        write_array(directory / f"{name}.starts.bin", starts)
        write_array(directory / f"{name}.rows.bin", np.asarray(self._rows, dtype=np.int32)[order])
        return len(terms), order


class Postings:
    """Mapped postings. `terms` are sorted; the rows of the term at a position lie between two of `starts`."""

    def __init__(self, directory: Path, name: str, term_count: int | None = None) -> None:
        """Maps postings, of `term_count` terms if that is known. Raises IndexDamagedError."""
        self.terms = StringColumn.open(directory, f"{name}.terms", term_count)
        self.starts = map_array(directory / f"{name}.starts.bin", np.int64, (len(self.terms) + 1,))
        self.rows = map_array(directory / f"{name}.rows.bin", np.int32, (int(self.starts[-1]),))

    def span(self, term: str) -> slice:
        """Where the term's rows stand; an empty span for an unknown term."""
        position = self.terms.find(term)
        if position is None:
            return slice(0, 0)
        return slice(int(self.starts[position]), int(self.starts[position + 1]))

    def rows_with(self, term: str) -> NDArray[np.int32]:
        """The rows that hold the term, ascending; none for an unknown term."""
        return self.rows[self.span(term)]

    def rows_at(self, positions: NDArray[np.integer]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The rows of the terms at several positions [m], one term after the other.

        Returns rows [r] and for each of them which of the `positions`, 0 to m - 1, it belongs to.
        """
        firsts = self.starts[positions]
        counts = self.starts[np.asarray(positions) + 1] - firsts
        owners = np.repeat(np.arange(len(positions), dtype=np.int64), counts)
        within = np.arange(len(owners), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.rows[firsts[owners] + within], owners
