"""The keys that tokens are verified with, refreshed in the background."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

import structlog
from jwt import PyJWK

from groundwire_server.domain.errors import IdentityUnavailableError, Reason
from groundwire_server.rpc.identity.json_web_keys import KeySetError, KeyTable, parse_keys
from groundwire_server.rpc.identity.key_sources import KeySource

MAX_WAITING = 256


class KeyRing:
    """Keys by id and algorithm, from a source that is read periodically.

    A key that was removed from the source is forgotten at the next reading. While the source cannot be read, the last
    keys stay in use. A token with an unknown key has the source read at once, because issuers publish a key before they
    sign with it. One reading serves all calls that wait, and none begins before the source's pause is over, so unknown
    key ids cannot make this server read more often than that.
    """

    def __init__(self, source: KeySource, changed: Callable[[], None], max_waiting: int = MAX_WAITING) -> None:
        """`changed` is called when keys have come or gone, before any of them is used.

        At most `max_waiting` calls wait for a refresh at a time; a call with an unknown key beyond that is refused.
        """
        self._max_waiting = max_waiting
        self._source = source
        self._changed = changed
        self._log = structlog.get_logger()
        self._content = b""
        self._keys: KeyTable = {}
        self._began = -source.pause_seconds
        self._reading: asyncio.Task[None] | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._waiting = 0

    async def start(self) -> None:
        """Reads the keys once, whether or not that succeeds, and then periodically until `stop`."""
        await self._refreshed()
        self._keeper = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        """Stops reading."""
        if self._keeper is not None:
            self._keeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeper

    async def find(self, key_id: str, algorithm: str) -> PyJWK | None:
        """The key, or None when there is none. Raises IdentityUnavailableError while no keys are known at all."""
        place = (key_id, algorithm)
        if place not in self._keys and self._may_wait():
            self._waiting += 1
            try:
                await asyncio.shield(self._refreshed())
            finally:
                self._waiting -= 1
        if not self._keys:
            raise IdentityUnavailableError(
                Reason.IDENTITY_UNAVAILABLE, "the keys to verify tokens with are not known yet; try again later"
            )
        return self._keys.get(place)

    def _may_wait(self) -> bool:
        if self._reading is not None and not self._reading.done():
            return self._waiting < self._max_waiting
        return time.monotonic() - self._began >= self._source.pause_seconds

    def _refreshed(self) -> asyncio.Task[None]:
        """The reading that is under way, or a new one."""
        if self._reading is None or self._reading.done():
            self._began = time.monotonic()
            self._reading = asyncio.create_task(self._refresh())
        return self._reading

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(self._source.period_seconds if self._keys else self._source.pause_seconds)
            await asyncio.shield(self._refreshed())

    async def _refresh(self) -> None:
        try:
            content = await asyncio.to_thread(self._source.read)
            if content != self._content:
                keys = parse_keys(content)
                self._changed()
                self._content, self._keys = content, keys
                self._log.info("signing keys read", keys=sorted({key_id for key_id, _ in keys}))
        except KeySetError as error:
            self._log.error("signing keys not refreshed", problem=str(error), keys_known=len(self._keys))
