"""Codes of the vectors in the layouts that FAISS searches: one byte and one sign bit per component, after a rotation.

A code depends on its own vector alone: the rotation, the range of the bytes and the centre of the signs are fixed.
Bytes are FAISS's 8-bit uniform scalar quantiser. They take 1/4 of the size of the vectors, and come with the length of
what they lose, so they give a similarity with a bound. Signs are FAISS's RaBitQ (Gao & Long 2024). They take 1/32, and
show which vectors are likely to be similar to a query.

Files: `codes.bytes.bin` [n, dimension] uint8, steps of the fixed range. `codes.errors.bin` [n] float32: the distance
between the rotated vector and its bytes is at most that. `codes.signs.bin` [n, bytes] uint8: one bit per component, 1
for a component above 0, the lowest bit first; then two float32: 0, and the factor by which FAISS multiplies the
product with the signs.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import faiss
import numpy as np
from numpy.typing import NDArray

from groundwire_index.files.durable_files import map_array, write_array
from groundwire_index.vectors.rotation import rotated

BYTES_FILE = "codes.bytes.bin"
ERRORS_FILE = "codes.errors.bin"
SIGNS_FILE = "codes.signs.bin"

ROUNDING = 1e-9
"""Larger than what the rounding errors of a rotation change in a similarity, at any dimension in use."""

QUERY_BITS = 4
"""To how many bits a component of a query is rounded before it is compared with signs."""

_DEVIATIONS = 6.0
"""The range of the bytes, in root mean squares of the components of a unit vector."""
_STEPS = 255
_ROWS_A_BLOCK = 64

Codes: TypeAlias = NDArray[np.uint8]
Vectors: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class VectorCodes:
    """The codes of vectors, in the shapes of the files above, and the FAISS indexes that read them in place."""

    bytes: Codes
    errors: NDArray[np.float32]
    signs: Codes
    byte_index: faiss.Index
    sign_index: faiss.Index


def write_codes(directory: Path, vectors: Vectors) -> None:
    """Writes the codes of vectors [n, dimension], reading them a block of rows at a time."""
    count = len(vectors)
    errors = np.empty(count, dtype=np.float32)
    with (directory / BYTES_FILE).open("wb") as bytes_file, (directory / SIGNS_FILE).open("wb") as signs_file:
        for start in range(0, count, _ROWS_A_BLOCK):
            rows = slice(start, min(start + _ROWS_A_BLOCK, count))
            components = rotated(vectors[rows])
            bytes_, errors[rows] = _bytes_of(components)
            bytes_file.write(bytes_.tobytes())
            signs_file.write(_signs_of(components).tobytes())
    write_array(directory / ERRORS_FILE, errors)


def map_codes(directory: Path, count: int, dimension: int) -> VectorCodes:
    """Maps the codes of an index. Raises IndexDamagedError."""
    bytes_ = map_array(directory / BYTES_FILE, np.uint8, (count, dimension))
    errors = map_array(directory / ERRORS_FILE, np.float32, (count,))
    signs = map_array(directory / SIGNS_FILE, np.uint8, (count, sign_bytes(dimension) + 8))
    return VectorCodes(bytes_, errors, signs, _byte_index(bytes_), _sign_index(signs, dimension))


def sign_bytes(dimension: int) -> int:
    """How many bytes hold a bit for each component."""
    return -(-dimension // 8)


def _bytes_of(components: NDArray[np.float64]) -> tuple[Codes, NDArray[np.float32]]:
    """Bytes [m, dimension] of components [m, dimension], and the length of what they lose [m]."""
    limit = _limit(components.shape[1])
    steps = np.clip(np.floor((components / limit + 1.0) * (_STEPS / 2)), 0, _STEPS)
    lost = components - ((steps + 0.5) * (2.0 / _STEPS) - 1.0) * limit
    lengths = np.sqrt(np.square(lost).sum(axis=1)) + ROUNDING
    return steps.astype(np.uint8), np.nextafter(lengths.astype(np.float32), np.float32(np.inf))


def _signs_of(components: NDArray[np.float64]) -> Codes:
    dimension = components.shape[1]
    bits = np.packbits(components > 0, axis=1, bitorder="little")
    agreement = np.abs(components).sum(axis=1)
    lengths = np.square(components).sum(axis=1) * np.sqrt(dimension)
    factors = np.zeros((len(components), 2), dtype="<f4")
    factors[:, 1] = np.divide(lengths, agreement, out=np.zeros(len(components)), where=agreement > 0)
    return np.concatenate((bits, factors.view(np.uint8)), axis=1)


def _limit(dimension: int) -> float:
    """The range of the bytes is from minus this to this."""
    return min(1.0, _DEVIATIONS / float(np.sqrt(dimension)))


def _byte_index(codes: Codes) -> faiss.Index:
    dimension = codes.shape[1]
    index = faiss.IndexScalarQuantizer(dimension, faiss.ScalarQuantizer.QT_8bit_uniform, faiss.METRIC_INNER_PRODUCT)
    limit = _limit(dimension)
    faiss.copy_array_to_vector(np.asarray([-limit, 2.0 * limit], dtype=np.float32), index.sq.trained)
    return _reading(index, codes)


def _sign_index(codes: Codes, dimension: int) -> faiss.Index:
    index = faiss.IndexRaBitQ(dimension, faiss.METRIC_INNER_PRODUCT)
    index.qb = QUERY_BITS
    faiss.copy_array_to_vector(np.zeros(dimension, dtype=np.float32), index.center)
    return _reading(index, codes)


def _reading(index: faiss.Index, codes: Codes) -> faiss.Index:
    """The index over codes, which have to outlive it: FAISS itself maps files of some kinds of index only.

    The types that come with FAISS lack what is set here.
    """
    view: Any = faiss.MaybeOwnedVectorUInt8()
    untyped: Any = index
    view.is_owned = False
    view.view_data = view.c_ptr = faiss.swig_ptr(codes)
    view.view_size = view.c_size = codes.size
    untyped.codes = view
    index.is_trained, index.ntotal = True, len(codes)
    return index
