"""FAISS searches the codes of vectors for those most similar to a query; its numbers are estimates, with a bound.

FAISS adds in single precision, in an order that depends on the processor, and returns ties in any order. The bound
`error` makes the best rows the same on every processor: the scores that count differ from the estimates by no more.

- By bytes, the scores that count are the similarities.
- By signs, they are RaBitQ's own estimates in exact arithmetic. For that the query is rounded to sixteen levels here:
  its levels are integers times a power of two, which FAISS's own rounding keeps as they are.
"""

import math
from typing import TypeAlias

import faiss
import numpy as np
from numpy.typing import NDArray

from groundwire_index.vectors.rotation import rotated, rotation_matrix
from groundwire_index.vectors.vector_codes import QUERY_BITS, VectorCodes, sign_bytes

_EPSILON = float(np.finfo(np.float32).eps)
_LARGEST_LEVEL = 2**QUERY_BITS - 1
_MOST_BY_MATRIX = 1_024  # components; a larger matrix, of over 4 MB, takes more time than the rotation itself
_FRACTIONS = 8
"""The least level is a multiple of the step over this."""

Mask: TypeAlias = NDArray[np.bool_]
Rows: TypeAlias = NDArray[np.int64]


class ByteSearch:
    """A unit query [dimension] among the bytes of the rows of a mask [n]."""

    def __init__(self, codes: VectorCodes, query: NDArray[np.float64], mask: Mask) -> None:
        self._index = codes.byte_index
        dimension = len(query)
        if dimension <= _MOST_BY_MATRIX:
            with np.errstate(invalid="ignore"):  # OpenBLAS may read past a short vector, without effect
                self._query = query.astype(np.float32)[np.newaxis] @ rotation_matrix(dimension)
        else:
            self._query = rotated(query[np.newaxis]).astype(np.float32)
        self._mask = mask
        # Of the rotation: roundings of each component, which together are sqrt(dimension) times as long. Of FAISS.
        rounding = ((dimension + 2) * math.sqrt(dimension) / 2 + dimension + 64) * _EPSILON
        self.error = float((codes.errors * mask).max(initial=0.0)) + rounding

    def nearest(self, limit: int) -> tuple[Rows, NDArray[np.float32]]:
        """The `limit` rows of the highest estimates, and these, best first."""
        rows, estimates = _search(self._index, self._query, self._mask, limit)
        return rows, estimates.clip(-1.0, 1.0)


class SignSearch:
    """A unit query [dimension] among the signs of the rows of a mask [n]."""

    def __init__(self, codes: VectorCodes, query: NDArray[np.float64], mask: Mask) -> None:
        components = rotated(query[np.newaxis])[0]
        least, most = components.min(), components.max()
        step = (most - least) / _LARGEST_LEVEL or 1.0
        self._levels = np.rint((components - least) / step).astype(np.uint8)
        self._least = float(np.rint(least / step * _FRACTIONS)) / _FRACTIONS
        self._step = math.ldexp(0.5, math.frexp(step)[1])
        self._codes, self._mask = codes, mask
        self._query = ((self._levels + self._least) * self._step).astype(np.float32)[np.newaxis]
        dimension, terms = len(query), self._step * 3 * (_LARGEST_LEVEL + abs(self._least))
        self.error = _EPSILON * (dimension + 8 + 4 * dimension * terms)

    def nearest(self, limit: int) -> tuple[Rows, NDArray[np.float32]]:
        """The `limit` rows of the highest estimates, and these, best first."""
        return _search(self._codes.sign_index, self._query, self._mask, limit)

    def scores(self, rows: Rows) -> NDArray[np.float64]:
        """The scores [m] that count of rows [m]."""
        dimension, size = len(self._levels), sign_bytes(len(self._levels))
        codes = self._codes.signs.take(rows, axis=0)
        signs = _words(codes[:, :size])
        positive = _ones(signs)
        common = np.zeros(len(rows), dtype=np.int64)
        for bit in range(QUERY_BITS):
            plane = np.packbits(self._levels >> bit & 1, bitorder="little")
            common += _ones(signs & _words(plane[np.newaxis])) << bit
        # The sum of the components where the sign is 1, twice, less that of all: products with the signs as 1 and -1.
        products = 2 * (common + self._least * positive) - (int(self._levels.sum()) + self._least * dimension)
        factors = np.ascontiguousarray(codes[:, size + 4 :]).view("<f4")[:, 0].astype(np.float64)
        scores: NDArray[np.float64] = factors * (products * (self._step / np.sqrt(dimension)))
        return scores


def _search(index: faiss.Index, query: NDArray[np.float32], mask: Mask, limit: int) -> tuple[Rows, NDArray[np.float32]]:
    if mask.all():  # a selector takes a third of the time
        (estimates,), (rows,) = index.search(query, limit)
    else:
        bitmap = np.packbits(mask, bitorder="little")
        parameters = faiss.SearchParameters()
        parameters.sel = faiss.IDSelectorBitmap(len(bitmap), faiss.swig_ptr(bitmap))
        (estimates,), (rows,) = index.search(query, limit, params=parameters)
    # A row of -1 means none. Selectors of FAISS have been seen to let other rows through (decision 6).
    passed = (rows >= 0) & mask[rows]
    return rows[passed], estimates[passed]


def _words(bits: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Bits [m, bytes] as words [words, m], with bits of 0 behind them."""
    padded = np.zeros((len(bits), -(-bits.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : bits.shape[1]] = bits
    return np.ascontiguousarray(padded.view(np.uint64).T)


def _ones(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How many bits are 1 in each column of words [words, m]."""
    ones: NDArray[np.int64] = np.bitwise_count(words).sum(axis=0, dtype=np.int64)
    return ones
