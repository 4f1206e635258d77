"""Codes against their definition, against FAISS's own of the rotated vectors, and with errors that hold."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.vectors.rotation import rotated
from groundwire_index.vectors.vector_codes import (
    BYTES_FILE,
    ERRORS_FILE,
    SIGNS_FILE,
    VectorCodes,
    map_codes,
    sign_bytes,
    write_codes,
)
from support.codes import drawn_vectors

Vectors = NDArray[np.float32]


def written(vectors: Vectors) -> VectorCodes:
    with TemporaryDirectory() as directory:
        write_codes(Path(directory), vectors)
        return map_codes(Path(directory), *vectors.shape)


dimensions = st.integers(1, 70) | st.sampled_from([128, 384])


@given(count=st.integers(1, 12), dimension=dimensions, seed=st.integers(0, 2**32))
def test_codes_are_those_of_faiss(count: int, dimension: int, seed: int) -> None:
    vectors = drawn_vectors(count, dimension, seed)
    codes, components = written(vectors), rotated(vectors).astype(np.float32)
    # A component between two steps may go to either, and single precision rounds the factors.
    assert np.abs(codes.byte_index.sa_encode(components).astype(int) - codes.bytes).max() <= 1
    faiss_signs, bits = codes.sign_index.sa_encode(components), sign_bytes(dimension)
    assert (faiss_signs[:, :bits] == codes.signs[:, :bits]).all()
    assert factors(faiss_signs, bits)[:, 0] == pytest.approx(0.0)
    has_direction = vectors.any(axis=1)
    assert factors(codes.signs, bits)[has_direction, 1] == pytest.approx(
        factors(faiss_signs, bits)[has_direction, 1], rel=1e-4
    )


def factors(signs: NDArray[np.uint8], bits: int) -> NDArray[np.float32]:
    return np.ascontiguousarray(signs[:, bits:]).view(np.float32)


@given(count=st.integers(0, 12), dimension=dimensions, seed=st.integers(0, 2**32))
def test_errors_are_what_the_bytes_lose(count: int, dimension: int, seed: int) -> None:
    vectors = drawn_vectors(count, dimension, seed)
    codes = written(vectors)
    limit = min(1.0, 6.0 / np.sqrt(dimension))
    lost = rotated(vectors) - ((codes.bytes + 0.5) / 127.5 - 1.0) * limit
    lengths = np.sqrt(np.square(lost).sum(axis=1))
    assert (lengths <= codes.errors).all()
    assert codes.errors == pytest.approx(lengths, abs=1e-8, rel=1e-6)


def test_a_vectors_codes_are_its_own() -> None:
    """Whatever stands beside it, and in whichever block: rows before and after move nothing."""
    vectors = drawn_vectors(300, 100, 3)
    codes = written(vectors)
    for row in (0, 63, 64, 255, 299):
        alone = written(vectors[row : row + 1])
        assert alone.signs[0].tobytes() == codes.signs[row].tobytes()
        assert alone.bytes[0].tobytes() == codes.bytes[row].tobytes()
        assert alone.errors[0].tobytes() == codes.errors[row].tobytes()


def test_faiss_reads_the_mapped_codes_in_place() -> None:
    codes = written(drawn_vectors(50, 64, 1))
    indexes: list[tuple[Any, NDArray[np.uint8]]] = [(codes.byte_index, codes.bytes), (codes.sign_index, codes.signs)]
    for index, mapped in indexes:
        assert not index.codes.is_owned
        assert int(index.codes.data()) == mapped.ctypes.data


@pytest.mark.parametrize("name", [SIGNS_FILE, BYTES_FILE, ERRORS_FILE])
def test_codes_of_another_size_are_refused(tmp_path: Path, name: str) -> None:
    write_codes(tmp_path, drawn_vectors(10, 12, 1))
    path = tmp_path / name
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(IndexDamagedError, match=name):
        map_codes(tmp_path, 10, 12)
