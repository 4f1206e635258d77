"""Codes of the vectors: one sign bit and one byte per component of the rotated vector.

A code depends on its own vector alone. Signs, 1/32 of the size of the vectors, show which vectors are likely to be
similar to a query (RaBitQ, Gao & Long 2024). Bytes, 1/4 of the size, give a similarity with a proven error bound, so
they can exclude vectors with certainty.

Files: `codes.signs.bin` [words, n] uint64, one bit per component, 1 for a component of at least 0, the lowest bit
first; the first word of all rows, then the second word of all rows, and so on. `codes.bytes.bin` [n, dimension] int8:
a row's bytes times its scale differ from its rotated vector by a vector no longer than its error. `codes.bounds.bin`
[n, 2] float32: scale and error.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_index.store.files import map_array, write_array
from groundwire_index.vectors.rotation import rotated

SIGNS_FILE = "codes.signs.bin"
BYTES_FILE = "codes.bytes.bin"
BOUNDS_FILE = "codes.bounds.bin"

WORD_BITS = 64
LARGEST_BYTE = 127
ROUNDING = 1e-9
"""Larger than the rounding error of a rotation and an inner product of unit vectors, at any dimension in use."""

_ROWS_A_BLOCK = 256


@dataclass(frozen=True, slots=True)
class VectorCodes:
    """The codes of vectors: `signs`, `bytes` and `bounds`, in the shapes of the files above."""

    signs: NDArray[np.uint64]
    bytes: NDArray[np.int8]
    bounds: NDArray[np.float32]


def codes_of(vectors: NDArray[np.float32]) -> VectorCodes:
    """The codes of vectors [m, dimension]."""
    components = rotated(vectors)
    return VectorCodes(np.ascontiguousarray(packed(components >= 0).T), *_quantised(components))


def write_codes(directory: Path, vectors: NDArray[np.float32]) -> None:
    """Writes the codes of vectors [n, dimension], reading them a block of rows at a time."""
    count, dimension = vectors.shape
    signs = np.empty((word_count(dimension), count), dtype=np.uint64)
    bounds = np.empty((count, 2), dtype=np.float32)
    with (directory / BYTES_FILE).open("wb") as file:
        for start in range(0, count, _ROWS_A_BLOCK):
            rows = slice(start, min(start + _ROWS_A_BLOCK, count))
            codes = codes_of(vectors[rows])
            signs[:, rows], bounds[rows] = codes.signs, codes.bounds
            file.write(codes.bytes.tobytes())
    write_array(directory / SIGNS_FILE, signs)
    write_array(directory / BOUNDS_FILE, bounds)


def map_codes(directory: Path, count: int, dimension: int) -> VectorCodes:
    """Maps the codes of an index. Raises IndexDamagedError."""
    return VectorCodes(
        map_array(directory / SIGNS_FILE, np.uint64, (word_count(dimension), count)),
        map_array(directory / BYTES_FILE, np.int8, (count, dimension)),
        map_array(directory / BOUNDS_FILE, np.float32, (count, 2)),
    )


def word_count(dimension: int) -> int:
    """How many words hold a bit for each component."""
    return -(-dimension // WORD_BITS)


def packed(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Bits [m, dimension] as words [m, words], the lowest bit first; unused bits of the last word are 0."""
    rows, dimension = bits.shape
    padded = np.zeros((rows, word_count(dimension) * WORD_BITS), dtype=np.bool_)
    padded[:, :dimension] = bits
    return np.packbits(padded, axis=1, bitorder="little").view("<u8")


def _quantised(components: NDArray[np.float64]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Bytes [m, dimension] of components [m, dimension], and bounds [m, 2]: their scales and errors."""
    scales = (np.abs(components).max(axis=1) / LARGEST_BYTE).astype(np.float32)
    steps = np.where(scales > 0, scales, 1.0).astype(np.float64)[:, np.newaxis]
    # Rounding the scale to single precision may make it smaller, and a component then 128.
    bytes_ = np.clip(np.rint(components / steps), -LARGEST_BYTE, LARGEST_BYTE)
    lengths = np.sqrt(np.square(components - bytes_ * steps).sum(axis=1))
    errors = np.nextafter((lengths + ROUNDING).astype(np.float32), np.float32(np.inf))
    return bytes_.astype(np.int8), np.stack((scales, errors), axis=1)
