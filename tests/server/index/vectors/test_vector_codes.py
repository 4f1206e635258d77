"""Codes against their definition: signs and bytes of the rotated vector, and a bound that holds."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_index.store.errors import IndexDamagedError
from groundwire_index.vectors.rotation import rotated
from groundwire_index.vectors.vector_codes import (
    BOUNDS_FILE,
    BYTES_FILE,
    SIGNS_FILE,
    VectorCodes,
    map_codes,
    write_codes,
)

Vectors = NDArray[np.float32]


def written(vectors: Vectors) -> VectorCodes:
    with TemporaryDirectory() as directory:
        write_codes(Path(directory), vectors)
        return map_codes(Path(directory), *vectors.shape)


def drawn(count: int, dimension: int, seed: int) -> Vectors:
    """Unit vectors of random directions, some along one axis, and some without a direction."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((count, dimension)) * (rng.random((count, dimension)) < rng.random((count, 1)))
    lengths = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
    units: Vectors = (vectors / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
    return units


dimensions = st.integers(1, 70) | st.sampled_from([128, 384])


@given(count=st.integers(0, 12), dimension=dimensions, seed=st.integers(0, 2**32))
def test_codes_are_what_the_module_says(count: int, dimension: int, seed: int) -> None:
    vectors = drawn(count, dimension, seed)
    codes, components = written(vectors), rotated(vectors)
    bits = np.unpackbits(codes.signs.T.copy().view(np.uint8), axis=1, bitorder="little")
    assert (bits[:, :dimension] == (components >= 0)).all()
    assert not bits[:, dimension:].any()
    scales, errors = codes.bounds[:, 0].astype(np.float64), codes.bounds[:, 1]
    off = components - codes.bytes * scales[:, np.newaxis]
    assert (np.sqrt(np.square(off).sum(axis=1)) <= errors).all()
    # Rounding to the nearest byte is half a step off at most, and single precision adds its own.
    assert (np.abs(off) <= scales[:, np.newaxis] * 0.501).all()


def test_a_vectors_codes_are_its_own(tmp_path: Path) -> None:
    """Whatever stands beside it, and in whichever block: rows before and after move nothing."""
    vectors = drawn(600, 100, 3)
    codes = written(vectors)
    for row in (0, 255, 256, 511, 599):
        alone = written(vectors[row : row + 1])
        assert alone.signs[:, 0].tobytes() == codes.signs[:, row].tobytes()
        assert alone.bytes[0].tobytes() == codes.bytes[row].tobytes()
        assert alone.bounds[0].tobytes() == codes.bounds[row].tobytes()


@pytest.mark.parametrize("name", [SIGNS_FILE, BYTES_FILE, BOUNDS_FILE])
def test_codes_of_another_size_are_refused(tmp_path: Path, name: str) -> None:
    write_codes(tmp_path, drawn(10, 12, 1))
    path = tmp_path / name
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(IndexDamagedError, match=name):
        map_codes(tmp_path, 10, 12)
