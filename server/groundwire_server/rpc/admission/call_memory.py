"""The memory for requests and responses of calls: a limit for all together, and an equal share for each identity."""

import asyncio
from collections import Counter, deque
from dataclasses import dataclass

from groundwire_server.domain.limits import CALL_MEMORY_SHARES
from groundwire_server.rpc.admission.refusals import overloaded

MAX_WAITING = 512
"""How many calls may wait for memory; an identity's may take an equal share of these places too."""
_NO_MEMORY_FOR_REQUEST = "too many requests are being received; try again later"
_NO_MEMORY_FOR_RESPONSE = "too many responses wait to be taken; read them sooner, or try again later"


@dataclass(frozen=True, slots=True, eq=False)
class _Waiter:
    subject: str
    size: int
    place: asyncio.Future[None]


class CallMemory:
    """Shares a number of bytes out to calls. Use it in one event loop.

    Calls wait in the order in which they came; a call whose identity has used up its share is overtaken by others. The
    subject "" means callers that are not identified. They have no share of their own and may hold all of it.
    """

    def __init__(self, total_bytes: int) -> None:
        self._total = total_bytes
        self._share = total_bytes // CALL_MEMORY_SHARES
        self._held = 0
        self._held_by: Counter[str] = Counter()
        self._waiting: deque[_Waiter] = deque()

    @property
    def held_bytes(self) -> int:
        """The bytes that all calls hold now."""
        return self._held

    @property
    def waiting(self) -> int:
        """How many calls wait for memory."""
        return len(self._waiting)

    async def hold(self, subject: str, size: int, seconds: float) -> "HeldMemory":
        """Memory for a call, once there is some; `size` must not be above an identity's share.

        Raises LimitError when there is none within `seconds`, or when too many calls wait for it already.
        """
        if self._waiting or not self._fits(subject, size):
            try:
                async with asyncio.timeout(seconds):
                    await self._wait(subject, size)
            except TimeoutError:
                raise overloaded(_NO_MEMORY_FOR_REQUEST, {"rule": "memory"}) from None
        else:
            self._change(subject, size)
        return HeldMemory(self, subject, size)

    def resize(self, subject: str, before: int, after: int) -> None:
        """A call of the subject holds `after` bytes in place of `before`. `HeldMemory.resize` says the rest."""
        if after > before and not self._fits(subject, after - before):
            raise overloaded(_NO_MEMORY_FOR_RESPONSE, {"rule": "memory"})
        self._change(subject, after - before)
        if after < before and self._waiting:
            self._serve()

    def _change(self, subject: str, more: int) -> None:
        self._held += more
        self._held_by[subject] += more
        if not self._held_by[subject]:
            del self._held_by[subject]

    def _fits(self, subject: str, more: int) -> bool:
        return self._held + more <= self._total and (not subject or self._held_by[subject] + more <= self._share)

    async def _wait(self, subject: str, size: int) -> None:
        waiting_of_subject = sum(waiter.subject == subject for waiter in self._waiting) if subject else 0
        if len(self._waiting) >= MAX_WAITING or waiting_of_subject >= MAX_WAITING // CALL_MEMORY_SHARES:
            raise overloaded(_NO_MEMORY_FOR_REQUEST, {"rule": "memory"})
        waiter = _Waiter(subject, size, asyncio.get_running_loop().create_future())
        self._waiting.append(waiter)
        self._serve()
        try:
            await waiter.place
        except asyncio.CancelledError:
            if waiter in self._waiting:
                self._waiting.remove(waiter)
            elif not waiter.place.cancelled():
                self.resize(subject, size, 0)  # its turn came at the moment when it was given up
            raise

    def _serve(self) -> None:
        """Gives memory to those that wait for it, as far as it goes."""
        overtaken: list[_Waiter] = []
        while self._waiting and self._held < self._total:
            waiter = self._waiting.popleft()
            if waiter.place.cancelled():
                continue
            if self._fits(waiter.subject, waiter.size):
                self._change(waiter.subject, waiter.size)
                waiter.place.set_result(None)
            else:
                overtaken.append(waiter)
        self._waiting.extendleft(reversed(overtaken))


class HeldMemory:
    """The bytes that one call holds."""

    __slots__ = ("_memory", "_size", "_subject")

    def __init__(self, memory: CallMemory, subject: str, size: int) -> None:
        self._memory = memory
        self._subject = subject
        self._size = size

    def resize(self, size: int) -> None:
        """The call holds `size` bytes from now on. Raises LimitError when it needs more and there is no room for it."""
        self._memory.resize(self._subject, self._size, size)
        self._size = size

    def release(self) -> None:
        """The call holds nothing any more."""
        self.resize(0)
