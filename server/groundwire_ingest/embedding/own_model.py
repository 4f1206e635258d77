"""A sentence-transformers model of the user's own, which may be of BERT's architecture and then has an int8 encoder."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import cached_property
from typing import Protocol, cast

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer
from torch import Tensor

from groundwire_index.embedding.fingerprint import tokenizer_file
from groundwire_index.embedding.int8.record import Pooling
from groundwire_index.embedding.sentence_transformer import Encoder, SentenceTransformerEmbedder
from groundwire_ingest.embedding.bert_model import Bert, BertSettings, bert_of

_MODULES = (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])
_POOLINGS: Mapping[object, Pooling] = {"mean": "mean", "cls": "cls"}
_QUERY_PROMPTS = ("query",)
_TEXT_PROMPTS = ("document", "passage", "corpus")
"""The names that sentence-transformers looks for, in its order."""
_BATCH = 64
_WIDTH_STEP = 16
"""Kernels work on this number of values at a time, so a model's widths must be multiples of it."""


class _Configuration(Protocol):
    """The part of a transformer's configuration that is read here."""

    num_attention_heads: int
    layer_norm_eps: float
    hidden_act: str
    hidden_size: int
    intermediate_size: int
    is_decoder: bool


class _Settings(Protocol):
    """A module with settings that can be read."""

    def get_config_dict(self) -> Mapping[str, object]: ...


class _Model(Protocol):
    """The transformer proper."""

    config: _Configuration

    def state_dict(self) -> Mapping[str, Tensor]: ...


class OwnModel(SentenceTransformerEmbedder):
    """A model that a user names; see `SentenceTransformerEmbedder` and `ConvertibleEmbedder`.

    Where there is a GPU, texts are embedded on it: in half precision, and in batches of like length, so that a vector's
    last bits depend on its batch.
    """

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._on_gpu is None:
            return super().embed_texts(texts)
        vectors = self._on_gpu.encode_document(list(texts), batch_size=_BATCH, show_progress_bar=False)
        return np.stack([self._unit_length(vector) for vector in vectors])

    @cached_property
    def _on_gpu(self) -> Encoder | None:
        if (device := gpu()) is None:
            return None
        precision = torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
        return cast("Encoder", deepcopy(self.model).to(device, precision))

    def bert(self) -> Bert | None:
        return _bert_of(self.model)

    def text_prompt(self) -> str | None:
        """None on a GPU, which is faster than the encoder on the CPU."""
        return _prompt(self.model, _TEXT_PROMPTS) if self._on_gpu is None else None


def gpu() -> str | None:
    """The device of torch that is a GPU."""
    return "cuda" if torch.cuda.is_available() else None


def _bert_of(model: SentenceTransformer) -> Bert | None:
    """The model as arrays; None when it does anything to a query that `Bert` does not describe."""
    tokenizer = getattr(model.tokenizer, "backend_tokenizer", None)
    pooling = _pooling(model)
    if pooling is None or not isinstance(tokenizer, Tokenizer) or not _is_plain_bert(model):
        return None
    prompt = _prompt(model, _QUERY_PROMPTS)
    transformer = _transformer(model)
    weights = {name: tensor.numpy().astype(np.float32) for name, tensor in transformer.state_dict().items()}
    longest = len(weights["embeddings.position_embeddings.weight"])
    if prompt is None or model.max_seq_length is None or model.max_seq_length > longest:
        return None
    settings = BertSettings(
        heads=transformer.config.num_attention_heads,
        epsilon=transformer.config.layer_norm_eps,
        pooling=pooling,
        max_tokens=model.max_seq_length,
        prompt=prompt,
        tokenizer=tokenizer_file(tokenizer),
    )
    return bert_of(weights, settings)


def _is_plain_bert(model: SentenceTransformer) -> bool:
    first, configuration = model[0], _transformer(model).config
    return (
        type(_transformer(model)).__name__ == "BertModel"
        and configuration.hidden_act == "gelu"
        and not configuration.is_decoder
        and getattr(configuration, "position_embedding_type", "absolute") == "absolute"
        and configuration.hidden_size % _WIDTH_STEP == 0
        and configuration.intermediate_size % _WIDTH_STEP == 0
        and not getattr(first, "do_lower_case", False)
        and getattr(first, "query_length", None) is None
        and getattr(first, "query_expansion", None) is None
        and model.truncate_dim is None
    )


def _pooling(model: SentenceTransformer) -> Pooling | None:
    """How the model makes one vector of its tokens' vectors; None when not in one of the ways that `Bert` knows."""
    if [type(module).__name__ for module in model] not in _MODULES:
        return None
    return _POOLINGS.get(_pooling_settings(model)["pooling_mode"])


def _pooling_settings(model: SentenceTransformer) -> Mapping[str, object]:
    return cast("_Settings", model[1]).get_config_dict()


def _transformer(model: SentenceTransformer) -> _Model:
    return cast("_Model", model[0].auto_model)


def _prompt(model: SentenceTransformer, names: Sequence[str]) -> str | None:
    """The prompt that the model puts before a text; None when pooling would leave it out."""
    name = next((name for name in names if name in model.prompts), model.default_prompt_name)
    prompt = model.prompts[name] if name else ""
    return prompt if not prompt or _pooling_settings(model)["include_prompt"] else None
