"""Embeds queries and texts with a converted model; a vector does not depend on what else is embedded with it."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from groundwire_index.embedding.embedder import EmbedderError, unit_length
from groundwire_index.embedding.int8.record import (
    INT8_FILE,
    POSITIONS_FILE,
    PROBE_FILE,
    TOKENIZER_FILE,
    UINT8_FILE,
    WORDS_FILE,
    read_record,
)
from groundwire_index.embedding.int8.session import multiplies_exactly, open_session
from groundwire_server.domain.checkpoint import Checkpoint
from groundwire_server.query_embedding.batches import Batches

LENGTH_STEP = 8
"""Attention pads a text to a multiple of this, never to the longest of its batch: its sums depend on its own length."""
MOST_TOKENS = 1_024
MOST_TEXTS = 32
"""What a batch holds at most, padding included: more gains little and lets the next batch wait."""
_MASKED = np.float32(-1e9)

TokenIds = NDArray[np.int64]


class Int8Encoder:
    """A converted model, loaded. Thread-safe; calls that come at the same time are computed together.

    The tables of embeddings are mapped, so the processes of a machine share their pages.
    """

    def __init__(self, directory: Path) -> None:
        """Checks and loads the model that `EncoderStore` keeps in a directory. Raises EncoderDamagedError."""
        self.record = record = read_record(directory)
        # Where int8 weights overflow, the same integers are multiplied as unsigned ones: slower, and to the same bytes.
        exact = multiplies_exactly(record.check(directory, PROBE_FILE))
        self._session = open_session(record.check(directory, INT8_FILE if exact else UINT8_FILE))
        self._words: NDArray[np.float32] = np.asarray(np.load(record.check(directory, WORDS_FILE), mmap_mode="r"))
        self._positions: NDArray[np.float32] = np.load(record.check(directory, POSITIONS_FILE))
        self._tokenizer = Tokenizer.from_file(str(record.check(directory, TOKENIZER_FILE)))
        # Settled here for good: a tokenizer whose truncation changes while another thread uses it raises.
        self._tokenizer.enable_truncation(record.max_tokens)
        self._tokenizer.no_padding()
        self._batches = Batches(self._encode, _padded_length, _most_texts)

    def embed_query(self, text: str, checkpoint: Checkpoint) -> NDArray[np.float32]:
        """The query's vector: float32 of shape [dimension], unit length.

        Raises what the checkpoint raises while the query waits for others, EmbedderError when it has no vector.
        """
        return self._batches.run(self._tokens(self.record.prompt + text), checkpoint)

    def embed_texts(self, texts: Sequence[str], prompt: str, threads: int) -> NDArray[np.float32]:
        """The vectors of texts to be found, each after the prompt: float32 of shape [len(texts), dimension].

        Texts of like length are computed together, `threads` batches at a time. Raises EmbedderError when one has no
        vector.
        """
        tokens = [self._tokens(prompt + text) for text in texts]
        vectors = np.empty((len(texts), self.record.dimension), dtype=np.float32)

        def embed(rows: Sequence[int]) -> None:
            vectors[rows] = self._encode([tokens[row] for row in rows])

        with ThreadPoolExecutor(threads, thread_name_prefix="embed") as pool:
            for _ in pool.map(embed, _batches_of(tokens)):
                pass
        return vectors

    def _tokens(self, text: str) -> TokenIds:
        return np.asarray(self._tokenizer.encode(text).ids, dtype=np.int64)

    def _encode(self, texts: Sequence[TokenIds]) -> list[NDArray[np.float32]]:
        """The vectors of texts of one padded length."""
        lengths = np.array([len(tokens) for tokens in texts])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        positions = np.concatenate([self._positions[:length] for length in lengths])
        occupied = np.arange(_padded_length(texts[0])) < lengths[:, np.newaxis]
        rows = np.flatnonzero(occupied)
        places = np.zeros(occupied.size, dtype=np.int64)
        places[rows] = np.arange(len(rows))
        inputs = {
            "embedded": self._words[np.concatenate(texts)] + positions,
            "places": places,
            "mask": np.where(occupied, np.float32(0), _MASKED),
            "rows": rows,
        }
        (hidden,) = self._session.run(["hidden"], inputs)
        return [self._pooled(np.asarray(hidden)[start:end]) for start, end in pairwise(starts)]

    def _pooled(self, hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        """The unit vector of a text's last layer [tokens, dimension]; sums are in double precision, token by token."""
        try:
            # A sum points where the mean does.
            return unit_length(hidden[0] if self.record.pooling == "cls" else hidden.sum(axis=0, dtype=np.float64))
        except ValueError as error:
            raise EmbedderError(
                f"the model {self.record.embedder!r} gave an unusable vector ({error}): use another"
            ) from error


def _batches_of(texts: Sequence[TokenIds]) -> Iterator[Sequence[int]]:
    """The rows of texts of one padded length, as many as a batch may hold; the longest first, so that the last batches
    are short and no thread waits long for another."""
    rows: dict[int, list[int]] = {}
    for row, tokens in enumerate(texts):
        rows.setdefault(_padded_length(tokens), []).append(row)
    for length in sorted(rows, reverse=True):
        most = _most_texts(length)
        for start in range(0, len(rows[length]), most):
            yield rows[length][start : start + most]


def _padded_length(tokens: TokenIds) -> int:
    return -(-len(tokens) // LENGTH_STEP) * LENGTH_STEP


def _most_texts(padded_length: int) -> int:
    return max(1, min(MOST_TEXTS, MOST_TOKENS // padded_length))
