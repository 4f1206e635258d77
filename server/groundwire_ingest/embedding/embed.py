"""Embedding the texts of an index: each distinct text once, and only when no earlier run has."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from groundwire_index.embedding.embedder import ProbedEmbedder, TextEmbedder
from groundwire_index.nodes.node import content_hash
from groundwire_ingest.embedding.cache import EmbeddingCache, EmbeddingCacheError

TEXTS_A_COMMIT = 256
"""Texts embedded between two writes to the cache: what an interrupted run loses at most. So many give batches of like
length, and keep all cores at work."""
TEXTS_A_LOOK_UP = 1024

Report: TypeAlias = Callable[[int, int], None]
"""Takes how many are done, and how many there are."""


class Texts(Protocol):
    """The texts of an index by row; read again rather than held."""

    def __len__(self) -> int: ...

    def read(self, rows: Sequence[int]) -> Iterator[str]:
        """The texts of some rows, in their order."""
        ...


class VectorStore(Protocol):
    """Keeps the vectors of rows."""

    def put(self, rows: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Keeps vectors [m, dimension] of rows [m], which ascend."""
        ...


@dataclass(frozen=True, slots=True)
class Found:
    """The state of the cache for some texts: the number of distinct ones it had, and the texts to embed.

    `missing` [m] are the rows whose texts it does not know, and `texts` [m] number these texts: equal numbers mean
    equal texts, and numbers ascend with the first rows that have them.
    """

    reused: int
    missing: NDArray[np.int64]
    texts: NDArray[np.int64]

    def missing_texts(self, texts: Texts) -> Iterator[str]:
        """The texts to embed, each once."""
        return texts.read(self.missing[np.unique(self.texts, return_index=True)[1]].tolist())


def put_known(
    texts: Texts,
    embedder: TextEmbedder,
    cache: EmbeddingCache,
    store: VectorStore,
    report: Report,
    texts_a_look_up: int = TEXTS_A_LOOK_UP,
) -> Found:
    """Puts the vectors that the cache has of the texts; a blank text has none and never gets any.

    `report` gets the number of rows that are looked up. Raises EmbeddingCacheError.
    """
    known, missing = _Hashes(), _Hashes()
    for start in range(0, len(texts), texts_a_look_up):
        rows = range(start, min(start + texts_a_look_up, len(texts)))
        hashes = {row: content_hash(text) for row, text in zip(rows, texts.read(rows), strict=True) if text.strip()}
        vectors = cache.get_many(embedder.fingerprint, list(dict.fromkeys(hashes.values())))
        known_rows = [row for row, text_hash in hashes.items() if text_hash in vectors]
        if known_rows:
            store.put(
                np.asarray(known_rows), _stacked([vectors[hashes[row]] for row in known_rows], embedder.dimension)
            )
        for row, text_hash in hashes.items():
            (known if text_hash in vectors else missing).add(row, text_hash)
        report(rows.stop, len(texts))
    missing_rows, numbers = missing.numbered()
    return Found(int(known.numbered()[1].max(initial=-1)) + 1, missing_rows, numbers)


def put_missing(
    known: Found,
    texts: Texts,
    embedder: TextEmbedder,
    cache: EmbeddingCache,
    store: VectorStore,
    report: Report,
    texts_a_commit: int = TEXTS_A_COMMIT,
    tokens: Sequence[int] = (),
) -> int:
    """Embeds the texts that were missing, each once, and puts their vectors; returns how many there were.

    New vectors are written to the cache every `texts_a_commit` texts, so an interrupted run loses little; those of a
    service after each request. `report` gets the number of finished texts: once before the first, then after every
    write. With `tokens`, the number of each text's, it gets tokens instead. Raises what the embedder raises, and
    EmbeddingCacheError.
    """
    by_text = np.argsort(known.texts, kind="stable")
    rows = known.missing[by_text]
    count = int(known.texts.max(initial=-1)) + 1
    starts = np.searchsorted(known.texts[by_text], np.arange(count + 1))
    sizes = np.asarray(tokens or np.ones(count), dtype=np.int64)
    done, total = 0, int(sizes.sum())
    report(done, total)

    def read(first: int, last: int) -> list[str]:
        return list(texts.read(rows[starts[first:last]].tolist()))

    if isinstance(embedder, ProbedEmbedder):
        batches = embedder.embed_counted(read, sizes.tolist())
    else:
        blocks = ((first, read(first, min(first + texts_a_commit, count))) for first in range(0, count, texts_a_commit))
        batches = ((first, some, embedder.embed_texts(some)) for first, some in blocks)
    for first, some, vectors in batches:
        last = first + len(some)
        cache.put_many(embedder.fingerprint, dict(zip(map(content_hash, some), vectors, strict=True)))
        own_rows = rows[starts[first] : starts[last]]
        own_vectors = np.repeat(vectors, np.diff(starts[first : last + 1]), axis=0)
        order = np.argsort(own_rows)
        store.put(own_rows[order], own_vectors[order])
        done += int(sizes[first:last].sum())
        report(done, total)
    return count


def vectors_of(texts: Sequence[str], embedder: TextEmbedder, cache: EmbeddingCache) -> NDArray[np.float32]:
    """The vectors [m, dimension] of texts, 0 for a blank one; the cache gets those that it does not know.

    Raises what the embedder raises, and EmbeddingCacheError.
    """
    keys = list(map(content_hash, texts))
    vectors = cache.get_many(embedder.fingerprint, keys)
    missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors and text.strip()}
    if missing:
        new = dict(zip(missing, embedder.embed_texts(list(missing.values())), strict=True))
        cache.put_many(embedder.fingerprint, new)
        vectors |= new
    blank = np.zeros(embedder.dimension, dtype=np.float32)
    return _stacked([vectors.get(key, blank) for key in keys], embedder.dimension)


class _Hashes:
    """The hashes of rows' texts, 32 bytes each."""

    def __init__(self) -> None:
        self._rows = array("q")
        self._digests = bytearray()

    def add(self, row: int, text_hash: str) -> None:
        self._rows.append(row)
        self._digests += bytes.fromhex(text_hash)

    def numbered(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows, which ascend, and for each the number of its text; numbers ascend with their first rows."""
        digests = np.frombuffer(self._digests, dtype=np.int64).reshape(-1, 4).T
        order = np.lexsort(digests)  # stable: of equal texts the first row comes first
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = np.any(digests[:, order[1:]] != digests[:, order[:-1]], axis=0)
        firsts = order[new]
        numbers = np.empty(len(firsts), dtype=np.int64)
        numbers[np.argsort(firsts)] = np.arange(len(firsts))
        texts = np.empty(len(order), dtype=np.int64)
        texts[order] = numbers[np.cumsum(new) - 1]
        return np.asarray(self._rows, dtype=np.int64), texts


def _stacked(vectors: Sequence[NDArray[np.float32]], dimension: int) -> NDArray[np.float32]:
    for vector in vectors:
        if vector.shape != (dimension,):
            raise EmbeddingCacheError(
                f"the embedding cache holds a vector of {len(vector)} numbers where the model gives {dimension}: "
                "delete the cache; it is built anew"
            )
    return np.stack(vectors)
