"""Waiting for what must come to hold. How long that takes is the machine's affair, so only a failure waits for long.

No test depends on how fast the machine is. A test

- waits for a condition, here or by an event, with a bound of minutes;
- counts, or compares an order, instead of taking the time: what a server is at is in `GroundwireServer.load` and in
  its metrics (`support.vitals.await_shown`);
- moves a clock of its own on (`support.clocks`);
- gives a server other time limits: hours where the test is not about them (`constants` of `support.program.Server`).
"""

import asyncio
import time
from collections.abc import Callable, Iterator

PATIENCE_SECONDS = 300.0
_PAUSE_SECONDS = 0.01


def await_true(holds: Callable[[], bool], state: Callable[[], object] = str) -> None:
    """Returns once something holds; an error has what `state` gives."""
    for _ in _patience():
        if holds():
            return
        time.sleep(_PAUSE_SECONDS)
    raise AssertionError(f"it never came to hold: {state()}")


async def until(holds: Callable[[], bool], state: Callable[[], object] = str) -> None:
    """As `await_true`, and lets others have the event loop meanwhile."""
    for _ in _patience():
        if holds():
            return
        await asyncio.sleep(_PAUSE_SECONDS)
    raise AssertionError(f"it never came to hold: {state()}")


async def turns() -> None:
    """Gives each task that can go on its turns, more than any chain of tasks needs.

    That something does not happen shows by turns of the event loop, not by seconds.
    """
    for _ in range(100):
        await asyncio.sleep(0)


def _patience() -> Iterator[None]:
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        yield
