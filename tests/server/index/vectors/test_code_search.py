"""What FAISS estimates by codes against the scores that count, on every instruction set of this processor."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_index.vectors.code_search import ByteSearch, SignSearch
from groundwire_index.vectors.rotation import rotated
from groundwire_index.vectors.vector_codes import VectorCodes, map_codes, write_codes
from support.codes import drawn_vectors, sign_estimates
from support.simd import INSTRUCTION_SETS, instruction_set

dimensions = st.integers(1, 70) | st.sampled_from([128, 384, 1_025])
Vectors = NDArray[np.float32]


def codes_of(vectors: Vectors) -> VectorCodes:
    with TemporaryDirectory() as directory:
        write_codes(Path(directory), vectors)
        return map_codes(Path(directory), *vectors.shape)


def unit_query(dimension: int, rng: np.random.Generator) -> NDArray[np.float64]:
    query = rng.standard_normal(dimension)
    unit: NDArray[np.float64] = query / np.sqrt(np.square(query).sum())
    return unit


@given(count=st.integers(1, 200), dimension=dimensions, seed=st.integers(0, 2**32), limit=st.integers(1, 200))
def test_estimates_are_within_their_error_and_of_rows_of_the_mask(
    count: int, dimension: int, seed: int, limit: int
) -> None:
    vectors, rng = drawn_vectors(count, dimension, seed), np.random.default_rng(seed)
    codes, query, mask = codes_of(vectors), unit_query(dimension, rng), rng.random(count) < 0.6
    similarities = vectors.astype(np.float64) @ query
    by_signs = np.asarray(sign_estimates(vectors, query))
    for level in INSTRUCTION_SETS:
        with instruction_set(level):
            for search, scores in (
                (ByteSearch(codes, query, mask), similarities),
                (SignSearch(codes, query, mask), by_signs),
            ):
                rows, estimates = search.nearest(limit)
                assert len({*rows.tolist()}) == len(rows) == min(limit, np.count_nonzero(mask))
                assert mask[rows].all()
                assert (np.diff(estimates) <= 0).all()
                assert (np.abs(estimates - scores[rows]) <= search.error).all()
                others = mask.copy()
                others[rows] = False
                assert len(rows) < limit or (scores[others] <= estimates[-1] + search.error).all()


@given(count=st.integers(1, 60), dimension=dimensions, seed=st.integers(0, 2**32))
def test_scores_by_signs_are_their_definition_to_the_last_bit(count: int, dimension: int, seed: int) -> None:
    vectors, rng = drawn_vectors(count, dimension, seed), np.random.default_rng(seed)
    query = unit_query(dimension, rng)
    search = SignSearch(codes_of(vectors), query, np.ones(count, dtype=np.bool_))
    rows = rng.permutation(count)[: 1 + count // 2]
    expected = sign_estimates(vectors[rows], query)
    assert search.scores(rows).tolist() == expected


def test_an_error_is_no_larger_than_needed() -> None:
    """Bytes exclude most rows, and signs leave few rows to be proposed besides those wanted."""
    vectors = drawn_vectors(2_000, 384, seed=1, dense=True)
    codes, everyone = codes_of(vectors), np.ones(2_000, dtype=np.bool_)
    query = unit_query(384, np.random.default_rng(2))
    assert ByteSearch(codes, query, everyone).error < 0.0152
    assert SignSearch(codes, query, everyone).error < 0.0005


@pytest.mark.parametrize("dimension", [1, 4, 384])
def test_a_query_whose_rotated_components_are_all_equal_has_estimates(dimension: int) -> None:
    vectors = drawn_vectors(20, dimension, seed=3)
    whole = rotated(np.eye(dimension))
    query = np.linalg.solve(whole.T, np.full(dimension, 1.0 / np.sqrt(dimension)))
    search = SignSearch(codes_of(vectors), query, np.ones(20, dtype=np.bool_))
    rows, estimates = search.nearest(20)
    assert np.isfinite(estimates).all()
    assert (np.abs(estimates - search.scores(rows)) <= search.error).all()
