"""Codes of the vectors: a sign and a byte a component of the rotated vector. Each depends on its own vector alone.

Signs tell which vectors are likely near a query, at 1/32 of the bytes of the vectors (RaBitQ, Gao & Long 2024). Bytes
tell it with a bound on their error, at 1/4 of the bytes, so that what they rule out is ruled out for certain.

Files: `codes.signs.bin` [words, n] uint64, one bit a component, 1 for at least 0, the lowest bit first; a word of
all rows, then the next word. `codes.bytes.bin` [n, dimension] int8; times a row's scale they are its rotated vector
but for a difference whose length is at most the row's error. `codes.bounds.bin` [n, 2] float32, scale and error.
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
"""More than double precision can lose in rotations and inner products of unit vectors of any dimension in use."""

_ROWS_A_BLOCK = 256


@dataclass(frozen=True, slots=True)
class VectorCodes:
    """The codes of vectors: `signs`, `bytes` and `bounds`, shaped as the module says."""

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
    """Bits [m, dimension] in words [m, words], the lowest bit first; what a last word has left over is 0."""
    rows, dimension = bits.shape
    padded = np.zeros((rows, word_count(dimension) * WORD_BITS), dtype=np.bool_)
    padded[:, :dimension] = bits
    return np.packbits(padded, axis=1, bitorder="little").view("<u8")


def _quantised(components: NDArray[np.float64]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Bytes [m, dimension] of components [m, dimension], and bounds [m, 2]: their scales and errors."""
    scales = (np.abs(components).max(axis=1) / LARGEST_BYTE).astype(np.float32)
    steps = np.where(scales > 0, scales, 1.0).astype(np.float64)[:, np.newaxis]
    # A scale that single precision made smaller could ask for 128.
    bytes_ = np.clip(np.rint(components / steps), -LARGEST_BYTE, LARGEST_BYTE)
    lengths = np.sqrt(np.square(components - bytes_ * steps).sum(axis=1))
    errors = np.nextafter((lengths + ROUNDING).astype(np.float32), np.float32(np.inf))
    return bytes_.astype(np.int8), np.stack((scales, errors), axis=1)
