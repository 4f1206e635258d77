"""The parts of a sentence-transformers model of BERT's architecture, as plain arrays."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_index.embedding.int8.record import Pooling

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Linear:
    """x -> weight x + bias; `weight` is [outputs, inputs], `bias` [outputs]."""

    weight: Floats
    bias: Floats


@dataclass(frozen=True, slots=True)
class Norm:
    """A layer normalisation: what the normalised channels are multiplied with and what is added; both [width]."""

    scale: Floats
    shift: Floats


@dataclass(frozen=True, slots=True)
class Layer:
    """One transformer layer (Devlin et al. 2019), normalised after each of its halves."""

    query: Linear
    key: Linear
    value: Linear
    attention_output: Linear
    attention_norm: Norm
    intermediate: Linear
    output: Linear
    output_norm: Norm


@dataclass(frozen=True, slots=True)
class Bert:
    """A model that embeds queries.

    `words` [vocabulary, width] holds the embedding of each token with that of the first segment added, `positions`
    [longest text, width] those of positions. `tokenizer` is a tokenizer.json. A query's tokens are those of `prompt`
    and its text, at most `max_tokens`; its vector is what `pooling` makes of the last layer, scaled to unit length.
    """

    words: Floats
    positions: Floats
    norm: Norm
    layers: tuple[Layer, ...]
    heads: int
    epsilon: float
    pooling: Pooling
    max_tokens: int
    prompt: str
    tokenizer: str

    @property
    def width(self) -> int:
        """The length of a token's embedding, and of the vector."""
        return int(self.words.shape[1])
