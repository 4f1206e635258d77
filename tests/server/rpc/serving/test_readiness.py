"""Readiness follows what the storage says, also when it says nothing at all."""

import asyncio
import threading
from collections.abc import Iterator

import pytest
import structlog

from groundwire_server.rpc.serving.readiness import Readiness

pytestmark = pytest.mark.asyncio


@pytest.fixture(autouse=True)
def log() -> Iterator[None]:
    """The log is out of the way."""
    with structlog.testing.capture_logs():
        yield


async def test_each_change_is_told_once() -> None:
    failing, told = threading.Event(), asyncio.Queue[bool]()

    def check() -> None:
        if failing.is_set():
            raise PermissionError(13, "Permission denied", "/data")

    readiness = Readiness(check, told.put_nowait, check_seconds=0.01, stale_seconds=0.2)
    readiness.start()
    await asyncio.sleep(0.1)
    assert told.empty()
    failing.set()
    assert await asyncio.wait_for(told.get(), 10) is False
    await asyncio.sleep(0.1)
    failing.clear()
    assert await asyncio.wait_for(told.get(), 10) is True
    assert told.empty()
    readiness.stop()


async def test_a_storage_that_hangs_is_not_ready_until_it_answers() -> None:
    hanging, told = threading.Event(), asyncio.Queue[bool]()

    def check() -> None:
        hanging.wait(20)

    readiness = Readiness(check, told.put_nowait, check_seconds=0.01, stale_seconds=0.2)
    readiness.start()
    assert await asyncio.wait_for(told.get(), 10) is False
    hanging.set()
    assert await asyncio.wait_for(told.get(), 10) is True
    readiness.stop()


async def test_nothing_is_told_after_the_end() -> None:
    told = asyncio.Queue[bool]()

    def check() -> None:
        raise OSError("gone")

    readiness = Readiness(check, told.put_nowait, check_seconds=0.01, stale_seconds=0.2)
    readiness.start()
    readiness.stop()
    await asyncio.sleep(0.1)
    assert told.empty()
