"""Rotation: who makes the source being read, how often, and what counts while it cannot be."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import structlog

from groundwire_server.domain.errors import IdentityUnavailableError
from groundwire_server.rpc.identity.json_web_keys import KeySetError
from groundwire_server.rpc.identity.key_ring import MAX_WAITING, KeyRing
from support.patience import PATIENCE_SECONDS, turns, until
from support.token_issuer import SigningKey, key_set

pytestmark = pytest.mark.asyncio

OLD, NEW = SigningKey.ec("old"), SigningKey.ec("new")


@dataclass
class Source:
    """Gives `content`, or fails while there is none; waits for `open` first."""

    content: str = key_set(OLD)
    period_seconds: float = 3_600
    pause_seconds: float = 3_600
    reads: int = 0
    open: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.open.set()

    def read(self) -> bytes:
        self.reads += 1
        assert self.open.wait(PATIENCE_SECONDS)
        if not self.content:
            raise KeySetError("cannot be read")
        return self.content.encode()


@asynccontextmanager
async def keeping(
    source: Source, changes: list[None] | None = None, max_waiting: int = MAX_WAITING
) -> AsyncIterator[KeyRing]:
    ring = KeyRing(source, lambda: None if changes is None else changes.append(None), max_waiting)
    await ring.start()
    try:
        yield ring
    finally:
        source.open.set()
        await ring.stop()


async def knows(ring: KeyRing, key: SigningKey) -> bool:
    return await ring.find(key.key_id, "ES256") is not None


async def reads_more(source: Source) -> None:
    """Returns once the source has been read again from beginning to end."""
    seen = source.reads
    await until(lambda: source.reads >= seen + 3)


async def test_an_unknown_key_has_the_source_read_once_a_pause_however_many_ask() -> None:
    source = Source()
    async with keeping(source) as ring:
        source.pause_seconds = 0.0
        source.content = key_set(OLD, NEW)
        assert await knows(ring, NEW)
        source.pause_seconds = 3_600
        for number in range(100):
            assert not await knows(ring, SigningKey("invented" + str(number), "ES256", None))
    assert source.reads == 2


async def test_calls_that_need_the_same_reading_share_it_and_known_keys_do_not_wait_for_it() -> None:
    source = Source()
    async with keeping(source) as ring:
        source.pause_seconds = 0.0
        source.open.clear()
        source.content = key_set(OLD, NEW)
        waiting = [asyncio.create_task(knows(ring, NEW)) for _ in range(20)]
        await turns()
        assert await asyncio.wait_for(knows(ring, OLD), 60)
        assert not any(task.done() for task in waiting)
        source.open.set()
        assert all(await asyncio.gather(*waiting))
    assert source.reads == 2


async def test_no_more_calls_wait_than_may() -> None:
    source = Source()
    async with keeping(source, max_waiting=3) as ring:
        source.pause_seconds = 0.0
        source.open.clear()
        waiting = [asyncio.create_task(knows(ring, NEW)) for _ in range(3)]
        await turns()
        assert not await asyncio.wait_for(knows(ring, NEW), 60)
        source.open.set()
        await asyncio.gather(*waiting)


async def test_a_call_that_is_cancelled_leaves_the_reading_to_the_others() -> None:
    source = Source()
    async with keeping(source) as ring:
        source.pause_seconds = 0.0
        source.open.clear()
        source.content = key_set(NEW)
        given_up, waiting = (asyncio.create_task(knows(ring, NEW)) for _ in range(2))
        await turns()
        given_up.cancel()
        source.open.set()
        assert await waiting
        assert given_up.cancelled()


async def test_a_withdrawn_key_is_gone_after_the_next_reading_and_that_is_told() -> None:
    source, changes = Source(period_seconds=0.02), [None][:0]
    async with keeping(source, changes) as ring:
        assert await knows(ring, OLD)
        assert len(changes) == 1
        source.content = key_set(NEW)
        await until(lambda: len(changes) == 2)
        assert not await knows(ring, OLD)
        assert await knows(ring, NEW)
        await reads_more(source)
        assert len(changes) == 2


async def test_the_last_keys_stay_while_the_source_cannot_be_read() -> None:
    source = Source(period_seconds=0.01)
    with structlog.testing.capture_logs() as lines:
        async with keeping(source) as ring:
            source.content = ""
            await reads_more(source)
            assert await knows(ring, OLD)
            source.content = "{}"
            await reads_more(source)
            assert await knows(ring, OLD)
    failures = [line for line in lines if line["event"] == "signing keys not refreshed"]
    assert {line["problem"].split(";")[0] for line in failures} == {"cannot be read", "is no JSON Web Key Set"}
    assert {line["keys_known"] for line in failures} == {1}


async def test_without_any_keys_calls_are_to_come_again_until_there_are_some() -> None:
    source = Source(content="", pause_seconds=0.01)
    async with keeping(source) as ring:
        source.pause_seconds = 3_600
        with pytest.raises(IdentityUnavailableError):
            await knows(ring, OLD)
        source.pause_seconds = 0.0
        source.content = key_set(OLD)
        assert await knows(ring, OLD)
