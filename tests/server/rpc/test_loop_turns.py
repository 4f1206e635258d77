"""Short calls are computed on the event loop, and yet no identity waits for all calls of another."""

import asyncio
import time
from pathlib import Path

import pytest

from groundwire_index.scope import Scope
from groundwire_server.config import Settings
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.search.search import SearchRequest, SearchType
from groundwire_server.rpc.admission.call_kinds import KNOWN_AFTER
from groundwire_server.rpc.admission.call_queue import Line
from groundwire_server.rpc.calls import Calls
from groundwire_server.rpc.loop_turns import SECONDS_AT_ONCE, LoopTurns

pytestmark = pytest.mark.asyncio
METHOD = "groundwire.v1.RetrievalService/SearchNodes"
MANY = 64
SEARCH = SearchRequest(Scope("shop", "main"), AccessContext(), search_type=SearchType.BM25, query="needle", top_k=5)


class Computing:
    """Calls that take so many seconds of a clock of their own, by their line, as they take turns."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self._seconds = seconds
        self._lines = {name: Line() for name in seconds}
        self._turns = LoopTurns(lambda: self.now)
        self._tasks: list[asyncio.Task[None]] = []
        self.now = 0.0
        self.computed: list[str] = []

    def come(self, name: str, count: int) -> None:
        """So many calls of the line come at once."""
        self._tasks += [asyncio.ensure_future(self._compute(name)) for _ in range(count)]

    async def _compute(self, name: str) -> None:
        await self._turns.turn(self._lines[name])
        with self._turns.computing():
            self.computed.append(name)
            self.now += self._seconds[name]


async def rounds_until(computing: Computing, count: int) -> int:
    """How many rounds of the event loop it takes until so many calls have computed."""
    rounds = 0
    while len(computing.computed) < count:
        await asyncio.sleep(0)
        rounds += 1
    return rounds


async def test_calls_are_computed_at_once_until_the_loop_has_been_held_for_long() -> None:
    computing = Computing({"a": SECONDS_AT_ONCE / 2})
    computing.come("a", 5)
    await asyncio.sleep(0)
    assert len(computing.computed) == 2
    assert await rounds_until(computing, 5) >= 3, "others have the loop in between"


async def test_lines_take_turns() -> None:
    computing = Computing({"a": SECONDS_AT_ONCE, "b": 0.0})
    computing.come("a", MANY)
    await asyncio.sleep(0)
    computing.come("b", 3)
    await rounds_until(computing, MANY + 3)
    assert computing.computed.index("b") <= 4
    assert [name for name in computing.computed[1:] if name == "b"] == ["b"] * 3
    assert computing.computed[-(MANY - 6) :] == ["a"] * (MANY - 6)


async def test_a_call_that_has_ended_while_it_waited_takes_no_turn() -> None:
    turns, line = LoopTurns(lambda: 0.0), Line()
    with turns.computing():
        pass
    turns._computed = SECONDS_AT_ONCE
    given_up, goes_on = (asyncio.ensure_future(turns.turn(line)) for _ in range(2))
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.wait_for(goes_on, 60)


async def test_an_idle_loop_computes_a_call_where_it_is() -> None:
    computing = Computing({"a": SECONDS_AT_ONCE})
    for count in range(1, 4):
        computing.come("a", 1)
        await asyncio.sleep(0)
        assert computing.computed == ["a"] * count
        await asyncio.sleep(0)


async def test_a_light_call_does_not_wait_for_all_heavy_ones_of_another_identity(tmp_path: Path) -> None:
    """Heavy ones that count as short: each takes nearly as long as may be."""
    calls, ended = Calls(Settings(data=tmp_path), 1), list[str]()

    def compute(milliseconds: int) -> None:
        until = time.thread_time() + milliseconds / 1_000
        while time.thread_time() < until:
            pass

    async def ask(subject: str, milliseconds: int) -> None:
        with calls.admitted(METHOD, subject, None) as call:
            call.estimate(SEARCH)
            await call.run(call.compute(lambda: compute(milliseconds)))
            ended.append(subject)

    for _ in range(2 * KNOWN_AFTER):
        await ask("light", 0)
    ended.clear()
    await asyncio.gather(*(ask("heavy", 3) for _ in range(MANY)), ask("light", 0))
    assert ended.index("light") <= 4
    assert ended.count("heavy") >= MANY
    calls.close()
