"""Codes of vectors by their definition, computed one component at a time."""

import math

import numpy as np
from numpy.typing import NDArray

from groundwire_index.vectors.rotation import rotated


def drawn_vectors(count: int, dimension: int, seed: int, *, dense: bool = False) -> NDArray[np.float32]:
    """Unit vectors of random directions; unless all are to be dense, some lie along one axis, and some are 0."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((count, dimension))
    if not dense:
        vectors *= rng.random((count, dimension)) < rng.random((count, 1))
    lengths = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
    units: NDArray[np.float32] = (vectors / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
    return units


def sign_estimates(vectors: NDArray[np.float32], query: NDArray[np.float64]) -> list[float]:
    """RaBitQ's estimates of the similarities of vectors [m, dimension] to a unit query, rounded to sixteen levels."""
    dimension = len(query)
    components = rotated(query[np.newaxis])[0].tolist()
    step = (max(components) - min(components)) / 15 or 1.0
    least = round(min(components) / step * 8) / 8
    levels = [round((component - min(components)) / step) + least for component in components]
    unit = 2.0 ** math.floor(math.log2(step)) / math.sqrt(dimension)
    return [_factor(vector) * (unit * _signed_sum(vector.tolist(), levels)) for vector in rotated(vectors)]


def _signed_sum(components: list[float], levels: list[float]) -> float:
    pairs = zip(components, levels, strict=True)
    return math.fsum(level if component > 0 else -level for component, level in pairs)


def _factor(components: NDArray[np.float64]) -> float:
    agreement = np.abs(components).sum()
    return float(np.float32(np.square(components).sum() * np.sqrt(len(components)) / agreement)) if agreement else 0.0
