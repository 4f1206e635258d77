"""A fixed rotation that spreads a vector's length evenly over its components, whatever the vector.

Codes of few bits per component (`vector_codes`) lose least when all components are of similar size. The rotation
consists of sign changes, Hadamard transforms over the largest power of two of components (alternately the first and
the last ones), and rotations of one half of the components against the other (Ailon & Chazelle 2009; Gao & Long,
RaBitQ Library, 2025). It does not depend on the data, so a rotated vector depends on that vector alone, to the last
bit.
"""

import hashlib
from functools import cache

import numpy as np
from numpy.typing import NDArray

from groundwire_index.vectors.compiled import compiled

_ROUNDS = 4


def rotated(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """Vectors [m, dimension], rotated; lengths and inner products are preserved."""
    turned = vectors.astype(np.float64, order="C")
    _rotate(turned, _signs(turned.shape[1]))
    return turned


@cache
def _signs(dimension: int) -> NDArray[np.float64]:
    """The signs [rounds, dimension], from a hash: a library's random numbers might change between versions."""
    seed = f"groundwire rotation {dimension}".encode()
    digest = hashlib.shake_256(seed).digest(_ROUNDS * dimension)
    odd = np.frombuffer(digest, dtype=np.uint8).reshape(_ROUNDS, dimension) & 1
    return np.where(odd == 1, -1.0, 1.0)


@compiled
def _rotate(vectors: NDArray[np.float64], signs: NDArray[np.float64]) -> None:
    dimension = vectors.shape[1]
    span = 1
    while 2 * span <= dimension:
        span *= 2
    half = dimension // 2
    for row in range(vectors.shape[0]):
        vector = vectors[row]
        for round_ in range(signs.shape[0]):
            for component in range(dimension):
                vector[component] *= signs[round_, component]
            _hadamard(vector[:span] if round_ % 2 == 0 else vector[dimension - span :])
            if span < dimension:
                _turn(vector[:half], vector[dimension - half :], np.sqrt(0.5))


@compiled
def _hadamard(components: NDArray[np.float64]) -> None:
    """The Hadamard transform, in place, of components whose number is a power of two."""
    width = 1
    while width < len(components):
        for start in range(0, len(components), 2 * width):
            _turn(components[start : start + width], components[start + width : start + 2 * width], 1.0)
        width *= 2
    scale = 1.0 / np.sqrt(len(components))
    for component in range(len(components)):
        components[component] *= scale


@compiled
def _turn(first: NDArray[np.float64], last: NDArray[np.float64], scale: float) -> None:
    """Replaces two halves by their sum and their difference, scaled."""
    for component in range(len(first)):
        total, difference = first[component] + last[component], first[component] - last[component]
        first[component], last[component] = total * scale, difference * scale
