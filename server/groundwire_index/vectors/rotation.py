"""A fixed rotation that spreads a vector's length evenly over its components, whatever the vector.

Codes of few bits per component (`vector_codes`) lose least when all components are of similar size. The rotation
consists of sign changes, Hadamard transforms over the largest power of two of components (alternately the first and
the last ones), and rotations of one half of the components against the other (Ailon & Chazelle 2009; Gao & Long,
RaBitQ Library, 2025). It does not depend on the data, so a rotated vector depends on that vector alone, to the last
bit: a transform adds integers that a double holds exactly, and the order of its sums makes no difference.
"""

import hashlib
from functools import cache

import numpy as np
from numpy.typing import NDArray

_ROUNDS = 4
_GRID = 2.0**40
"""A transform rounds components to multiples of its inverse. 13 bits are left for the length and for the sums."""


def rotated(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """Vectors [m, dimension] of length 1 or so, rotated; lengths and inner products are preserved."""
    turned = vectors.astype(np.float64, order="C")
    dimension = turned.shape[1]
    span = 1 << (dimension.bit_length() - 1)
    for round_, signs in enumerate(_signs(dimension)):
        turned *= signs
        part = turned[:, :span] if round_ % 2 == 0 else turned[:, dimension - span :]
        part[...] = _hadamard(part)
        if span < dimension:
            _turn(turned[:, : dimension // 2], turned[:, dimension - dimension // 2 :])
    return turned


@cache
def rotation_matrix(dimension: int) -> NDArray[np.float32]:
    """The rotation [dimension, dimension] in single precision: `vector @ matrix` is fast, but not exact to the bit."""
    return rotated(np.eye(dimension)).astype(np.float32)


@cache
def _signs(dimension: int) -> NDArray[np.float64]:
    """The signs [rounds, dimension], from a hash: a library's random numbers might change between versions."""
    seed = f"groundwire rotation {dimension}".encode()
    digest = hashlib.shake_256(seed).digest(_ROUNDS * dimension)
    odd = np.frombuffer(digest, dtype=np.uint8).reshape(_ROUNDS, dimension) & 1
    return np.where(odd == 1, -1.0, 1.0)


def _hadamard(components: NDArray[np.float64]) -> NDArray[np.float64]:
    """The Hadamard transform of components [m, size], a power of two: as a matrix, first its columns, then its rows."""
    size = components.shape[1]
    half = (size.bit_length() - 1) // 2
    rows, columns = _hadamard_matrix(size >> half), _hadamard_matrix(1 << half)
    whole = np.rint(components * _GRID).reshape(-1, len(rows), len(columns))
    turned: NDArray[np.float64] = (rows @ whole @ columns).reshape(components.shape)
    turned *= 1.0 / (_GRID * np.sqrt(size))
    return turned


@cache
def _hadamard_matrix(size: int) -> NDArray[np.float64]:
    if size == 1:
        return np.ones((1, 1))
    half = _hadamard_matrix(size // 2)
    return np.block([[half, half], [half, -half]])


def _turn(first: NDArray[np.float64], last: NDArray[np.float64]) -> None:
    """Replaces two halves [m, half] by their sum and their difference, at unchanged length."""
    total, difference = first + last, first - last
    np.multiply(total, np.sqrt(0.5), out=first)
    np.multiply(difference, np.sqrt(0.5), out=last)
