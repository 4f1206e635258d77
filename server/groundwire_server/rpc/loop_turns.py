"""Whose turn it is to compute on the event loop."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from groundwire_server.rpc.admission.call_queue import Line, QueuedCall

Call = TypeVar("Call", bound=QueuedCall)

SECONDS_AT_ONCE = 0.005
"""After so long the event loop looks at the network before it computes another call."""


class LoopTurns(Generic[Call]):
    """Computes calls of short methods on the event loop: at once while it is idle, else lines take turns.

    Without this, as many calls as are ready would be computed one after the other, in the order of their arrival. A
    light call behind 64 of another identity would wait for all of them, and would not even be read before.
    """

    def __init__(self, compute: Callable[[Call], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._compute = compute
        self._clock = clock
        self._lines: dict[Line, deque[Call]] = {}
        self._used = 0.0
        self._is_due = False

    def enter(self, call: Call) -> None:
        """Computes the call now, or when the turn of its line comes."""
        if self._lines or self._used >= SECONDS_AT_ONCE:
            self._lines.setdefault(call.line, deque()).append(call)
        else:
            self._take(call)
        self._come_back()

    def _take(self, call: Call) -> None:
        began = self._clock()
        try:
            self._compute(call)
        finally:
            self._used += self._clock() - began

    def _come_back(self) -> None:
        """Goes on in the next round of the loop, before which it looks at the network."""
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._go_on)

    def _go_on(self) -> None:
        self._is_due, self._used = False, 0.0
        while self._lines and self._used < SECONDS_AT_ONCE:
            line = next(iter(self._lines))
            calls = self._lines.pop(line)
            call = calls.popleft()
            if calls:
                self._lines[line] = calls
            self._take(call)
        if self._lines:
            self._come_back()
