"""Checks repeatedly, outside the event loop, that this server can answer."""

import asyncio
import threading
import time
from collections.abc import Callable
from errno import EMFILE, ENFILE

import structlog

CHECK_SECONDS = 1.0
STALE_SECONDS = 5.0
_NO_MORE_FILES = "no more files can be opened, so the indexes cannot be checked; see max_connections and ulimit -n"


class Readiness:
    """Reports when the indexes stop being readable, and when they are again.

    A separate thread checks every `check_seconds`, because a volume that hangs would block the thread that reads it. No
    result for `stale_seconds` counts as unreadable. `check` raises OSError when the indexes cannot be read. `report` is
    called on the event loop, once for each change, beginning with the first failure.
    """

    def __init__(
        self,
        check: Callable[[], None],
        report: Callable[[bool], None],
        check_seconds: float = CHECK_SECONDS,
        stale_seconds: float = STALE_SECONDS,
    ) -> None:
        self._check = check
        self._report = report
        self._check_seconds = check_seconds
        self._stale_seconds = stale_seconds
        self._problem = ""
        self._answered = time.monotonic()
        self._over = threading.Event()
        self._watch: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Starts the checks. Call on the event loop."""
        self._answered = time.monotonic()
        threading.Thread(target=self._ask, name="groundwire-readiness", daemon=True).start()
        self._watch = asyncio.get_running_loop().create_task(self._watch_answers())

    def stop(self) -> None:
        """Ends the checks; a check that hangs is left behind."""
        self._over.set()
        if self._watch is not None:
            self._watch.cancel()

    def _ask(self) -> None:
        while not self._over.wait(self._check_seconds):
            try:
                self._check()
            except OSError as error:
                self._problem = _NO_MORE_FILES if error.errno in (EMFILE, ENFILE) else str(error)
            else:
                self._problem = ""
            self._answered = time.monotonic()

    async def _watch_answers(self) -> None:
        ready = True
        while True:
            await asyncio.sleep(self._check_seconds)
            hangs = time.monotonic() - self._answered > self._stale_seconds
            problem = "the check did not end in time" if hangs else self._problem
            if ready == bool(problem):
                ready = not problem
                self._tell(problem)

    def _tell(self, problem: str) -> None:
        log = structlog.get_logger()
        if problem:
            log.error("not ready", problem=problem)
        else:
            log.info("ready again")
        self._report(not problem)
