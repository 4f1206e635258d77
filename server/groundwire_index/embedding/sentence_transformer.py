"""The embedder that runs a sentence-transformers model on the CPU: the one module that needs torch to embed.

Every text is encoded alone, with one thread inside torch. On a CPU that is as fast as padded batches. It makes the
bytes of a vector independent of the batch, the batch size and the number of cores. Cores are used by encoding several
texts at once, each in its own thread.
"""

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
from tokenizers import Tokenizer
from transformers.utils import logging as transformers_logging

from groundwire_index.embedding.embedder import EmbedderError, unit_length
from groundwire_index.embedding.fingerprint import ModelDescription
from groundwire_index.embedding.model_names import DEFAULT_MODEL


class _Module(Protocol):
    """A step of a sentence-transformers model: the transformer, its pooling, a normalisation, ..."""

    def get_config_dict(self) -> dict[str, object]: ...


class Encoder(Protocol):
    """The part of SentenceTransformer used here; its own signatures span every kind of input and output."""

    def encode_query(self, inputs: list[str], *, batch_size: int, show_progress_bar: bool) -> NDArray[np.float32]:
        """The vectors [m, dimension] of queries."""
        ...

    def encode_document(self, inputs: list[str], *, batch_size: int, show_progress_bar: bool) -> NDArray[np.float32]:
        """The vectors [m, dimension] of texts."""
        ...


class SentenceTransformerEmbedder:
    """Embeds with a sentence-transformers model, in float32 on the CPU; safe to share between threads.

    `name_or_path` is a folder holding a model, or a name on the Hugging Face Hub; only the latter may touch the
    network. `threads` texts are encoded at once (default: one a core). Queries and texts get the prompts that the model
    declares for them. Torch is set to one thread an operation, for the whole process.

    Raises EmbedderError when the model cannot be loaded.
    """

    def __init__(self, name_or_path: str, threads: int | None = None) -> None:
        torch.set_num_threads(1)
        model = load_model(name_or_path)
        self.model = model
        self._encoder = cast("Encoder", model)
        self._threads = threads or os.cpu_count() or 1
        self.name = name_or_path
        # The first calls also settle the tokenizer's truncation and padding: changing them later, while another thread
        # tokenises, makes it raise "Already borrowed".
        self.dimension = len(self.embed_query("query"))
        self.embed_texts(["text"])
        self.fingerprint = _fingerprint(model)

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

    def _embed_text(self, text: str) -> NDArray[np.float32]:
        return self._unit_length(self._encoder.encode_document([text], batch_size=1, show_progress_bar=False)[0])

    def _unit_length(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        try:
            return unit_length(vector)
        except ValueError as error:
            raise EmbedderError(f"the model {self.name!r} gave an unusable vector ({error}): use another") from error


def load_model(name_or_path: str) -> SentenceTransformer:
    """The model in float32 on the CPU, for `SentenceTransformerEmbedder`. Raises EmbedderError."""
    location, is_local = _locate(name_or_path)
    with _no_progress_bars():
        try:
            model = SentenceTransformer(location, device="cpu", local_files_only=is_local)
        except Exception as error:
            raise EmbedderError(
                f"the embedding model {name_or_path!r} cannot be loaded ({error}): name a folder that holds a "
                f"sentence-transformers model, a model on the Hugging Face Hub, or {DEFAULT_MODEL!r}"
            ) from error
    return model.float().eval()


def _fingerprint(model: SentenceTransformer) -> str:
    """A digest of what decides the vectors. Raises EmbedderError for a model without a fast tokenizer."""
    tokenizer = getattr(model.tokenizer, "backend_tokenizer", model.tokenizer)
    if not isinstance(tokenizer, Tokenizer):
        raise EmbedderError(
            f"the model's tokenizer ({type(tokenizer).__name__}) cannot be fingerprinted: "
            "use a model with a fast tokenizer (a tokenizer.json)"
        )
    return ModelDescription(
        weights={name: tensor.contiguous().numpy() for name, tensor in model.state_dict().items()},
        tokenizer=tokenizer,
        max_seq_length=model.max_seq_length,
        prompts=model.prompts,
        default_prompt_name=model.default_prompt_name,
        modules=[(type(module).__name__, cast("_Module", module).get_config_dict()) for module in model],
    ).fingerprint()


def _locate(name_or_path: str) -> tuple[str, bool]:
    """Where sentence-transformers finds the model, and whether that is on this machine."""
    path = Path(name_or_path).expanduser()
    if path.is_dir():
        return str(path), True
    if path.is_absolute() or name_or_path.startswith((".", "~")):
        raise EmbedderError(f"there is no folder {name_or_path!r}: name a folder that holds a model")
    return name_or_path, False


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
