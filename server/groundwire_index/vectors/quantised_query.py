"""A quantised query, compared with the codes of vectors: rows likely to be similar, and bounds of similarities.

Both results are functions of the query and of the rows in question. `likely` is RaBitQ's first stage (Gao & Long 2024)
with integer weights: the inner product of the rotated query with a row's signs as +1 and -1, which estimates their
cosine up to a factor that hardly differs between rows. `bounded` is certain: the inner product with a row's bytes
differs from the similarity by no more than the quantisation errors of both vectors.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_index.vectors.quantised_scan import most_agreeing, similarity_bounds
from groundwire_index.vectors.rotation import rotated
from groundwire_index.vectors.vector_codes import LARGEST_BYTE, VectorCodes, codes_of, packed

_LARGEST_WEIGHT = 3
_SPREAD = 2.0
"""Components of this many root mean squares get the largest weight; values from 1.8 to 2.6 find the same rows."""
_LARGEST_COMPONENT = 2**15 - 1
_LARGEST_PRODUCT = 2**31 - 1
_ROWS_TO_COMPILE_WITH = 64


@dataclass(frozen=True, slots=True)
class QuantisedQuery:
    """A rotated unit query in the form that the scans of codes take.

    `opposite`, `low` and `high` are [words]: its signs inverted, and the two bits of its components' weights.
    `components` [dimension] times `scale` differ from the rotated query by a vector of length `error`.
    """

    opposite: NDArray[np.uint64]
    low: NDArray[np.uint64]
    high: NDArray[np.uint64]
    components: NDArray[np.int16]
    scale: float
    error: float

    def likely(
        self, codes: VectorCodes, mask: NDArray[np.bool_], visible: int, width: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The `width` rows of a mask [n] that agree most, and all that tie with the last; ascending, with agreements.

        `visible` is the number of rows in the mask.
        """
        return most_agreeing(codes.signs, self.opposite, self.low, self.high, mask, visible, width)

    def bounded(self, codes: VectorCodes, rows: NDArray[np.int64]) -> "BoundedRows":
        """Rows [m] with lower and upper bounds of their similarities."""
        # A row's bytes are a vector no longer than one with the largest byte in every component.
        error_of_scale = LARGEST_BYTE * np.sqrt(len(self.components)) * self.error
        least, most = similarity_bounds(codes.bytes, codes.bounds, rows, self.components, self.scale, error_of_scale)
        return BoundedRows(rows, least, most)


@dataclass(frozen=True, slots=True)
class BoundedRows:
    """Rows [m] with a lower bound, `least` [m], and an upper bound, `most` [m], of their similarities."""

    rows: NDArray[np.int64]
    least: NDArray[np.float64]
    most: NDArray[np.float64]

    def among(self, chosen: NDArray[np.bool_]) -> "BoundedRows":
        """The rows that a mask [m] chooses."""
        return BoundedRows(self.rows[chosen], self.least[chosen], self.most[chosen])

    def possible(self, count: int, ceiling: float) -> NDArray[np.int64]:
        """All rows that may be among the `count` most similar ones of those with a similarity of at most `ceiling`."""
        threshold = _largest(self.least[self.most < ceiling], count)
        return self.rows[(self.most >= threshold) & (self.least <= ceiling)]


def quantised(query: NDArray[np.float64]) -> QuantisedQuery:
    """Quantises a unit query [dimension]."""
    components = rotated(query[np.newaxis, :])
    magnitudes = np.abs(components)
    step = _SPREAD / (_LARGEST_WEIGHT * np.sqrt(len(query)))
    weights = np.minimum(np.rint(magnitudes / step), _LARGEST_WEIGHT).astype(np.uint8)
    # The sum of products with a row's bytes must fit into 32 bits, whatever the bytes are.
    room = _LARGEST_PRODUCT / LARGEST_BYTE - len(query)
    scale = max(float(magnitudes.max()) / _LARGEST_COMPONENT, float(magnitudes.sum()) / room)
    whole = np.rint(components[0] / scale)
    opposite, low, high = packed(np.concatenate([components < 0, weights % 2 == 1, weights >= 2]))
    error = float(np.sqrt(np.square(components[0] - whole * scale).sum()))
    return QuantisedQuery(opposite, low, high, whole.astype(np.int16), scale, error)


def compile_ahead() -> None:
    """Compiles the functions of a search over codes, or loads them from the cache, so that no call waits for that."""
    rows = np.eye(_ROWS_TO_COMPILE_WITH, dtype=np.float32)
    codes = codes_of(rows)
    for values in (codes.signs, codes.bytes, codes.bounds):
        values.setflags(write=False)  # as mapped arrays are: numba compiles separately for them
    everyone = np.ones(len(rows), dtype=np.bool_)
    query = quantised(rows[0].astype(np.float64))
    likely, _ = query.likely(codes, everyone, len(rows), 1)
    query.bounded(codes, likely)


def _largest(values: NDArray[np.float64], count: int) -> float:
    """The `count`th largest value; minus infinity if there are fewer."""
    return float(np.partition(values, len(values) - count)[len(values) - count]) if len(values) >= count else -np.inf
