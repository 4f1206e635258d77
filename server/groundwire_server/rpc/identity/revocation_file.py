"""The file of revocation lists, read periodically in the background."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import structlog
from cryptography import x509

from groundwire_server.rpc.identity.revocation_lists import RevocationListError, RevocationLists

MAX_FILE_BYTES = 16_777_216
PERIOD_SECONDS = 2.0


class RevocationFile:
    """Holds the lists of a file, which is read periodically.

    While the file cannot be used, the last lists stay in effect until they are out of date. A problem is logged once,
    when it begins, not at every reading.
    """

    def __init__(
        self, path: Path, authorities: Sequence[x509.Certificate], period_seconds: float = PERIOD_SECONDS
    ) -> None:
        """Raises RevocationListError when the file cannot be used."""
        self._period_seconds = period_seconds
        self._path = path
        self._authorities = authorities
        self._log = structlog.get_logger()
        self._problems: Sequence[str] = ()
        self._keeper: asyncio.Task[None] | None = None
        self._content = b""
        self.lists = self._read()

    def start(self) -> None:
        """Reads the file periodically until `stop`."""
        self._keeper = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        """Stops reading."""
        if self._keeper is not None:
            self._keeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeper

    async def _keep(self) -> None:
        while True:
            try:
                lists = await asyncio.to_thread(self._read)
                unusable = []
            except RevocationListError as error:
                lists, unusable = self.lists, [str(error)]
            if lists is not self.lists:
                self.lists = lists
                self._log.info("revocation lists read", next_update=lists.next_update.isoformat())
            self._tell([*unusable, *lists.overdue(datetime.now(UTC))])
            await asyncio.sleep(self._period_seconds)

    def _read(self) -> RevocationLists:
        """The lists as they are now; the same object as before if the file has not changed."""
        try:
            with self._path.open("rb") as file:
                content = file.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            raise RevocationListError(f"{error.strerror}; give a readable file of revocation lists") from None
        if len(content) > MAX_FILE_BYTES:
            raise RevocationListError(f"is longer than {MAX_FILE_BYTES} bytes")
        if content == self._content:
            return self.lists
        lists = RevocationLists.parse(content, self._authorities, datetime.now(UTC))
        self._content = content
        return lists

    def _tell(self, problems: Sequence[str]) -> None:
        for problem in problems:
            if problem not in self._problems:
                self._log.error("revocation lists not usable", problem=problem)
        self._problems = problems
