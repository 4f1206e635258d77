"""One thread at a time holds the interpreter; who releases it lets another in and has it again after."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from groundwire_server.domain.interpreter import SLICE_SECONDS, give_way, holding_interpreter, releasing_interpreter

SECONDS = 10.0


def at_once(works: list[Callable[[], object]]) -> None:
    with ThreadPoolExecutor(len(works)) as pool:
        for future in [pool.submit(work) for work in works]:
            future.result(SECONDS)


def test_two_threads_never_hold_it_at_once() -> None:
    inside: list[int] = []
    most = 0

    @holding_interpreter()
    def work() -> None:
        nonlocal most
        inside.append(1)
        most = max(most, len(inside))
        threading.Event().wait(0.001)
        inside.pop()

    at_once([lambda: [work() for _ in range(20)]] * 4)
    assert most == 1


def test_who_releases_it_may_wait_for_another_that_holds_it() -> None:
    released, done = threading.Event(), threading.Event()

    def waits() -> None:
        with holding_interpreter():
            with releasing_interpreter():
                released.set()
                assert done.wait(SECONDS)
            with releasing_interpreter():  # held again, so it can be released again
                pass

    def works() -> None:
        assert released.wait(SECONDS)
        with holding_interpreter():
            done.set()

    at_once([waits, works])


def test_an_error_inside_gives_it_back() -> None:
    def fail() -> None:
        with holding_interpreter(), releasing_interpreter():
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    at_once([holding_interpreter()(lambda: None)])


def test_a_thread_that_does_not_hold_it_releases_nothing() -> None:
    def enter() -> None:
        with releasing_interpreter():
            pass

    with holding_interpreter():
        at_once([enter])
        blocked = threading.Thread(target=holding_interpreter()(lambda: None))
        blocked.start()
        blocked.join(0.05)
        assert blocked.is_alive()
    blocked.join(SECONDS)
    assert not blocked.is_alive()


def test_a_long_call_gives_way_to_one_that_waits() -> None:
    began, done = threading.Event(), threading.Event()

    @holding_interpreter()
    def works_for_long() -> None:
        began.set()
        end = time.monotonic() + SECONDS
        while not done.is_set():
            assert time.monotonic() < end
            give_way()

    def comes_later() -> None:
        assert began.wait(SECONDS)
        with holding_interpreter():
            done.set()

    at_once([works_for_long, comes_later])


def test_nobody_gives_way_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("groundwire_server.domain.interpreter.time.sleep", slept.append)
    give_way()
    with holding_interpreter():
        threading.Event().wait(2 * SLICE_SECONDS)
        give_way()
    assert slept == []
