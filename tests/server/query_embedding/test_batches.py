"""Calls share work without waiting for it, and nobody waits for a call that nobody waits for."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from groundwire_index.embedding.embedder import EmbedderError
from groundwire_server.domain.errors import CancelledError
from groundwire_server.query_embedding.batches import Batches
from support.calls import never_stop

SECONDS = 300


class Work:
    """Doubles numbers; can be held up, and notes the batches and the threads that ran them."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.threads: list[int] = []
        self.may_go = threading.Event()
        self.may_go.set()
        self.started = threading.Semaphore(0)

    def __call__(self, items: Sequence[int]) -> list[int]:
        self.batches.append(list(items))
        self.threads.append(threading.get_ident())
        self.started.release()
        assert self.may_go.wait(SECONDS)
        if any(item < 0 for item in items):
            raise ValueError("negative")
        return [2 * item for item in items]


def make(work: Work, most: int = 32) -> Batches[int, int]:
    """Batches whose classes are tens."""
    return Batches(work, lambda item: item // 10, lambda _: most)


def wait_for(batches: Batches[int, int], count: int) -> None:
    """Returns once so many calls are queued."""
    done = threading.Event()
    for _ in range(SECONDS * 1000):
        if len(batches._queue) == count:
            return
        done.wait(0.001)
    raise AssertionError(f"{len(batches._queue)} calls are queued, not {count}")


def test_a_lone_call_runs_at_once_in_its_own_thread() -> None:
    work = Work()
    assert make(work).run(21, never_stop) == 42
    assert work.batches == [[21]]
    assert work.threads == [threading.get_ident()]


def test_what_queued_meanwhile_is_one_batch_for_each_class() -> None:
    work = Work()
    batches = make(work)
    work.may_go.clear()
    with ThreadPoolExecutor(16) as pool:
        first = pool.submit(batches.run, 1, never_stop)
        assert work.started.acquire(timeout=SECONDS)
        others = []
        for place, item in enumerate((11, 22, 13, 24, 15), start=1):
            others.append(pool.submit(batches.run, item, never_stop))
            wait_for(batches, place)
        work.may_go.set()
        assert [call.result(SECONDS) for call in (first, *others)] == [2, 22, 44, 26, 48, 30]
    assert work.batches == [[1], [11, 13, 15], [22, 24]]


def test_a_batch_holds_no_more_than_its_most() -> None:
    work = Work()
    batches = make(work, most=2)
    work.may_go.clear()
    with ThreadPoolExecutor(16) as pool:
        calls = [pool.submit(batches.run, 0, never_stop)]
        assert work.started.acquire(timeout=SECONDS)
        for item in range(1, 6):
            calls.append(pool.submit(batches.run, item, never_stop))
            wait_for(batches, item)
        work.may_go.set()
        assert [call.result(SECONDS) for call in calls] == [0, 2, 4, 6, 8, 10]
    assert work.batches == [[0], [1, 2], [3, 4], [5]]


def test_a_call_that_nobody_waits_for_is_dropped() -> None:
    work = Work()
    batches = make(work)
    cancelled = threading.Event()

    def checkpoint() -> None:
        if cancelled.is_set():
            raise CancelledError

    work.may_go.clear()
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(batches.run, 1, never_stop)
        assert work.started.acquire(timeout=SECONDS)
        second = pool.submit(batches.run, 2, checkpoint)
        wait_for(batches, 1)
        third = pool.submit(batches.run, 3, never_stop)
        wait_for(batches, 2)
        cancelled.set()
        with pytest.raises(CancelledError):
            second.result(SECONDS)
        work.may_go.set()
        assert (first.result(SECONDS), third.result(SECONDS)) == (2, 6)
    assert work.batches == [[1], [3]]


def test_a_failure_is_told_to_the_whole_batch_and_the_next_goes_on() -> None:
    work = Work()
    batches = make(work)
    work.may_go.clear()
    with ThreadPoolExecutor(8) as pool:
        calls = [pool.submit(batches.run, 1, never_stop)]
        assert work.started.acquire(timeout=SECONDS)
        for place, item in enumerate((-5, -6, 3), start=1):
            calls.append(pool.submit(batches.run, item, never_stop))
            wait_for(batches, place)
        work.may_go.set()
        assert (calls[0].result(SECONDS), calls[3].result(SECONDS)) == (2, 6)
        errors = [call.exception(SECONDS) for call in calls[1:3]]
    assert {type(error) for error in errors} == {ValueError, EmbedderError}
    assert batches.run(4, never_stop) == 8


def test_under_load_everybody_gets_their_own_result() -> None:
    batches = make(Work(), most=5)
    flickering = threading.local()

    def checkpoint() -> None:
        flickering.count = getattr(flickering, "count", 0) + 1
        if flickering.count % 7 == 0:
            raise CancelledError

    def ask(item: int) -> int | None:
        try:
            return batches.run(item, checkpoint if item % 3 == 0 else never_stop)
        except CancelledError:
            return None

    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(ask, range(2000), timeout=SECONDS))
    assert all(answer in (2 * item, None if item % 3 == 0 else 2 * item) for item, answer in enumerate(answers))
    assert not batches._busy
    assert not batches._queue
