"""Embeds queries and texts with a converted model; a vector does not depend on what else is embedded with it."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

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
    Pooling,
    read_record,
)

if TYPE_CHECKING:
    import onnxruntime

_ERRORS_ONLY = 3


def open_session(graph: Path | bytes) -> "onnxruntime.InferenceSession":
    """A session over an ONNX file, or its content; `run` is safe to call from several threads.

    Optimisations are off: fusions may swap an operation that treats each row alone for one that does not, and differ
    between versions. Memory patterns are off because no two batches have the same shape.
    """
    # A process that embeds no query, such as a build without vectors, does not load it.
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.enable_mem_pattern = False
    options.log_severity_level = _ERRORS_ONLY
    source = graph if isinstance(graph, bytes) else str(graph)
    return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def multiplies_exactly(probe: Path) -> bool:
    """True if products of bytes with signed weights are exact here; x86 without VNNI saturates sums of pairs."""
    left = np.full((16, 64), 255, np.uint8)
    (sums,) = open_session(probe).run(["sums"], {"left": left})
    return bool(np.all(np.asarray(sums) == 64 * 255 * 127))


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
