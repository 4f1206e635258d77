"""What identifies an embedding model: everything that its vectors depend on, and nothing about where it lies."""

import hashlib
import json
from typing import Protocol, cast

from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer
from torch import Tensor

from groundwire_index.embedding.embedder import EmbedderError


class _Module(Protocol):
    """A step of a sentence-transformers model: the transformer, its pooling, a normalisation, ..."""

    def get_config_dict(self) -> dict[str, object]: ...


def model_fingerprint(model: SentenceTransformer) -> str:
    """Lower-case hexadecimal SHA-256 over the model's weights, tokenizer, length limit, prompts and modules.

    It is the same wherever the files lie. A new major release of sentence-transformers may change it, as it may change
    the vectors. Raises EmbedderError for a model without a fast tokenizer, which cannot be told apart from another.
    """
    description = {
        "weights": {name: _tensor_digest(tensor) for name, tensor in model.state_dict().items()},
        "tokenizer": _tokenizer_rules(model),
        "max_seq_length": model.max_seq_length,
        "prompts": model.prompts,
        "default_prompt_name": model.default_prompt_name,
        "modules": [[type(module).__name__, cast("_Module", module).get_config_dict()] for module in model],
    }
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()


def _tensor_digest(tensor: Tensor) -> str:
    header = f"{tensor.dtype} {tuple(tensor.shape)} ".encode()
    return hashlib.sha256(header + tensor.contiguous().numpy().tobytes()).hexdigest()


def _tokenizer_rules(model: SentenceTransformer) -> dict[str, object]:
    """The tokenizer's own JSON, less the truncation and padding that its last call happened to leave behind."""
    tokenizer = getattr(model.tokenizer, "backend_tokenizer", model.tokenizer)
    if not isinstance(tokenizer, Tokenizer):
        raise EmbedderError(
            f"the model's tokenizer ({type(tokenizer).__name__}) cannot be fingerprinted: "
            "use a model with a fast tokenizer (a tokenizer.json)"
        )
    rules = json.loads(tokenizer.to_str())
    return {name: value for name, value in rules.items() if name not in {"truncation", "padding"}}
