"""The embedding cache: what is put is found again, in whole transactions, from several processes."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_ingest.embedding.cache import EmbeddingCache, EmbeddingCacheError
from support import programs

ONE = np.array([0.6, 0.8], dtype=np.float32)
TWO = np.array([1.0, 0.0], dtype=np.float32)


def _bytes(vectors: dict[str, NDArray[np.float32]]) -> dict[str, bytes]:
    return {text_hash: vector.tobytes() for text_hash, vector in vectors.items()}


def test_vectors_are_found_again_in_the_next_run(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "cache.sqlite"
    with EmbeddingCache(path) as cache:
        cache.put_many("model", {"a": ONE, "b": TWO})
    with EmbeddingCache(path) as cache:
        cached = cache.get_many("model", ["b", "missing", "a"])
    assert _bytes(cached) == _bytes({"a": ONE, "b": TWO})
    assert cached["a"].dtype == np.float32


def test_models_are_kept_apart(tmp_path: Path) -> None:
    with EmbeddingCache(tmp_path / "cache") as cache:
        cache.put_many("model", {"a": ONE})
        assert cache.get_many("other model", ["a"]) == {}


def test_a_known_vector_stays(tmp_path: Path) -> None:
    with EmbeddingCache(tmp_path / "cache") as cache:
        cache.put_many("model", {"a": ONE})
        cache.put_many("model", {"a": TWO})
        assert _bytes(cache.get_many("model", ["a"])) == _bytes({"a": ONE})


def test_more_hashes_than_a_statement_takes(tmp_path: Path) -> None:
    vectors = {f"{number:064d}": np.array([number, 1], dtype=np.float32) for number in range(40_000)}
    with EmbeddingCache(tmp_path / "cache") as cache:
        cache.put_many("model", vectors)
        assert _bytes(cache.get_many("model", list(vectors))) == _bytes(vectors)


def test_a_failed_put_keeps_nothing(tmp_path: Path) -> None:
    with EmbeddingCache(tmp_path / "cache") as cache:
        with pytest.raises(EmbeddingCacheError):
            cache.put_many("model", {"a": ONE, None: TWO})  # type: ignore[dict-item]
        assert cache.get_many("model", ["a"]) == {}
        cache.put_many("model", {"a": ONE})
        assert list(cache.get_many("model", ["a"])) == ["a"]


@pytest.mark.parametrize(
    "content", [b"this is no database, it is a letter" * 100, b"SQLite format 3\x00" + b"\xff" * 8000]
)
def test_a_damaged_file_is_refused_with_what_to_do(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "cache"
    path.write_bytes(content)
    with pytest.raises(EmbeddingCacheError, match=r"cache is damaged.*delete it"):
        EmbeddingCache(path)
    assert path.read_bytes() == content


def test_a_torn_page_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    with EmbeddingCache(path) as cache:
        cache.put_many("model", {f"{number:064d}": np.ones(384, dtype=np.float32) for number in range(100)})
    content = bytearray(path.read_bytes())
    content[4096 : len(content)] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    with EmbeddingCache(path) as cache, pytest.raises(EmbeddingCacheError, match="delete it"):
        cache.get_many("model", [f"{7:064d}"])


@pytest.mark.parametrize("stored", [b"", b"12345"])
def test_a_vector_of_no_whole_numbers_is_damage(tmp_path: Path, stored: bytes) -> None:
    path = tmp_path / "cache"
    with EmbeddingCache(path) as cache:
        connection = sqlite3.connect(path)
        connection.execute("INSERT INTO vectors VALUES ('model', 'a', ?)", (stored,))
        connection.commit()
        connection.close()
        with pytest.raises(EmbeddingCacheError, match=rf"damaged \(a vector of {len(stored)} bytes\)"):
            cache.get_many("model", ["a"])


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE notes (text)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(EmbeddingCacheError, match="no embedding cache"):
        EmbeddingCache(path)
    assert path.read_bytes() == before


def test_an_unreachable_path_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EmbeddingCacheError, match="cannot be used"):
        EmbeddingCache(tmp_path / "file" / "cache")
    with pytest.raises(EmbeddingCacheError, match="cannot be used"):
        EmbeddingCache(tmp_path)


def test_processes_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    with ThreadPoolExecutor(4) as pool:
        writers = list(pool.map(partial(programs.run, "write_cache", path), range(4)))
    assert [writer.returncode for writer in writers] == [0] * 4, [writer.stderr for writer in writers]
    with EmbeddingCache(path) as cache:
        expected = [f"{process}-{step}-{number}" for process in range(4) for step in range(40) for number in range(5)]
        assert len(cache.get_many("model", expected)) == len(expected)
