"""Tells the metrics twice a second what cannot be counted call by call: the load, and how late the event loop is."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from groundwire_server.rpc.telemetry.load import Load
from groundwire_server.rpc.telemetry.metrics import Metrics

PERIOD_SECONDS = 0.5
_DESCRIPTORS = Path("/proc/self/fd")


class LoadProbe:
    """Looks until it is stopped; make and stop it in the event loop that it looks at."""

    def __init__(self, metrics: Metrics, load: Callable[[], Load]) -> None:
        self._metrics = metrics
        self._load = load
        self._loop = asyncio.get_running_loop()
        self._schedule()

    def stop(self) -> None:
        """Ends the looking."""
        self._timer.cancel()

    def _schedule(self) -> None:
        self._due = self._loop.time() + PERIOD_SECONDS
        self._timer = self._loop.call_at(self._due, self._look)

    def _look(self) -> None:
        late = max(0.0, self._loop.time() - self._due)
        self._schedule()
        self._metrics.note_lag(late)
        self._metrics.note_load(self._load())
        with suppress(OSError):  # no file can be opened to look: the last number stands
            self._metrics.note_open_files(sum(1 for _ in _DESCRIPTORS.iterdir()))
