"""The two loops over the codes of vectors. Sums are of integers, so no order or rounding can change a result."""

import numpy as np
from numpy.typing import NDArray

from groundwire_index.vectors.compiled import compiled
from groundwire_index.vectors.instructions import ones_in, prefetch

_ROWS_AHEAD = 12
_CACHE_LINE = 64
_BYTES_OF_BOUNDS = 8
_ROWS_A_BLOCK = 2_048
"""The agreements of this many rows fit into the first-level cache while the words of their signs are read."""


@compiled
def similarity_bounds(
    codes: NDArray[np.int8],
    bounds: NDArray[np.float32],
    rows: NDArray[np.int64],
    components: NDArray[np.int16],
    scale: float,
    error_of_scale: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower bounds [m] and upper bounds [m] of the similarities of rows [m] to a query.

    Similarities are clipped to [-1, 1], so no bound is above 1, and no upper bound below -1.

    `codes` [n, dimension] and `bounds` [n, 2] are those of the index. The query is `components` [dimension] times
    `scale`; this approximation changes a similarity by at most `error_of_scale` times the row's scale.
    """
    products = _inner_products(codes, rows, components)
    least, most = np.empty(len(rows), dtype=np.float64), np.empty(len(rows), dtype=np.float64)
    for place in range(len(rows)):
        if place + _ROWS_AHEAD < len(rows):
            prefetch(bounds.ctypes.data + np.uint64(rows[place + _ROWS_AHEAD] * _BYTES_OF_BOUNDS))
        row_scale, row_error = np.float64(bounds[rows[place], 0]), np.float64(bounds[rows[place], 1])
        similar, off = products[place] * (scale * row_scale), row_error + error_of_scale * row_scale
        least[place], most[place] = min(similar - off, 1.0), max(-1.0, min(similar + off, 1.0))
    return least, most


@compiled
def _inner_products(codes: NDArray[np.int8], rows: NDArray[np.int64], query: NDArray[np.int16]) -> NDArray[np.int32]:
    """The inner product [m] of each of rows [m] of codes [n, dimension] with a query [dimension]; must fit int32."""
    dimension = codes.shape[1]
    products = np.empty(len(rows), dtype=np.int32)
    for place in range(len(rows)):
        # The processor cannot predict rows that are far apart; without prefetching each would be waited for.
        if place + _ROWS_AHEAD < len(rows):
            ahead = codes.ctypes.data + np.uint64(rows[place + _ROWS_AHEAD] * dimension)
            for line in range(0, dimension, _CACHE_LINE):
                prefetch(ahead + np.uint64(line))
        code = codes[rows[place]]
        total = np.int32(0)
        for component in range(dimension):
            total += np.int32(code[component]) * np.int32(query[component])
        products[place] = total
    return products


@compiled
def most_agreeing(
    signs: NDArray[np.uint64],
    opposite: NDArray[np.uint64],
    low: NDArray[np.uint64],
    high: NDArray[np.uint64],
    mask: NDArray[np.bool_],
    visible: int,
    least: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The `least` rows of a mask [n] whose signs agree most with the query's, and all rows that tie with the last.

    A row's agreement is the sum of the query's weights, 0 to 3, over the components whose signs are equal. `signs`
    are [words, n]; `opposite` [words] are the query's signs inverted, `low` and `high` [words] the two bits of its
    weights; `visible` is the number of rows in the mask. Returns ascending rows [m] and their agreements [m].
    """
    words, count = signs.shape
    # Flags are read eight at a time, so up to seven places beyond the last row are written to.
    rows, agreements = np.empty(visible + 8, dtype=np.int64), np.empty(visible + 8, dtype=np.int32)
    found, passed, threshold = 0, 0, np.int32(0)
    histogram = np.zeros(3 * 64 * words + 1, dtype=np.int64)
    block, flags = np.empty(_ROWS_A_BLOCK, dtype=np.int32), np.empty(_ROWS_A_BLOCK, dtype=np.uint8)
    for start in range(0, count, _ROWS_A_BLOCK):
        allowed = mask[start : start + _ROWS_A_BLOCK]
        if not allowed.any():
            continue
        _agree(signs, start, len(allowed), opposite, low, high, block)
        first = found
        found = _collect(block, allowed, threshold, flags, start, rows, agreements, found)
        # `passed` rows reach the threshold, which is raised as long as at least `least` rows are above it.
        for place in range(first, found):
            histogram[agreements[place]] += 1
        passed += found - first
        while passed - histogram[threshold] >= least:
            passed -= histogram[threshold]
            threshold += np.int32(1)
    best = agreements[:found] >= threshold
    return rows[:found][best], agreements[:found][best]


@compiled
def _agree(
    signs: NDArray[np.uint64],
    start: int,
    count: int,
    opposite: NDArray[np.uint64],
    low: NDArray[np.uint64],
    high: NDArray[np.uint64],
    sums: NDArray[np.int32],
) -> None:
    """Writes the agreements of `count` rows from row `start` into `sums`; three words at a time are fastest."""
    words = len(signs)
    end = start + count
    sums[:] = 0
    for word in range(0, words - 2, 3):
        signs_1, signs_2, signs_3 = signs[word, start:end], signs[word + 1, start:end], signs[word + 2, start:end]
        opposite_1, opposite_2, opposite_3 = opposite[word], opposite[word + 1], opposite[word + 2]
        low_1, low_2, low_3 = low[word], low[word + 1], low[word + 2]
        high_1, high_2, high_3 = high[word], high[word + 1], high[word + 2]
        for place in range(count):
            agreed_1, agreed_2 = signs_1[place] ^ opposite_1, signs_2[place] ^ opposite_2
            agreed_3 = signs_3[place] ^ opposite_3
            ones = ones_in(agreed_1 & low_1) + ones_in(agreed_2 & low_2) + ones_in(agreed_3 & low_3)
            twos = ones_in(agreed_1 & high_1) + ones_in(agreed_2 & high_2) + ones_in(agreed_3 & high_3)
            sums[place] += np.int32(ones + 2 * twos)
    for word in range(words - words % 3, words):
        signs_1, opposite_1, low_1, high_1 = signs[word, start:end], opposite[word], low[word], high[word]
        for place in range(count):
            agreed = signs_1[place] ^ opposite_1
            sums[place] += np.int32(ones_in(agreed & low_1) + 2 * ones_in(agreed & high_1))


@compiled
def _collect(
    block: NDArray[np.int32],
    allowed: NDArray[np.bool_],
    threshold: np.int32,
    flags: NDArray[np.uint8],
    start: int,
    rows: NDArray[np.int64],
    agreements: NDArray[np.int32],
    found: int,
) -> int:
    """Appends the allowed rows of a block from row `start` that reach a threshold; returns the new count of rows.

    Few rows reach it, so eight rows that all fail are skipped at once, and a row is appended without a branch, which
    the processor would mispredict.
    """
    flags[len(allowed) :] = 0
    for place in range(len(allowed)):
        flags[place] = np.uint8(block[place] >= threshold) & np.uint8(allowed[place])
    eights = flags.view(np.uint64)
    for eight in range(len(eights)):
        if eights[eight] != 0:
            for place in range(8 * eight, 8 * eight + 8):
                rows[found], agreements[found] = start + place, block[place]
                found += flags[place]
    return found
