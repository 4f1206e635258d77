"""A sentence-transformers model of BERT's architecture as plain arrays, and these by the names of its weights."""

from collections.abc import Mapping
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
class BertSettings:
    """The facts that the weights do not show.

    `tokenizer` is a tokenizer.json. A query's tokens are those of `prompt` and its text, at most `max_tokens`; its
    vector is what `pooling` makes of the last layer, scaled to unit length.
    """

    heads: int
    epsilon: float
    pooling: Pooling
    max_tokens: int
    prompt: str
    tokenizer: str


@dataclass(frozen=True, slots=True)
class Bert:
    """A model that embeds queries.

    `words` [vocabulary, width] holds the embedding of each token with that of the first segment added, `positions`
    [longest text, width] those of positions.
    """

    words: Floats
    positions: Floats
    norm: Norm
    layers: tuple[Layer, ...]
    settings: BertSettings

    @property
    def width(self) -> int:
        """The length of a token's embedding, and of the vector."""
        return int(self.words.shape[1])


def bert_of(weights: Mapping[str, Floats], settings: BertSettings) -> Bert:
    """The model of these weights. Raises KeyError when one is missing."""
    count = len({name.split(".")[2] for name in weights if name.startswith("encoder.layer.")})
    return Bert(
        words=weights["embeddings.word_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0],
        positions=weights["embeddings.position_embeddings.weight"],
        norm=_norm(weights, "embeddings.LayerNorm"),
        layers=tuple(_layer(weights, f"encoder.layer.{number}.") for number in range(count)),
        settings=settings,
    )


def _layer(weights: Mapping[str, Floats], prefix: str) -> Layer:
    return Layer(
        query=_linear(weights, prefix + "attention.self.query"),
        key=_linear(weights, prefix + "attention.self.key"),
        value=_linear(weights, prefix + "attention.self.value"),
        attention_output=_linear(weights, prefix + "attention.output.dense"),
        attention_norm=_norm(weights, prefix + "attention.output.LayerNorm"),
        intermediate=_linear(weights, prefix + "intermediate.dense"),
        output=_linear(weights, prefix + "output.dense"),
        output_norm=_norm(weights, prefix + "output.LayerNorm"),
    )


def _linear(weights: Mapping[str, Floats], name: str) -> Linear:
    return Linear(weights[f"{name}.weight"], weights[f"{name}.bias"])


def _norm(weights: Mapping[str, Floats], name: str) -> Norm:
    return Norm(weights[f"{name}.weight"], weights[f"{name}.bias"])
