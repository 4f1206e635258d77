"""The arrays of a BERT model by the names that its weights are published under."""

from collections.abc import Mapping
from dataclasses import dataclass

from groundwire_index.embedding.int8.record import Pooling
from groundwire_ingest.embedding.bert import Bert, Floats, Layer, Linear, Norm


@dataclass(frozen=True, slots=True)
class BertSettings:
    """The facts that the weights do not show; the fields are those of `Bert`."""

    heads: int
    epsilon: float
    pooling: Pooling
    max_tokens: int
    prompt: str
    tokenizer: str


def bert_of(weights: Mapping[str, Floats], settings: BertSettings) -> Bert:
    """The model of these weights. Raises KeyError when one is missing."""
    count = len({name.split(".")[2] for name in weights if name.startswith("encoder.layer.")})
    return Bert(
        words=weights["embeddings.word_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0],
        positions=weights["embeddings.position_embeddings.weight"],
        norm=_norm(weights, "embeddings.LayerNorm"),
        layers=tuple(_layer(weights, f"encoder.layer.{number}.") for number in range(count)),
        heads=settings.heads,
        epsilon=settings.epsilon,
        pooling=settings.pooling,
        max_tokens=settings.max_tokens,
        prompt=settings.prompt,
        tokenizer=settings.tokenizer,
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
