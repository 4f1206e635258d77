"""Whose turn it is to compute on the event loop."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from groundwire_server.rpc.admission.call_queue import Line

SECONDS_AT_ONCE = 0.005
"""After so long the event loop looks at the network before it computes another part."""


class LoopTurns:
    """Lets short calls compute on the event loop: at once while it is idle, else lines take turns.

    Without this, as many calls as are ready would be computed one after the other, in the order of their arrival. A
    light call behind 64 of another identity would wait for all of them, and would not even be read before.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiting: dict[Line, deque[asyncio.Future[None]]] = {}
        self._computed = 0.0
        self._is_due = False

    async def turn(self, line: Line) -> None:
        """Returns when a call of the line may compute."""
        if not self._waiting and self._computed < SECONDS_AT_ONCE:
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(line, deque()).append(turn)
        self._come_back()
        await turn

    @contextmanager
    def computing(self) -> Iterator[None]:
        """A call computes while the context is open."""
        began = self._clock()
        try:
            yield
        finally:
            self._computed += self._clock() - began
            self._come_back()

    def _come_back(self) -> None:
        """Goes on in the next round of the loop, before which it looks at the network."""
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._go_on)

    def _go_on(self) -> None:
        """Lets one call compute in this round."""
        self._is_due, self._computed = False, 0.0
        turn = self._next_turn()
        if turn is not None:
            turn.set_result(None)
        if self._waiting:
            self._come_back()

    def _next_turn(self) -> asyncio.Future[None] | None:
        """The first turn of the line that has waited longest; None if no call waits for one any more."""
        while self._waiting:
            line = next(iter(self._waiting))
            turns = self._waiting.pop(line)
            turn = turns.popleft()
            if turns:
                self._waiting[line] = turns
            if not turn.done():  # else its call has ended meanwhile
                return turn
        return None
