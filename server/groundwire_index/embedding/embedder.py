"""The interface of an embedding model for the index and the engine."""

import base64
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from groundwire_index.operator_errors import OperatorError

LEAST_COSINE = 0.99
"""Vectors of the same text by the same model agree at least so well."""


class EmbedderError(OperatorError):
    """A model cannot be loaded or gave no usable vector; says what to do."""


class EmbedderUnavailableError(EmbedderError):
    """The model that is needed cannot be loaded, or is not what it was."""


@contextmanager
def needs_local_models(model: str) -> Iterator[None]:
    """Around the import of what runs a model in this process. Raises EmbedderError when that is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise EmbedderError(
            f'the model {model!r} needs {error.name}, which is not installed: pip install "groundwire[local-models]"'
        ) from error


class TextEmbedder(Protocol):
    """Turns texts into vectors of unit length; the same text gives the same bytes in any batch."""

    @property
    def fingerprint(self) -> str:
        """Identifies what the vectors depend on; those of one fingerprint are interchangeable."""
        ...

    @property
    def dimension(self) -> int:
        """The length of every vector."""
        ...

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of texts to be found: float32 of shape [len(texts), dimension], in their order."""
        ...


class Embedder(TextEmbedder, Protocol):
    """A model: it embeds texts, and queries for them."""

    @property
    def name(self) -> str:
        """The model as its user named it, for messages and manifests."""
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector of a query: float32 of shape [dimension]."""
        ...


@runtime_checkable
class ProbedEmbedder(Protocol):
    """The further members of an `Embedder` in a service: its model may change, which vectors of fixed texts tell.

    Nothing else is listed, because `isinstance` reads every attribute, and a dimension may have to be asked for.
    """

    @property
    def host(self) -> str:
        """The host that texts are sent to."""
        ...

    @property
    def price(self) -> float:
        """The price of a million tokens, 0 when not given."""
        ...

    def embed_counted(
        self, read: Callable[[int, int], Sequence[str]], tokens: Sequence[int]
    ) -> Iterator[tuple[int, Sequence[str], NDArray[np.float32]]]:
        """Embeds texts with these numbers of tokens; `read` gives those from one number to before another.

        Each request's texts come with their vectors and the number of the first one. Those that are under way when a
        request fails come before the error.
        """
        ...

    def probes(self) -> tuple[str, ...]:
        """The vectors of fixed texts, for the manifest of an index. Raises EmbedderError."""
        ...

    def query_embedder(self, probes: tuple[str, ...]) -> Callable[[str, Callable[[], None]], NDArray[np.float32]]:
        """Embeds queries for an index with these probes; takes a query and a checkpoint.

        It raises ServiceError, EmbedderUnavailableError when the probes differ, and what the checkpoint raises.
        """
        ...


def probed(probe: str) -> NDArray[np.float32]:
    """The vector that a probe of an index holds."""
    return np.frombuffer(base64.b64decode(probe), dtype="<f4")


def agree(first: NDArray[np.float32], second: NDArray[np.float32]) -> bool:
    """True if two unit vectors of the same text may be by the same model."""
    return first.shape == second.shape and float(first @ second) >= LEAST_COSINE


def unit_length(vector: NDArray[np.floating]) -> NDArray[np.float32]:
    """The vector of shape [dimension] in float32, scaled to Euclidean length 1.

    The length is summed in float64 by NumPy's own pairwise summation, never by a BLAS, so a vector gives the same bytes
    on its own and as one of many. Raises ValueError when the vector has no direction (all zero) or is not finite.
    """
    length = math.sqrt(np.sum(np.square(vector, dtype=np.float64)))
    if not math.isfinite(length) or length == 0:
        raise ValueError("a vector must be finite and must not be all zero")
    unit: NDArray[np.float32] = np.divide(vector, length, dtype=np.float64).astype(np.float32)
    return unit
