"""Semantic search over the rows a caller may see: exact as long as that is affordable, else approximate and said to be.

Codes propose, one fixed routine decides. Every row that could belong to the result is scored by itself in double
precision, and only that score counts; so neither the path nor the order in which sums are formed shows in a score.

What it costs to look at v visible rows of an index of n, in ms on one core with 384 dimensions (by `python -m bench
paths`):

- each row's own score:  0.0007 v
- bytes that rule rows out for certain:  0.00002 v in one piece to 0.00008 v far apart
- signs that tell likely rows, then bytes:  0.003 n / 1,000 + 0.5

The first is used up to `direct_rows`, the second up to `exact_rows`, where the third begins to win. The limits are
compared with the number of visible rows, so the path says nothing of rows that a caller may not see.

An approximate result is made in bands, so that fewer hits are a prefix of more. The first hits are the best of as
many likely rows as the first band is wide. What follows is the best of the next band's rows that comes after them,
and beyond the last band of all rows. A row that a band has missed is missing from wider results as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from groundwire_index.vectors.quantised_query import BoundedRows, QuantisedQuery, quantised
from groundwire_index.vectors.vectors import VectorTable
from groundwire_server.backends.shared.scoring import NO_ROWS, RankedRows, top_rows
from groundwire_server.domain.query.diversity import cosines

_ROWS_A_BLOCK = 256


@dataclass(frozen=True, slots=True)
class Band:
    """Hits up to the `hits`th come from the `width` likeliest rows."""

    hits: int
    width: int


@dataclass(frozen=True, slots=True)
class PathLimits:
    """How many visible rows each path is used for. Bands ascend; the first is wider than the last has hits."""

    direct_rows: int
    exact_rows: int
    bands: tuple[Band, ...]


MEASURED = PathLimits(
    direct_rows=256,
    exact_rows=50_000,
    bands=(Band(16, 8_192), Band(128, 16_384), Band(1_024, 65_536)),
)


@dataclass(frozen=True, slots=True)
class Nearest:
    """The most similar rows, best first. `exact` is False when a nearer row may have been missed."""

    hits: RankedRows
    exact: bool


def rank_by_similarity(
    vectors: VectorTable,
    query: NDArray[np.float64],
    allowed: NDArray[np.bool_],
    count: int,
    limits: PathLimits = MEASURED,
) -> Nearest:
    """The `count` allowed rows of highest cosine similarity to a unit query [dimension]; `allowed` is a mask [n]."""
    mask = allowed if vectors.complete else allowed & vectors.present
    visible = int(np.count_nonzero(mask))
    search = _Search(vectors, query)
    if visible > limits.exact_rows:
        return Nearest(search.in_bands(mask, visible, count, limits.bands), exact=False)
    rows = np.flatnonzero(mask)
    if visible > limits.direct_rows:
        return Nearest(search.best(search.bounded(rows), count), exact=True)
    return Nearest(top_rows(rows, similarities(vectors, rows, query), count), exact=True)


def similarities(vectors: VectorTable, rows: NDArray[np.int64], query: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosine similarity of each row [m] to a unit query, in double precision."""
    found = np.empty(len(rows), dtype=np.float64)
    for start in range(0, len(rows), _ROWS_A_BLOCK):
        block = slice(start, start + _ROWS_A_BLOCK)
        found[block] = cosines(vectors.rows[rows[block]].astype(np.float64), query)
    return found


class _Search:
    """One query over the vectors of an index with the help of their codes."""

    def __init__(self, vectors: VectorTable, query: NDArray[np.float64]) -> None:
        self._vectors = vectors
        self._query = query

    @cached_property
    def _quantised(self) -> QuantisedQuery:
        """Made when codes are first asked."""
        return quantised(self._query)

    def bounded(self, rows: NDArray[np.int64]) -> BoundedRows:
        """Rows [m] with bounds of their similarities."""
        return self._quantised.bounded(self._vectors.codes, rows)

    def best(self, bounded: BoundedRows, count: int, after: RankedRows = NO_ROWS) -> RankedRows:
        """The exact best `count` of some rows, or of those of them that come after the last of others."""
        rows = bounded.possible(count, after.scores[-1] if len(after) else np.inf)
        scores = similarities(self._vectors, rows, self._query)
        if len(after):
            last_row, last_score = after.rows[-1], after.scores[-1]
            later = (scores < last_score) | ((scores == last_score) & (rows > last_row))
            rows, scores = rows[later], scores[later]
        return top_rows(rows, scores, count)

    def in_bands(self, mask: NDArray[np.bool_], visible: int, count: int, bands: Sequence[Band]) -> RankedRows:
        """The approximate best `count` of the rows of a mask [n], of which there are `visible`."""
        deep_enough = [place for place, band in enumerate(bands, start=1) if band.hits >= count]
        used = bands[: deep_enough[0]] if deep_enough else bands
        rows, agreements = self._quantised.likely(self._vectors.codes, mask, visible, used[-1].width)
        bounded = self.bounded(rows)
        hits = NO_ROWS
        for band in used:
            likeliest = bounded.among(agreements >= _last_of(agreements, band.width))
            hits = hits.followed_by(self.best(likeliest, min(count, band.hits) - len(hits), hits))
        if len(hits) < count:
            hits = hits.followed_by(self.best(self.bounded(np.flatnonzero(mask)), count - len(hits), hits))
        return hits


def _last_of(agreements: NDArray[np.int32], width: int) -> int:
    """The agreement of the last of the `width` rows that agree most; 0, the least, if there are fewer rows."""
    place = len(agreements) - width
    return int(np.partition(agreements, place)[place]) if place >= 0 else 0
