"""A BERT in ONNX Runtime: from the tokens of texts to their unit vectors; no vector depends on other texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from groundwire_index.embedding.embedder import EmbedderError, unit_length
from groundwire_index.embedding.int8.record import Pooling

if TYPE_CHECKING:
    import onnxruntime

LENGTH_STEP = 8
"""Attention pads a text to a multiple of this, never to the longest of its batch: its sums depend on its own length."""
_MASKED = np.float32(-1e9)

TokenIds: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BertSession:
    """A graph of `groundwire_ingest.embedding.graph`, and the code around it. Safe to share between threads.

    `words` [vocabulary, width] and `positions` [longest text, width] are the embeddings of tokens and of their places;
    texts are cut to `max_tokens`. `model` names it in messages.
    """

    model: str
    session: "onnxruntime.InferenceSession"
    words: NDArray[np.float32]
    positions: NDArray[np.float32]
    tokenizer: Tokenizer
    max_tokens: int
    pooling: Pooling

    def __post_init__(self) -> None:
        # Settled here for good: a tokenizer whose truncation changes while another thread uses it raises.
        self.tokenizer.enable_truncation(self.max_tokens)
        self.tokenizer.no_padding()

    def tokens(self, text: str) -> TokenIds:
        """The tokens of a text [tokens]."""
        return np.asarray(self.tokenizer.encode(text).ids, dtype=np.int64)

    def vectors(self, texts: Sequence[TokenIds]) -> list[NDArray[np.float32]]:
        """The unit vectors [width] of texts of one padded length. Raises EmbedderError when one has none."""
        lengths = np.array([len(tokens) for tokens in texts])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        positions = np.concatenate([self.positions[:length] for length in lengths])
        occupied = np.arange(padded_length(texts[0])) < lengths[:, np.newaxis]
        rows = np.flatnonzero(occupied)
        places = np.zeros(occupied.size, dtype=np.int64)
        places[rows] = np.arange(len(rows))
        inputs = {
            "embedded": self.words[np.concatenate(texts)] + positions,
            "places": places,
            "mask": np.where(occupied, np.float32(0), _MASKED),
            "rows": rows,
        }
        (hidden,) = self.session.run(["hidden"], inputs)
        return [self._pooled(np.asarray(hidden)[start:end]) for start, end in pairwise(starts)]

    def _pooled(self, hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        """The unit vector of a text's last layer [tokens, width]; sums are in double precision, token by token."""
        try:
            # A sum points where the mean does.
            return unit_length(hidden[0] if self.pooling == "cls" else hidden.sum(axis=0, dtype=np.float64))
        except ValueError as error:
            raise EmbedderError(f"the model {self.model!r} gave an unusable vector ({error}): use another") from error


def padded_length(tokens: TokenIds) -> int:
    """The length that attention pads a text to."""
    return -(-len(tokens) // LENGTH_STEP) * LENGTH_STEP
