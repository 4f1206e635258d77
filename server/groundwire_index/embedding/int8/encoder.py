"""Embeds queries and texts with a converted model; a vector does not depend on what else is embedded with it."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from groundwire_index.embedding.int8.bert_session import BertSession, TokenIds, padded_length
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

MOST_TOKENS = 1_024
MOST_TEXTS = 32
"""The size limit of a batch, padding included: more gains little and makes the next batch wait."""


class Int8Encoder:
    """A converted model, loaded. Safe to share between threads.

    The table of the words' embeddings is mapped, so the processes of a machine share its pages.
    """

    def __init__(self, directory: Path) -> None:
        """Checks and loads the model that `EncoderStore` keeps in a directory. Raises EncoderDamagedError."""
        self.record = record = read_record(directory)
        # Where int8 weights overflow, the same integers are multiplied as unsigned ones: slower, and to the same bytes.
        exact = multiplies_exactly(record.check(directory, PROBE_FILE))
        self._bert = BertSession(
            model=record.embedder,
            session=open_session(record.check(directory, INT8_FILE if exact else UINT8_FILE)),
            words=np.asarray(np.load(record.check(directory, WORDS_FILE), mmap_mode="r")),
            positions=np.load(record.check(directory, POSITIONS_FILE)),
            tokenizer=Tokenizer.from_file(str(record.check(directory, TOKENIZER_FILE))),
            max_tokens=record.max_tokens,
            pooling=record.pooling,
        )

    def query_tokens(self, query: str) -> TokenIds:
        """The tokens of a query, after the model's prompt."""
        return self._bert.tokens(self.record.prompt + query)

    def embed_tokens(self, texts: Sequence[TokenIds]) -> list[NDArray[np.float32]]:
        """The unit vectors [dimension] of a batch: texts of one padded length, at most `most_texts` of them.

        Raises EmbedderError when one has no vector.
        """
        return self._bert.vectors(texts)

    def embed_query(self, query: str) -> NDArray[np.float32]:
        """The query's vector: float32 of shape [dimension], unit length. Raises EmbedderError when it has none."""
        return self.embed_tokens([self.query_tokens(query)])[0]

    def embed_texts(self, texts: Sequence[str], prompt: str, threads: int) -> NDArray[np.float32]:
        """The vectors of texts to be found, each after the prompt: float32 of shape [len(texts), dimension].

        Texts of like length are computed together, `threads` batches at a time. Raises EmbedderError when one has no
        vector.
        """
        tokens = [self._bert.tokens(prompt + text) for text in texts]
        vectors = np.empty((len(texts), self.record.dimension), dtype=np.float32)

        def embed(rows: Sequence[int]) -> None:
            vectors[rows] = self.embed_tokens([tokens[row] for row in rows])

        with ThreadPoolExecutor(threads, thread_name_prefix="embed") as pool:
            for _ in pool.map(embed, _batches_of(tokens)):
                pass
        return vectors


def _batches_of(texts: Sequence[TokenIds]) -> Iterator[Sequence[int]]:
    """The rows of texts of one padded length, as many as a batch may hold; the longest first.

    So the last batches are short, and no thread waits long for another.
    """
    rows: dict[int, list[int]] = {}
    for row, tokens in enumerate(texts):
        rows.setdefault(padded_length(tokens), []).append(row)
    for length in sorted(rows, reverse=True):
        most = most_texts(length)
        for start in range(0, len(rows[length]), most):
            yield rows[length][start : start + most]


def most_texts(padded_length: int) -> int:
    """How many texts of this padded length a batch holds at most."""
    return max(1, min(MOST_TEXTS, MOST_TOKENS // padded_length))
