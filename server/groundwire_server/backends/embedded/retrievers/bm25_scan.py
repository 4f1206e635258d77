"""Which documents could be among the best of a BM25 query: a superset, found in single precision.

Rare terms are added up from their postings. Frequent ones are scanned by their columns, while they could still lift a
document without any earlier term into the result. When the remaining weights together are below the score that the
result demands so far, they are read only for documents that are still in question (MaxScore; Turtle and Flood 1995).
Documents that are left out are below the demanded score by more than the error of single precision.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_index.lexical.lexical import K1, B, LexicalTable, TermPostings

Rows = NDArray[np.int64]
Singles = NDArray[np.float32]
Piece = slice | Rows
"""Some rows of the table: neighbours, or any, ascending."""


@dataclass(frozen=True, slots=True)
class ScanLimits:
    """How rows are gone through.

    `piece_rows` are scanned at a time: their numbers stay in the processor's cache. When at most one row in
    `gather_share` may be in the result, these are gathered; else all are scanned.
    """

    piece_rows: int = 32_768
    gather_share: int = 6


LIMITS = ScanLimits()


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """A term of a query; `weight`, above 0, is more than it can add to the score of any document."""

    postings: TermPostings
    weight: float


def possible_best(
    lexical: LexicalTable,
    terms: Sequence[WeightedTerm],
    mean_length: float,
    allowed: NDArray[np.bool_],
    count: int,
    limits: ScanLimits = LIMITS,
) -> Rows:
    """Rows, ascending, with the `count` allowed ones of highest score among them; `allowed` is a mask [n]."""
    best = _Best(count, len(terms))
    scan = _Scan(lexical.lengths, terms, mean_length, allowed, limits)
    leaders = scan.leaders(count)
    if len(leaders):
        best.demand(scan.completed(leaders))
    for piece in scan.pieces(best):
        best.add(*scan.scored(piece, best))
    # A column has lower frequencies for these than the real ones.
    unclear = lexical.saturated[allowed.take(lexical.saturated)]
    return np.union1d(best.rows, unclear).astype(np.int64) if len(unclear) else best.rows


class _Best:
    """The rows found so far that could be among the best `count`, and the score `demanded` of such a row."""

    def __init__(self, count: int, term_count: int) -> None:
        self._count = count
        # A sum of t terms is off by at most t + 10 roundings of half an epsilon each; two scores are compared.
        self._certain = 1.0 - (term_count + 16) * float(np.finfo(np.float32).eps)
        self.demanded = 0.0
        self.rows: Rows = np.empty(0, dtype=np.int64)
        self._scores: Singles = np.empty(0, dtype=np.float32)

    def demand(self, scores: Singles) -> None:
        """Demands what `count` rows are known to reach: the scores are of as many distinct rows or more."""
        lowest = np.partition(scores, len(scores) - self._count)[len(scores) - self._count]
        self.demanded = max(self.demanded, float(lowest) * self._certain)

    def add(self, rows: Rows, scores: Singles) -> None:
        """Adds rows that were not added before, with their scores, and drops those that are out of the question."""
        self.rows, self._scores = np.concatenate((self.rows, rows)), np.concatenate((self._scores, scores))
        if len(self.rows) > self._count:
            self.demand(self._scores)
            kept = self._scores >= self.demanded
            self.rows, self._scores = self.rows[kept], self._scores[kept]


class _Scan:
    """The scores of one query in single precision."""

    def __init__(
        self,
        lengths: NDArray[np.int32],
        terms: Sequence[WeightedTerm],
        mean_length: float,
        allowed: NDArray[np.bool_],
        limits: ScanLimits,
    ) -> None:
        self._limits = limits
        self._lengths = lengths
        self._mean_length = mean_length
        self._allowed = allowed
        self._allowed_count = int(np.count_nonzero(allowed))
        columns = [(term.postings.column, term.weight) for term in terms if term.postings.column is not None]
        self._columns = sorted(columns, key=lambda column: -column[1])
        weights = [weight for _, weight in self._columns]
        self._weights_from = [sum(weights[place:]) for place in range(len(weights) + 1)]
        self._by_rare_terms: Singles = np.zeros(len(allowed), dtype=np.float32)
        self._rare_rows = [self._scatter(term) for term in terms if term.postings.column is None]

    def leaders(self, count: int) -> NDArray[np.int32]:
        """At least `count` rows that promise high scores: the best holders of one rare term; none without such."""
        leaders, highest = np.empty(0, dtype=np.int32), 0.0
        for rows in self._rare_rows:
            if len(rows) >= count:
                scores = self._by_rare_terms.take(rows)
                lowest = np.partition(scores, len(scores) - count)[len(scores) - count]
                if lowest > highest:
                    leaders, highest = rows[scores >= lowest], lowest
        return leaders

    def completed(self, rows: NDArray[np.integer]) -> Singles:
        """The scores of rows [m]."""
        scores, norms = self._by_rare_terms.take(rows), self._norms(rows)
        for column, weight in self._columns:
            scores += _contribution(column.take(rows), weight, norms)
        return scores

    def pieces(self, best: _Best) -> Iterator[Piece]:
        """The allowed rows that could be among the best, piece by piece."""
        size, piece_rows = len(self._allowed), self._limits.piece_rows
        if not self._scanned(best.demanded):
            yield from _cut(np.flatnonzero(self._promising(self._by_rare_terms, 0, best)), piece_rows)
        elif self._allowed_count * self._limits.gather_share <= size:
            yield from _cut(np.flatnonzero(self._allowed), piece_rows)
        else:
            yield from (slice(start, min(start + piece_rows, size)) for start in range(0, size, piece_rows))

    def scored(self, piece: Piece, best: _Best) -> tuple[Rows, Singles]:
        """Those of the rows that could be among the best, with their scores."""
        scanned = self._scanned(best.demanded)
        scores, norms = np.array(self._by_rare_terms[piece]), self._norms(piece)
        for column, weight in self._columns[:scanned]:
            scores += _contribution(column[piece], weight, norms)
        if isinstance(piece, slice) and self._allowed_count < len(self._allowed):
            scores *= self._allowed[piece]
        places = np.flatnonzero(self._promising(scores, scanned, best))
        scores, norms = scores.take(places), norms.take(places)
        rows = places + piece.start if isinstance(piece, slice) else piece.take(places)
        for column, weight in self._columns[scanned:]:
            scores += _contribution(column.take(rows), weight, norms)
        return rows, scores

    def _promising(self, scores: Singles, scanned: int, best: _Best) -> NDArray[np.bool_]:
        """True if each score [m], by rare terms and `scanned` columns, can still become one of the best."""
        needed = best.demanded - self._weights_from[scanned]
        return scores >= needed if needed > 0 else scores > 0

    def _scanned(self, demanded: float) -> int:
        """How many columns, the weightiest first, are scanned: the others alone lift no document to the demand."""
        return next((place for place, rest in enumerate(self._weights_from) if rest < demanded), len(self._columns))

    def _scatter(self, term: WeightedTerm) -> NDArray[np.int32]:
        """Adds what a term without a column gives to the scores of the allowed rows that hold it; returns these."""
        rows, frequencies = term.postings.rows, term.postings.frequencies
        if self._allowed_count < len(self._allowed):
            kept = np.flatnonzero(self._allowed.take(rows))
            rows, frequencies = rows.take(kept), frequencies.take(kept)
        self._by_rare_terms[rows] += _contribution(frequencies, term.weight, self._norms(rows))
        return rows

    def _norms(self, rows: slice | NDArray[np.integer]) -> Singles:
        """BM25's length normalisation: what is added to a frequency to divide by."""
        norms = self._lengths[rows].astype(np.float32)
        norms *= np.float32(K1 * B / self._mean_length)
        norms += np.float32(K1 * (1.0 - B))
        return norms


def _contribution(frequencies: NDArray[np.integer], weight: float, norms: Singles) -> Singles:
    """The addition of a term to the scores of documents [m], by its frequency in them."""
    added = frequencies.astype(np.float32)
    added /= added + norms
    added *= np.float32(weight)
    return added


def _cut(rows: Rows, piece_rows: int) -> Iterator[Rows]:
    return (rows[start : start + piece_rows] for start in range(0, len(rows), piece_rows))
