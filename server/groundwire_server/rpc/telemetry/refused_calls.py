"""The log of calls that are refused for load: one line a second and method in place of one for each."""

import asyncio
from collections import Counter

import structlog

PERIOD_SECONDS = 1.0


class RefusedCalls:
    """Counts refusals and logs their number `period_seconds` after the first. Use it in one event loop.

    A line costs more than the rest of a refusal that is Groundwire's; under a flood that would come out of the calls
    that are answered.
    """

    def __init__(self, period_seconds: float = PERIOD_SECONDS) -> None:
        self._period_seconds = period_seconds
        self._counts: Counter[str] = Counter()

    def note(self, method: str) -> None:
        """A call of the method was refused."""
        if not self._counts:
            asyncio.get_running_loop().call_later(self._period_seconds, self.tell)
        self._counts[method] += 1

    def tell(self) -> None:
        """Logs what was counted and is not logged yet."""
        for method, count in self._counts.items():
            structlog.get_logger().warning("calls refused", method=method, count=count)
        self._counts.clear()
