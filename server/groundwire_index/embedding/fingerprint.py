"""The identity of an embedding model: everything that its vectors depend on, and no part of its location."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """A model in the words of sentence-transformers. `modules` are the names and settings of its steps."""

    weights: Mapping[str, NDArray[np.generic]]
    tokenizer: Tokenizer
    max_seq_length: int | None
    prompts: Mapping[str, str | None]
    default_prompt_name: str | None
    modules: Sequence[tuple[str, Mapping[str, object]]]

    def fingerprint(self) -> str:
        """Lower-case hexadecimal SHA-256 over the description. It is the same wherever the model's files lie.

        A new major release of sentence-transformers may change it, as it may change the vectors.
        """
        content = {
            "weights": {name: _digest(values) for name, values in self.weights.items()},
            "tokenizer": _rules(self.tokenizer),
            "max_seq_length": self.max_seq_length,
            "prompts": dict(self.prompts),
            "default_prompt_name": self.default_prompt_name,
            "modules": [[name, dict(settings)] for name, settings in self.modules],
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _rules(tokenizer: Tokenizer) -> dict[str, object]:
    """The tokenizer's own JSON, less the truncation and padding that its last call happened to leave behind."""
    rules = json.loads(tokenizer.to_str())
    return {name: value for name, value in rules.items() if name not in {"truncation", "padding"}}


def tokenizer_file(tokenizer: Tokenizer) -> str:
    """A tokenizer.json of these rules, which neither truncates nor pads."""
    rules = {**_rules(tokenizer), "truncation": None, "padding": None}
    return json.dumps(rules, ensure_ascii=False, sort_keys=True)


def _digest(values: NDArray[np.generic]) -> str:
    # Named as torch names types, in which models are published.
    header = f"torch.{values.dtype} {values.shape} ".encode()
    return hashlib.sha256(header + np.ascontiguousarray(values).tobytes()).hexdigest()
