"""Semantic search over the rows a caller may see: exact as long as that is affordable, else approximate and said to be.

FAISS proposes rows by their codes, and one fixed routine decides. Every row that could belong to the result is scored
by itself in double precision, and only that score counts. So neither the path, nor the order of sums, nor the
processor shows in a score.

The cost of looking at v visible rows of an index of n, in ms on one core with 384 dimensions (measured for ADR 59):

- each row's own score:  0.0001 v in one piece to 0.0002 v far apart
- bytes, with a bound of all other rows:  0.006 n / 1,000 + 0.00008 v in one piece to 0.00018 v far apart
- signs that tell likely rows:  0.04 v / 1,000 + 5

The first is used up to `direct_rows`, the second up to `exact_rows`, where the third begins to win. The limits are
compared with the number of visible rows, so the path depends on no rows that a caller may not see.

An approximate result is made in bands, so that fewer hits are a prefix of more. The first hits are the best of the
likely rows of the first band. They are followed by the best of the next band's rows that come after them, and beyond
the last band by the best of all rows. A row that a band has missed is missing from wider results as well.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_index.vectors.code_search import ByteSearch, SignSearch
from groundwire_index.vectors.vector_file import VectorTable
from groundwire_server.backends.shared.listing import Listing, Proposal, rounding_error
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
    direct_rows=4_096, exact_rows=50_000, bands=(Band(16, 4_096), Band(128, 8_192), Band(1_024, 32_768))
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
    search = _Search(vectors, query, mask, visible)
    if visible > limits.exact_rows:
        return Nearest(search.in_bands(count, limits.bands), exact=False)
    if visible > limits.direct_rows:
        return Nearest(search.by_bytes(count), exact=True)
    return Nearest(search.best(np.flatnonzero(mask), count), exact=True)


def similarities(vectors: VectorTable, rows: NDArray[np.int64], query: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosine similarity of each row [m] to a unit query, in double precision."""
    cosine_similarities = np.empty(len(rows), dtype=np.float64)
    for block in _blocks(rows):
        cosine_similarities[block] = cosines(vectors.rows[rows[block]].astype(np.float64), query)
    return cosine_similarities


def _blocks(rows: NDArray[np.int64]) -> Iterator[slice]:
    """Slices of rows [m] that the cache holds the vectors of."""
    return (slice(start, start + _ROWS_A_BLOCK) for start in range(0, len(rows), _ROWS_A_BLOCK))


class _Search:
    """One query among the `visible` rows of a mask [n]."""

    def __init__(self, vectors: VectorTable, query: NDArray[np.float64], mask: NDArray[np.bool_], visible: int) -> None:
        self._vectors = vectors
        self._query = query
        self._mask = mask
        self._visible = visible

    def best(self, rows: NDArray[np.int64], count: int, after: RankedRows = NO_ROWS) -> RankedRows:
        """The exact best `count` of some rows, or of those of them that come after the last of others."""
        rough, error = self._rough(rows), rounding_error(len(self._query))
        ceiling = after.scores[-1] if len(after) else np.inf
        least = _largest(rough[rough + error < ceiling], count) - 2 * error
        rows = rows[(rough >= least) & (rough - error <= ceiling)]
        scores = self._exact(rows)
        if len(after):
            later = (scores < ceiling) | ((scores == ceiling) & (rows > after.rows[-1]))
            rows, scores = rows[later], scores[later]
        return top_rows(rows, scores, count)

    def by_bytes(self, count: int) -> RankedRows:
        """The exact best `count`."""
        search = ByteSearch(self._vectors.codes, self._query, self._mask)
        return self._listing(search, count, 32 + count).settled(self._exact)

    def in_bands(self, count: int, bands: Sequence[Band]) -> RankedRows:
        """The approximate best `count`."""
        deep_enough = [place for place, band in enumerate(bands, start=1) if band.hits >= count]
        used = bands[: deep_enough[0]] if deep_enough else bands
        search = SignSearch(self._vectors.codes, self._query, self._mask)
        likely = self._listing(search, used[-1].width, 128 + used[-1].width // 32).settled(search.scores)
        hits = NO_ROWS
        for band in used:
            rows = likely.first(band.width).rows
            hits = hits.followed_by(self.best(rows, min(count, band.hits) - len(hits), hits))
        if len(hits) < count:
            hits = hits.followed_by(self.best(np.flatnonzero(self._mask), count - len(hits), hits))
        return hits

    def _listing(self, search: ByteSearch | SignSearch, count: int, margin: int) -> Listing:
        def propose(_first: int, _end: int, limit: int) -> Proposal:
            rows, estimates = search.nearest(limit)
            return Proposal(rows, -np.inf if limit >= self._visible else float(estimates[-1]) + search.error)

        # FAISS gives any number of rows, so never a part of the rows is asked for.
        return Listing(propose, count, -np.inf, self._visible, margin, most=self._visible)

    def _exact(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return similarities(self._vectors, rows, self._query)

    def _rough(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The similarities of rows [m] in single precision."""
        products, query = np.empty(len(rows), dtype=np.float32), self._query.astype(np.float32)
        # OpenBLAS reads past vectors of five dimensions: no result changes, but the processor may report a NaN.
        with np.errstate(invalid="ignore"):
            for block in _blocks(rows):
                products[block] = self._vectors.rows[rows[block]] @ query
        return products.clip(-1.0, 1.0, out=products)


def _largest(values: NDArray[np.float32], count: int) -> float:
    """The `count`th largest value; minus infinity if there are fewer."""
    return float(np.partition(values, len(values) - count)[len(values) - count]) if len(values) >= count else -np.inf
