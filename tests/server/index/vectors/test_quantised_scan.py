"""The compiled loops against plain Python, around the sizes of blocks and words."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_index.vectors.quantised_scan import most_agreeing, similarity_bounds
from groundwire_index.vectors.vector_codes import packed

counts = st.integers(1, 60) | st.sampled_from([2_047, 2_048, 2_049, 4_096, 5_000])
dimensions = st.sampled_from([1, 63, 64, 65, 128, 191, 192, 200, 320, 384, 450])
# Numba compiles for arrays of mapped files, which cannot be written to.
Words = NDArray[np.uint64]


def read_only(words: Words) -> Words:
    words.flags.writeable = False
    return words


@settings(max_examples=150)
@given(data=st.data(), count=counts, dimension=dimensions, distinct=st.sampled_from([2, 9, 10_000]))
def test_the_rows_that_agree_most_and_their_ties(
    data: st.DataObject, count: int, dimension: int, distinct: int
) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    pool = rng.random((min(distinct, count), dimension)) < 0.5
    bits = pool[rng.integers(len(pool), size=count)]
    query, weights = rng.random(dimension) < 0.5, rng.integers(0, 4, dimension)
    mask = rng.random(count) < data.draw(st.sampled_from([0.01, 0.5, 1.0]))
    # Whole blocks without a visible row are passed over.
    mask[: data.draw(st.sampled_from([0, 2_048, count]))] &= rng.random() < 0.5
    least = data.draw(st.integers(1, 40) | st.just(count))
    agreements = ((bits == query) * weights).sum(axis=1)
    visible = np.flatnonzero(mask)
    last = np.sort(agreements[visible])[-least] if least <= len(visible) else 0
    expected = [row for row in visible.tolist() if agreements[row] >= last]
    opposite, low, high = packed(np.stack([~query, weights % 2 == 1, weights >= 2]))
    signs = read_only(np.ascontiguousarray(packed(bits).T))
    rows, found = most_agreeing(signs, opposite, low, high, mask, len(visible), least)
    assert rows.tolist() == expected
    assert found.tolist() == agreements[expected].tolist()


@given(seed=st.integers(0, 2**32), count=st.integers(1, 60), dimension=dimensions)
def test_bounds_lie_around_the_product_and_end_at_one(seed: int, count: int, dimension: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(-127, 128, (count, dimension)).astype(np.int8)
    bounds = rng.random((count, 2)).astype(np.float32)
    components = rng.integers(-32_767, 32_768, dimension).astype(np.int16)
    rows = np.sort(rng.choice(count, rng.integers(1, count + 1), replace=False))
    scale = 10.0 ** -rng.integers(1, 10)
    for array in (codes, bounds):
        array.flags.writeable = False
    least, most = similarity_bounds(codes, bounds, rows, components, scale, 0.25)
    for place, row in enumerate(rows.tolist()):
        product = int(codes[row].astype(np.int64) @ components.astype(np.int64)) * (scale * float(bounds[row, 0]))
        off = float(bounds[row, 1]) + 0.25 * float(bounds[row, 0])
        assert least[place] == min(product - off, 1.0)
        assert most[place] == max(-1.0, min(product + off, 1.0))
