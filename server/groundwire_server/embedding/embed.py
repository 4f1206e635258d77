"""Embedding the texts of an index: each distinct text once, and only when no earlier run has."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from groundwire_server.domain.nodes import content_hash
from groundwire_server.embedding.cache import EmbeddingCache, EmbeddingCacheError
from groundwire_server.embedding.embedder import Embedder

TEXTS_A_COMMIT = 64
"""Texts embedded between two writes to the cache: what an interrupted run loses at most."""


@dataclass(frozen=True, slots=True)
class EmbeddedTexts:
    """The vectors of a sequence of texts.

    `vectors` is float32 of shape [number of texts, dimension]; a row is zero where `present`, bool of shape [number of
    texts], is False: an empty or blank text has no vector. `embedded` and `reused` count distinct texts: those
    embedded now, and those whose vectors were in the cache.
    """

    vectors: NDArray[np.float32]
    present: NDArray[np.bool_]
    embedded: int
    reused: int


def embed_missing(
    texts: Sequence[str], embedder: Embedder, cache: EmbeddingCache, progress: Callable[[int, int], None]
) -> EmbeddedTexts:
    """The vectors of the texts, from the cache where it has them and from the embedder otherwise.

    New vectors are written to the cache every TEXTS_A_COMMIT texts, so an interrupted run loses little. `progress` is
    told how many of the texts that need embedding are done, and how many there are: once before the first, then after
    every write. Raises what the embedder raises, and EmbeddingCacheError.
    """
    hashes = [content_hash(text) if text.strip() else None for text in texts]
    distinct = {text_hash: text for text_hash, text in zip(hashes, texts, strict=True) if text_hash is not None}
    known = cache.get_many(embedder.fingerprint, list(distinct))
    missing = [text_hash for text_hash in distinct if text_hash not in known]
    progress(0, len(missing))
    reused = len(known)
    for start in range(0, len(missing), TEXTS_A_COMMIT):
        some = missing[start : start + TEXTS_A_COMMIT]
        new = dict(zip(some, embedder.embed_texts([distinct[text_hash] for text_hash in some]), strict=True))
        cache.put_many(embedder.fingerprint, new)
        known.update(new)
        progress(start + len(some), len(missing))
    return EmbeddedTexts(
        vectors=_rows(hashes, known, embedder.dimension),
        present=np.array([text_hash is not None for text_hash in hashes], dtype=np.bool_),
        embedded=len(missing),
        reused=reused,
    )


def _rows(hashes: Sequence[str | None], known: dict[str, NDArray[np.float32]], dimension: int) -> NDArray[np.float32]:
    rows = np.zeros((len(hashes), dimension), dtype=np.float32)
    for row, text_hash in enumerate(hashes):
        if text_hash is None:
            continue
        vector = known[text_hash]
        if vector.shape != (dimension,):
            raise EmbeddingCacheError(
                f"the embedding cache holds a vector of {len(vector)} numbers where the model gives {dimension}: "
                "delete the cache; it is built anew"
            )
        rows[row] = vector
    return rows
