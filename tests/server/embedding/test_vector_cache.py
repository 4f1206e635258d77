"""The cache of query vectors: bounded, read-only, and silent about whether it answered."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_server.embedding.vector_cache import QueryVectorCache


def vector_of(key: int) -> NDArray[np.float64]:
    return np.random.default_rng(key).standard_normal(8)


def test_what_is_known_is_not_computed_again() -> None:
    cache = QueryVectorCache()
    first = cache.get("a", lambda: vector_of(1))
    assert cache.get("a", lambda: vector_of(2)) is first
    assert not first.flags.writeable


def test_the_least_recently_used_goes_first() -> None:
    cache = QueryVectorCache(capacity=2)
    computed: list[str] = []

    def ask(key: str) -> None:
        def compute() -> NDArray[np.float64]:
            computed.append(key)
            return vector_of(1)

        cache.get(key, compute)

    for key in "abacab":
        ask(key)
    assert computed == ["a", "b", "c", "b"]


def test_a_failure_is_not_kept() -> None:
    cache = QueryVectorCache()

    def fail() -> NDArray[np.float64]:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        cache.get("a", fail)
    assert cache.get("a", lambda: vector_of(1)).tobytes() == vector_of(1).tobytes()


def test_threads_get_the_bytes_that_were_asked_for() -> None:
    cache = QueryVectorCache(capacity=5)
    keys = [number * 7 % 11 for number in range(3000)]
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda key: cache.get(key, lambda: vector_of(key)), keys))
    assert all(answer.tobytes() == vector_of(key).tobytes() for key, answer in zip(keys, answers, strict=True))
    assert len(cache._vectors) == 5
