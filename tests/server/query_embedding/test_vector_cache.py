"""The cache of query vectors: bounded, read-only, and each owner's apart from the others'."""

from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from groundwire_server.query_embedding.query_vectors import QueryVectorCache


def vector_of(key: int) -> NDArray[np.float64]:
    return np.random.default_rng(key).standard_normal(8)


def get(
    cache: QueryVectorCache, owner: Hashable, key: Hashable, compute: Callable[[], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """The vector under the key, which is computed when there is none."""
    known = cache.find(owner, key)
    return cache.keep(owner, key, compute()) if known is None else known


class Asking:
    """Asks a cache, and notes what had to be computed."""

    def __init__(self, cache: QueryVectorCache) -> None:
        self._cache = cache
        self.computed: list[str] = []

    def __call__(self, owner: str, key: str) -> None:
        def compute() -> NDArray[np.float64]:
            self.computed.append(f"{owner}{key}")
            return vector_of(1)

        get(self._cache, owner, key, compute)


def test_what_is_known_is_not_computed_again() -> None:
    cache = QueryVectorCache()
    first = get(cache, "me", "a", lambda: vector_of(1))
    assert get(cache, "me", "a", lambda: vector_of(2)) is first
    assert not first.flags.writeable


def test_the_least_recently_used_goes_first() -> None:
    ask = Asking(QueryVectorCache(vectors=2))
    for key in "abacab":
        ask("me", key)
    assert ask.computed == ["mea", "meb", "mec", "meb"]


def test_nobody_finds_what_another_has_asked() -> None:
    ask = Asking(QueryVectorCache())
    for owner in ("me", "you", "me", "you"):
        ask(owner, "a")
    assert ask.computed == ["mea", "youa"]


def test_who_fills_a_share_drives_out_nobody_else() -> None:
    ask = Asking(QueryVectorCache(owners=2, vectors=2))
    ask("me", "a")
    for number in range(100):
        ask("you", str(number))
    ask.computed.clear()
    ask("me", "a")
    assert ask.computed == []


def test_the_owner_that_asked_longest_ago_goes_first() -> None:
    ask = Asking(QueryVectorCache(owners=2))
    for owner in ("me", "you", "me", "they", "me", "you"):
        ask(owner, "a")
    assert ask.computed == ["mea", "youa", "theya", "youa"]


def test_threads_get_the_bytes_that_were_asked_for_and_the_bounds_hold() -> None:
    cache = QueryVectorCache(owners=3, vectors=5)
    look_ups = [(number % 5, number * 7 % 11) for number in range(3000)]
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda pair: get(cache, pair[0], pair[1], lambda: vector_of(pair[1])), look_ups))
    assert all(answer.tobytes() == vector_of(key).tobytes() for answer, (_, key) in zip(answers, look_ups, strict=True))
    assert len(cache._shares) == 3
    assert all(len(share) <= 5 for share in cache._shares.values())
