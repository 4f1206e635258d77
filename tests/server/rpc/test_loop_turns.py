"""Calls of short methods are computed on the event loop, and yet no identity waits for all calls of another."""

import asyncio
import time
from pathlib import Path

import pytest

from groundwire_server.config import Settings
from groundwire_server.execution.call import Call
from groundwire_server.rpc.admission.call_queue import Line, QueuedCall
from groundwire_server.rpc.calls import Calls, running_call
from groundwire_server.rpc.loop_turns import SECONDS_AT_ONCE, LoopTurns

pytestmark = pytest.mark.asyncio
METHOD = "groundwire.v1.RetrievalService/SearchNodes"
KNOWN_AFTER = 16
MANY = 64


class Computing:
    """Computes calls that take so many seconds of a clock of its own, by their subjects."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self._seconds = seconds
        self.now = 0.0
        self.subjects: list[str] = []

    def compute(self, call: QueuedCall) -> None:
        self.subjects.append(call.subject)
        self.now += self._seconds[call.subject]

    def clock(self) -> float:
        return self.now


def calls_of(subject: str, count: int) -> list[QueuedCall]:
    line = Line()
    return [QueuedCall(METHOD, subject, 0.0, line) for _ in range(count)]


async def test_calls_are_computed_at_once_until_the_loop_has_been_held_for_long() -> None:
    computing = Computing({"a": SECONDS_AT_ONCE / 2})
    turns = LoopTurns(computing.compute, computing.clock)
    for call in calls_of("a", 5):
        turns.enter(call)
    assert len(computing.subjects) == 2
    await asyncio.sleep(0)
    assert len(computing.subjects) == 4, "others have had the loop in between"
    await asyncio.sleep(0)
    assert len(computing.subjects) == 5


async def test_lines_take_turns() -> None:
    computing = Computing({"a": SECONDS_AT_ONCE, "b": 0.0})
    turns = LoopTurns(computing.compute, computing.clock)
    for call in calls_of("a", MANY):
        turns.enter(call)
    await asyncio.sleep(0)
    for call in calls_of("b", 3):
        turns.enter(call)
    while len(computing.subjects) < MANY + 3:
        await asyncio.sleep(0)
    assert computing.subjects == [*"aa", *"ababab", *("a" * (MANY - 5))]


async def test_an_idle_loop_computes_a_call_where_it_is() -> None:
    computing = Computing({"a": SECONDS_AT_ONCE})
    turns = LoopTurns(computing.compute, computing.clock)
    for call in calls_of("a", 3):
        turns.enter(call)
        await asyncio.sleep(0)
    assert computing.subjects == [*"aaa"]


async def test_a_light_call_does_not_wait_for_all_heavy_ones_of_another_identity(tmp_path: Path) -> None:
    """Heavy ones of a method that counts as short: each takes nearly as long as may be."""
    calls, ended = Calls(Settings(data=tmp_path), 1), list[str]()

    async def ask(subject: str, milliseconds: int) -> None:
        async def act(_: None, call: Call) -> None:
            until = time.thread_time() + milliseconds / 1_000
            await call.compute(lambda: [None for _ in iter(lambda: time.thread_time() < until, False)])

        with calls.admitted(METHOD, subject, None):
            await running_call().run(lambda: None, act, lambda _: ended.append(subject))

    for _ in range(2 * KNOWN_AFTER):
        await ask("light", 0)
    ended.clear()
    await asyncio.gather(*(ask("heavy", 3) for _ in range(MANY)), ask("light", 0))
    assert ended.index("light") <= 4
    assert ended.count("heavy") >= MANY
    calls.close()
