"""Turns of callers: the requests of one caller do not keep those of another waiting."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

MOST_AT_A_TIME = 2
"""How many requests of one caller are answered at a time; its further ones wait."""


@dataclass(slots=True, eq=False)
class _Caller:
    requests: int = 0
    places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MOST_AT_A_TIME))


class CallerTurns:
    """Counts the requests of each caller. Use it in one event loop."""

    def __init__(self) -> None:
        # By a digest, because no token is kept.
        self._callers: dict[bytes, _Caller] = {}

    @asynccontextmanager
    async def turn(self, token: str) -> AsyncIterator[None]:
        """A request of the caller with a token is answered while the context is open."""
        key = hashlib.sha256(token.encode()).digest()
        caller = self._callers.setdefault(key, _Caller())
        caller.requests += 1
        try:
            async with caller.places:
                yield
        finally:
            caller.requests -= 1
            if not caller.requests:
                del self._callers[key]
