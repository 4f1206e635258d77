"""The rotation turns every vector, keeps lengths and angles, and gives a vector the same bits in any company."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.vectors.rotation import rotated

dimensions = st.integers(1, 70) | st.sampled_from([127, 128, 129, 255, 256, 384, 768])


@given(dimension=dimensions, seed=st.integers(0, 2**32))
def test_inner_products_stay(dimension: int, seed: int) -> None:
    vectors = np.random.default_rng(seed).standard_normal((5, dimension))
    turned = rotated(vectors)
    assert turned @ turned.T == pytest.approx(vectors @ vectors.T, rel=0, abs=1e-11 * dimension)


@given(dimension=dimensions, seed=st.integers(0, 2**32))
def test_a_vector_turns_to_the_same_bits_alone_and_among_others(dimension: int, seed: int) -> None:
    vectors = np.random.default_rng(seed).standard_normal((7, dimension)).astype(np.float32)
    together = rotated(vectors)
    for row in range(7):
        assert rotated(vectors[row : row + 1]).tobytes() == together[row : row + 1].tobytes()


@pytest.mark.parametrize("dimension", [64, 100, 384, 768])
def test_what_lay_in_one_component_lies_in_all(dimension: int) -> None:
    turned = np.abs(rotated(np.eye(dimension)))
    assert turned.max() * np.sqrt(dimension) < 12
    assert (turned > 1e-9).mean() > 0.7


def test_the_rotation_never_changes() -> None:
    """Indexes hold its results: another rotation needs another format version."""
    turned = rotated(np.eye(384)[:4])
    assert hashlib.sha256((turned >= 0).tobytes()).hexdigest()[:16] == "c045a87df32e6e02"
    assert rotated(np.arange(3.0)[np.newaxis, :]).tolist() == [
        pytest.approx([-2.058820343559643, 0.6401650429449556, -0.5928300858899107])
    ]


def test_what_is_given_stays_as_it_was() -> None:
    vectors = np.random.default_rng(1).standard_normal((3, 12))
    before = vectors.copy()
    rotated(vectors)
    assert vectors.tobytes() == before.tobytes()
