"""Readiness follows what the storage says, also when it says nothing at all."""

import asyncio
import threading
from collections.abc import Iterator

import pytest
import structlog

from groundwire_server.rpc.serving.readiness import Readiness
from support.patience import PATIENCE_SECONDS, until

pytestmark = pytest.mark.asyncio


@pytest.fixture(autouse=True)
def log() -> Iterator[None]:
    """The log is out of the way."""
    with structlog.testing.capture_logs():
        yield


async def test_each_change_is_told_once() -> None:
    failing, changes, checks = threading.Event(), asyncio.Queue[bool](), list[None]()

    async def checked_more() -> None:
        """Returns once the storage has been checked again, and the answer looked at."""
        count = len(checks)
        await until(lambda: len(checks) > count + 3)

    def check() -> None:
        checks.append(None)
        if failing.is_set():
            raise PermissionError(13, "Permission denied", "/data")

    readiness = Readiness(check, changes.put_nowait, check_seconds=0.01, stale_seconds=3_600)
    readiness.start()
    await checked_more()
    assert changes.empty()
    failing.set()
    assert await asyncio.wait_for(changes.get(), PATIENCE_SECONDS) is False
    await checked_more()
    failing.clear()
    assert await asyncio.wait_for(changes.get(), PATIENCE_SECONDS) is True
    assert changes.empty()
    readiness.stop()


async def test_a_storage_that_hangs_is_not_ready_until_it_answers() -> None:
    hanging, changes = threading.Event(), asyncio.Queue[bool]()

    def check() -> None:
        hanging.wait(PATIENCE_SECONDS)

    readiness = Readiness(check, changes.put_nowait, check_seconds=0.01, stale_seconds=0.2)
    readiness.start()
    assert await asyncio.wait_for(changes.get(), PATIENCE_SECONDS) is False
    hanging.set()
    while await asyncio.wait_for(changes.get(), PATIENCE_SECONDS) is not True:
        pass
    readiness.stop()


async def test_nothing_is_told_after_the_end() -> None:
    changes = asyncio.Queue[bool]()

    def check() -> None:
        raise OSError("gone")

    readiness = Readiness(check, changes.put_nowait, check_seconds=0.01, stale_seconds=0.2)
    readiness.start()
    readiness.stop()
    await asyncio.sleep(0.1)
    assert changes.empty()
