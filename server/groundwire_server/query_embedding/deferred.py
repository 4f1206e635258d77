"""An embedder that is loaded when it is first needed; a server whose queries go elsewhere never pays for it."""

from collections.abc import Callable, Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from groundwire_index.embedding.embedder import Embedder, EmbedderError, EmbedderUnavailableError


class DeferredEmbedder:
    """An Embedder with a name, fingerprint and dimension that are known beforehand. Thread-safe.

    Its methods raise EmbedderUnavailableError when `load` fails or gives a model of another fingerprint; the first
    failure is final.
    """

    def __init__(self, name: str, fingerprint: str, dimension: int, load: Callable[[str], Embedder]) -> None:
        self.name, self.fingerprint, self.dimension = name, fingerprint, dimension
        self._load = load
        self._lock = Lock()
        self._loaded: Embedder | EmbedderUnavailableError | None = None

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._embedder().embed_query(text)

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embedder().embed_texts(texts)

    def _embedder(self) -> Embedder:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._try_to_load()
        if isinstance(self._loaded, EmbedderUnavailableError):
            raise self._loaded
        return self._loaded

    def _try_to_load(self) -> Embedder | EmbedderUnavailableError:
        try:
            embedder = self._load(self.name)
        except EmbedderError as error:
            return EmbedderUnavailableError(str(error))
        if embedder.fingerprint != self.fingerprint:
            return EmbedderUnavailableError(
                f"the model {self.name!r} is not the one that the index was made with: put that one back, or index anew"
            )
        return embedder
