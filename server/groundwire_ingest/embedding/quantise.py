"""Weights as 8-bit integers, one scale for each output, with the inputs' channels balanced first.

A row of inputs is quantised with one scale for all its channels, so one large channel costs the others their precision.
LayerNorm gives BERT a few channels that are large for every token. They are scaled down before, and the weights that
read them scaled up to match, which changes no product (SmoothQuant, Xiao et al. 2023). How far follows from the weights
alone, so the same model always gives the same integers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_ingest.embedding.bert_model import Floats, Linear, Norm

WEIGHT_LIMIT = 127
GELU_FLOOR = 0.17
"""GELU gives nothing below minus this; with it added its outputs are positive and use all of an unsigned byte."""
_SPREAD = 3.0
"""How far, in standard deviations, a channel is taken to stray from its mean."""


@dataclass(frozen=True, slots=True)
class QuantisedLinear:
    """A linear map over quantised inputs: outputs = integers.T inputs * scales + bias.

    `integers` is int8 [inputs, outputs] in -127..127, `scales` and `bias` are float32 [outputs].
    """

    integers: NDArray[np.int8]
    scales: Floats
    bias: Floats


def joined(maps: Sequence[Linear]) -> Linear:
    """The maps over the same inputs as one, their outputs side by side."""
    return Linear(np.concatenate([linear.weight for linear in maps]), np.concatenate([linear.bias for linear in maps]))


def scaled(linear: Linear, factor: float) -> Linear:
    """The map with its outputs multiplied by a number."""
    return Linear((linear.weight * factor).astype(np.float32), (linear.bias * factor).astype(np.float32))


def by_use(linear: Linear) -> Floats:
    """Factors [inputs] that shrink the channels which the weights hardly read."""
    return _about_one(np.sqrt(np.square(linear.weight, dtype=np.float64).mean(axis=0)))


def by_size(norm: Norm) -> Floats:
    """Factors [inputs] that bring the channels of a layer normalisation to about one size."""
    size = np.abs(norm.scale, dtype=np.float64) * _SPREAD + np.abs(norm.shift, dtype=np.float64)
    return _about_one(1.0 / np.maximum(size, np.finfo(np.float32).tiny))


def quantise(linear: Linear, input_factors: Floats | None = None, input_shift: float = 0.0) -> QuantisedLinear:
    """The map with integer weights.

    The inputs will have been multiplied with `input_factors` [inputs], which the weights make up for, and `input_shift`
    added, which the bias takes off.
    """
    weight = linear.weight.astype(np.float64)
    if input_factors is not None:
        weight = weight / input_factors
    largest = np.maximum(np.abs(weight).max(axis=1), np.finfo(np.float32).tiny * WEIGHT_LIMIT)
    scales = (largest / WEIGHT_LIMIT).astype(np.float32)
    integers = np.clip(np.rint(weight / scales[:, np.newaxis]), -WEIGHT_LIMIT, WEIGHT_LIMIT)
    bias = linear.bias - input_shift * scales * integers.sum(axis=1)
    return QuantisedLinear(np.ascontiguousarray(integers.T.astype(np.int8)), scales, bias.astype(np.float32))


def _about_one(factors: NDArray[np.float64]) -> Floats:
    """Factors relative to their median, kept away from zero: the weights are divided by them."""
    relative = factors / max(float(np.median(factors)), float(np.finfo(np.float32).tiny))
    return np.clip(relative, 1e-3, 1e3).astype(np.float32)
