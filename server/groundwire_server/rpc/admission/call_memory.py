"""What the requests and responses of calls may hold in memory: all calls together, and each caller's share of it."""

import asyncio
from collections import Counter, deque
from dataclasses import dataclass

from groundwire_server.domain.errors import LimitError, Reason

SHARES = 4
"""A caller that is told apart from others may hold one of so many equal parts."""
MAX_WAITING = 512
"""How many calls may wait for memory; a caller that is told apart may have a part of them as well."""
_RETRY_SECONDS = 1.0
_FULL = "too many requests are being received; try again later"


@dataclass(frozen=True, slots=True, eq=False)
class _Waiter:
    caller: str
    size: int
    place: asyncio.Future[None]


class CallMemory:
    """Shares a number of bytes out to calls. Use it in one event loop.

    Calls wait in the order in which they came; one whose caller holds its share lets those of others pass. The caller
    "" is whoever cannot be told apart from others, and has no share of its own: all of it is one.
    """

    def __init__(self, total_bytes: int) -> None:
        self._total = total_bytes
        self._share = total_bytes // SHARES
        self._held = 0
        self._held_by: Counter[str] = Counter()
        self._waiting: deque[_Waiter] = deque()

    @property
    def held_bytes(self) -> int:
        """What calls hold now."""
        return self._held

    @property
    def waiting(self) -> int:
        """How many calls wait for memory."""
        return len(self._waiting)

    async def hold(self, caller: str, size: int, seconds: float) -> "HeldMemory":
        """Memory for a call, once there is some; `size` must not be above what a caller may hold.

        Raises LimitError when there is none within so many seconds, or too many calls wait for it already.
        """
        if self._waiting or not self._fits(caller, size):
            try:
                async with asyncio.timeout(seconds):
                    await self._wait(caller, size)
            except TimeoutError:
                raise _refusal(_FULL) from None
        else:
            self.change(caller, size)
        return HeldMemory(self, caller, size)

    def change(self, caller: str, size: int) -> None:
        """A caller holds so many bytes more, or less when it is negative; `HeldMemory` asks for that."""
        self._held += size
        self._held_by[caller] += size
        if not self._held_by[caller]:
            del self._held_by[caller]
        if size < 0 and self._waiting:
            self._serve()

    def check(self, caller: str, size: int) -> None:
        """Raises LimitError unless a caller may hold so many bytes more."""
        if not self._fits(caller, size):
            raise _refusal("the answer finds no room beside those that have not been taken yet; read answers sooner")

    def _fits(self, caller: str, size: int) -> bool:
        return self._held + size <= self._total and (not caller or self._held_by[caller] + size <= self._share)

    async def _wait(self, caller: str, size: int) -> None:
        waiting = sum(waiter.caller == caller for waiter in self._waiting) if caller else 0
        if len(self._waiting) >= MAX_WAITING or waiting >= MAX_WAITING // SHARES:
            raise _refusal(_FULL)
        waiter = _Waiter(caller, size, asyncio.get_running_loop().create_future())
        self._waiting.append(waiter)
        self._serve()
        try:
            await waiter.place
        except asyncio.CancelledError:
            if waiter in self._waiting:
                self._waiting.remove(waiter)
            elif not waiter.place.cancelled():
                self.change(caller, -size)  # its turn came in the moment in which it was given up
            raise

    def _serve(self) -> None:
        """Gives memory to those that wait for it, as far as it goes."""
        passed: list[_Waiter] = []
        while self._waiting and self._held < self._total:
            waiter = self._waiting.popleft()
            if waiter.place.cancelled():
                continue
            if self._fits(waiter.caller, waiter.size):
                self.change(waiter.caller, waiter.size)
                waiter.place.set_result(None)
            else:
                passed.append(waiter)
        self._waiting.extendleft(reversed(passed))


class HeldMemory:
    """What one call holds."""

    __slots__ = ("_caller", "_memory", "_size")

    def __init__(self, memory: CallMemory, caller: str, size: int) -> None:
        self._memory = memory
        self._caller = caller
        self._size = size

    def resize(self, size: int) -> None:
        """The call holds `size` bytes from now on. Raises LimitError when there is no room for more than it had."""
        more = size - self._size
        if more > 0:
            self._memory.check(self._caller, more)
        self._memory.change(self._caller, more)
        self._size = size

    def release(self) -> None:
        """The call holds nothing any more."""
        self.resize(0)


def _refusal(message: str) -> LimitError:
    return LimitError(Reason.OVERLOADED, message, _RETRY_SECONDS, {"rule": "memory"})
