"""Embedding an index's texts: only new ones, each once, kept when the run is interrupted."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_index.embedding.embedder import unit_length
from groundwire_index.nodes.node import content_hash
from groundwire_ingest.embedding.cache import EmbeddingCache, EmbeddingCacheError
from groundwire_ingest.embedding.embed import TEXTS_A_COMMIT, TEXTS_A_LOOK_UP, Report, put_known, put_missing


class HashEmbedder:
    """Vectors drawn from the text's hash; remembers what it was asked, and can be told to fail at a text."""

    name = "hash"

    def __init__(self, fingerprint: str = "hash-1", dimension: int = 4) -> None:
        self.fingerprint = fingerprint
        self.dimension = dimension
        self.calls: list[list[str]] = []
        self.fail_at = ""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        seed = int(content_hash(text)[:8], 16)
        return unit_length(np.random.default_rng(seed).standard_normal(self.dimension).astype(np.float32))

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.fail_at in texts:
            raise KeyboardInterrupt
        self.calls.append(list(texts))
        return np.stack([self.embed_query(text) for text in texts])


@dataclass
class Texts:
    texts: Sequence[str]

    def __len__(self) -> int:
        return len(self.texts)

    def read(self, rows: Sequence[int]) -> Iterator[str]:
        return (self.texts[row] for row in rows)


@dataclass
class Embedded:
    """A store in memory, and what the two steps together say."""

    vectors: NDArray[np.float32]
    present: NDArray[np.bool_]
    embedded: int = 0
    reused: int = 0

    def put(self, rows: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        assert rows.tolist() == sorted(rows.tolist())
        assert not self.present[rows].any()
        self.vectors[rows] = vectors
        self.present[rows] = True


def embed_missing(
    texts: Sequence[str],
    embedder: HashEmbedder,
    cache: EmbeddingCache,
    report: Report,
    looked_up: int = TEXTS_A_LOOK_UP,
    committed: int = TEXTS_A_COMMIT,
) -> Embedded:
    count, dimension = len(texts), embedder.dimension
    store = Embedded(np.zeros((count, dimension), dtype=np.float32), np.zeros(count, dtype=np.bool_))
    known = put_known(Texts(texts), embedder, cache, store, _ignore, looked_up)
    store.embedded = put_missing(known, Texts(texts), embedder, cache, store, report, committed)
    store.reused = known.reused
    return store


def _ignore(done: int, total: int) -> None: ...


@pytest.fixture
def embedder() -> HashEmbedder:
    return HashEmbedder()


@pytest.fixture
def other_embedder() -> HashEmbedder:
    return HashEmbedder(fingerprint="hash-2")


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[EmbeddingCache]:
    with EmbeddingCache(tmp_path / "cache") as opened:
        yield opened


def test_each_distinct_text_is_embedded_once(embedder: HashEmbedder, cache: EmbeddingCache) -> None:
    texts = ["b", "a", "b", "", "a", " \n\t"]
    result = embed_missing(texts, embedder, cache, _ignore)
    assert embedder.calls == [["b", "a"]]
    assert (result.embedded, result.reused) == (2, 0)
    assert result.present.tolist() == [True, True, True, False, True, False]
    assert result.vectors.dtype == np.float32
    assert result.vectors.shape == (6, 4)
    assert result.vectors[1].tobytes() == embedder.embed_query("a").tobytes()
    assert not result.vectors[3].any()
    assert not result.vectors[5].any()


class Probed(HashEmbedder):
    """Two texts a request, as those of a service."""

    host = "localhost"
    price = 0.0

    def embed_counted(
        self, read: Callable[[int, int], Sequence[str]], tokens: Sequence[int]
    ) -> Iterator[tuple[int, Sequence[str], NDArray[np.float32]]]:
        for first in range(0, len(tokens), 2):
            texts = read(first, min(first + 2, len(tokens)))
            yield first, texts, self.embed_texts(texts)

    def probes(self) -> tuple[str, ...]:
        return ()

    def query_embedder(self, probes: tuple[str, ...]) -> None:
        raise AssertionError("no query is asked")


def test_the_requests_of_a_service_are_kept_one_by_one_whether_tokens_are_counted_or_not(cache: EmbeddingCache) -> None:
    embedder, seen = Probed(), list[tuple[int, int]]()
    result = embed_missing(["b", "a", "b", "c"], embedder, cache, lambda done, total: seen.append((done, total)))
    assert embedder.calls == [["b", "a"], ["c"]]
    assert result.present.all()
    assert seen == [(0, 3), (2, 3), (3, 3)]


def test_a_second_run_embeds_only_what_is_new(embedder: HashEmbedder, cache: EmbeddingCache) -> None:
    first = embed_missing(["a", "b"], embedder, cache, _ignore)
    embedder.calls.clear()
    second = embed_missing(["c", "b", "a"], embedder, cache, _ignore)
    assert embedder.calls == [["c"]]
    assert (second.embedded, second.reused) == (1, 2)
    assert second.vectors[2].tobytes() == first.vectors[0].tobytes()


def test_another_model_shares_nothing(
    embedder: HashEmbedder, other_embedder: HashEmbedder, cache: EmbeddingCache
) -> None:
    embed_missing(["a"], embedder, cache, _ignore)
    assert embed_missing(["a"], other_embedder, cache, _ignore).embedded == 1


def test_an_interrupted_run_keeps_what_it_wrote(embedder: HashEmbedder, cache: EmbeddingCache) -> None:
    texts = [f"text {number}" for number in range(3 * TEXTS_A_COMMIT)]
    embedder.fail_at = texts[-1]
    with pytest.raises(KeyboardInterrupt):
        embed_missing(texts, embedder, cache, _ignore)
    embedder.fail_at = ""
    result = embed_missing(texts, embedder, cache, _ignore)
    assert (result.embedded, result.reused) == (TEXTS_A_COMMIT, 2 * TEXTS_A_COMMIT)


def test_progress_counts_the_texts_that_need_embedding(embedder: HashEmbedder, cache: EmbeddingCache) -> None:
    embed_missing(["known"], embedder, cache, _ignore)
    seen: list[tuple[int, int]] = []
    texts = ["known", *(f"text {number}" for number in range(TEXTS_A_COMMIT + 6))]
    embed_missing(texts, embedder, cache, lambda done, total: seen.append((done, total)))
    total = TEXTS_A_COMMIT + 6
    assert seen == [(0, total), (TEXTS_A_COMMIT, total), (total, total)]


def test_nothing_to_embed(embedder: HashEmbedder, cache: EmbeddingCache) -> None:
    result = embed_missing([], embedder, cache, _ignore)
    assert result.vectors.shape == (0, 4)
    assert result.present.shape == (0,)
    assert embedder.calls == []


def test_the_look_up_counts_every_row(embedder: HashEmbedder, cache: EmbeddingCache) -> None:
    seen: list[tuple[int, int]] = []
    store = Embedded(np.zeros((3, 4), dtype=np.float32), np.zeros(3, dtype=np.bool_))
    put_known(Texts(["a", "", "a"]), embedder, cache, store, lambda done, total: seen.append((done, total)), 2)
    assert seen == [(2, 3), (3, 3)]


def test_a_cached_vector_of_another_dimension_is_refused(cache: EmbeddingCache) -> None:
    embed_missing(["a"], HashEmbedder(dimension=5), cache, _ignore)
    with pytest.raises(EmbeddingCacheError, match="5 numbers where the model gives 4"):
        embed_missing(["a"], HashEmbedder(), cache, _ignore)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    runs=st.lists(st.lists(st.text(alphabet="ab ", max_size=3), max_size=12), min_size=1, max_size=4),
    looked_up=st.sampled_from([1, 2, 1024]),
    committed=st.sampled_from([1, 2, 64]),
)
def test_the_vectors_do_not_depend_on_what_the_cache_holds(
    cache: EmbeddingCache, runs: list[list[str]], looked_up: int, committed: int
) -> None:
    embedder = HashEmbedder()
    for texts in runs:
        result = embed_missing(texts, embedder, cache, _ignore, looked_up, committed)
        for row, text in enumerate(texts):
            assert bool(result.present[row]) == bool(text.strip())
            expected = embedder.embed_query(text) if text.strip() else np.zeros(4, dtype=np.float32)
            assert result.vectors[row].tobytes() == expected.tobytes()
