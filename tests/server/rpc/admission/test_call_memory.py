"""Memory is shared out as the rules say, against an oracle that knows only who holds and who waits."""

import asyncio
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundwire_server.domain.errors import LimitError
from groundwire_server.domain.limits import CALL_MEMORY_SHARES
from groundwire_server.rpc.admission.call_memory import MAX_WAITING, CallMemory, HeldMemory

TOTAL, SHARE, SIZE = 40, 10, 5
LONG_SECONDS = 60.0
OWN_PLACES = MAX_WAITING // CALL_MEMORY_SHARES


@dataclass
class Oracle:
    """The rules, done by hand: who holds what, and who waits in which order."""

    held: list[tuple[str, int]] = field(default_factory=list)
    waiting: list[tuple[int, str]] = field(default_factory=list)

    def fits(self, caller: str, size: int) -> bool:
        held_by_caller = sum(part for other, part in self.held if other == caller)
        return sum(part for _, part in self.held) + size <= TOTAL and (caller == "" or held_by_caller + size <= SHARE)

    def serve(self) -> list[int]:
        served: list[int] = []
        for number, caller in list(self.waiting):
            if self.fits(caller, SIZE):
                self.waiting.remove((number, caller))
                self.held.append((caller, SIZE))
                served.append(number)
        return served


steps = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.sampled_from(["", "a", "b", "c", "d", "e"])),
        st.tuples(st.just("release"), st.integers(0, 30)),
        st.tuples(st.just("give up"), st.integers(0, 30)),
    ),
    max_size=60,
)


@given(steps)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_who_holds_and_who_waits_is_what_the_rules_say(taken: list[tuple[str, str | int]]) -> None:
    asyncio.run(_follow(taken))


async def _follow(taken: list[tuple[str, str | int]]) -> None:
    memory, oracle = CallMemory(TOTAL), Oracle()
    tasks: dict[int, asyncio.Task[HeldMemory]] = {}
    holding: dict[int, tuple[str, HeldMemory]] = {}
    callers: dict[int, str] = {}
    for number, (what, value) in enumerate(taken):
        if what == "ask":
            caller = str(value)
            callers[number] = caller
            tasks[number] = asyncio.create_task(memory.hold(caller, SIZE, LONG_SECONDS))
            oracle.waiting.append((number, caller))
        elif what == "release" and holding:
            key = sorted(holding)[int(value) % len(holding)]
            caller, held = holding.pop(key)
            held.release()
            oracle.held.remove((caller, SIZE))
        elif what == "give up" and tasks:
            key = sorted(tasks)[int(value) % len(tasks)]
            tasks.pop(key).cancel()
            oracle.waiting.remove((key, callers[key]))
        served = oracle.serve()
        for _ in range(4):
            await asyncio.sleep(0)
        assert sorted(key for key, task in tasks.items() if task.done()) == sorted(served)
        for key in served:
            holding[key] = callers[key], tasks.pop(key).result()
        assert memory.held_bytes == sum(part for _, part in oracle.held) <= TOTAL
        assert memory.waiting == len(oracle.waiting)
    for task in tasks.values():
        task.cancel()
    for _, held in holding.values():
        held.release()


@pytest.mark.asyncio
async def test_a_caller_that_holds_its_share_waits_alone() -> None:
    memory = CallMemory(TOTAL)
    await memory.hold("a", SHARE, LONG_SECONDS)
    with pytest.raises(LimitError) as caught:
        await memory.hold("a", SIZE, 0.01)
    assert caught.value.metadata == {"rule": "memory"}
    await memory.hold("b", SHARE, LONG_SECONDS)
    assert (memory.held_bytes, memory.waiting) == (2 * SHARE, 0)


@pytest.mark.asyncio
async def test_an_answer_that_finds_no_room_is_refused_and_holds_what_its_request_did() -> None:
    memory = CallMemory(TOTAL)
    held = await memory.hold("a", SIZE, LONG_SECONDS)
    held.resize(SHARE)
    with pytest.raises(LimitError):
        held.resize(SHARE + 1)
    assert memory.held_bytes == SHARE
    held.resize(1)
    held.release()
    assert memory.held_bytes == 0


@pytest.mark.asyncio
async def test_no_more_wait_than_may() -> None:
    memory = CallMemory(TOTAL)
    for _ in range(2):
        await memory.hold("a", SIZE, LONG_SECONDS)
    waiting = [asyncio.create_task(memory.hold("a", SIZE, LONG_SECONDS)) for _ in range(OWN_PLACES)]
    await asyncio.sleep(0)
    with pytest.raises(LimitError):
        await memory.hold("a", SIZE, LONG_SECONDS)
    await memory.hold("b", SIZE, LONG_SECONDS)
    for task in waiting:
        task.cancel()
