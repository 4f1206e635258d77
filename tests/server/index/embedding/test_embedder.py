"""Unit length: exact, and the same bytes whatever stands beside the vector."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_index.embedding.embedder import unit_length

FLOATS = st.floats(-1e6, 1e6, width=32)


def _vector(numbers: list[float]) -> NDArray[np.float32]:
    return np.array(numbers, dtype=np.float32)


@given(numbers=st.lists(FLOATS, min_size=1, max_size=400).filter(any))
def test_the_length_is_one(numbers: list[float]) -> None:
    unit = unit_length(_vector(numbers))
    assert unit.dtype == np.float32
    assert np.linalg.norm(unit.astype(np.float64)) == pytest.approx(1, abs=1e-6)


@given(numbers=st.lists(FLOATS, min_size=1, max_size=400).filter(any), row=st.integers(0, 2))
def test_a_row_of_a_matrix_gives_the_bytes_of_the_vector(numbers: list[float], row: int) -> None:
    matrix = np.ones((3, len(numbers)), dtype=np.float32)
    matrix[row] = numbers
    assert unit_length(matrix[row]).tobytes() == unit_length(_vector(numbers)).tobytes()


def test_very_large_and_very_small_vectors_have_a_direction() -> None:
    assert unit_length(_vector([3e38, 3e38])).tolist() == pytest.approx([2**-0.5, 2**-0.5])
    assert unit_length(_vector([1e-40, 0])).tolist() == [1, 0]


@pytest.mark.parametrize("numbers", [[0.0, 0.0], [], [float("nan"), 1.0], [float("inf"), 1.0]])
def test_a_vector_without_direction_is_refused(numbers: list[float]) -> None:
    with pytest.raises(ValueError, match="finite and must not be all zero"):
        unit_length(_vector(numbers))
