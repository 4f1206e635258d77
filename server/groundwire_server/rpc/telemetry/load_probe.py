"""Tells the metrics twice a second what cannot be counted call by call: the load, and how late the event loop is."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from groundwire_server.rpc.telemetry.metrics import Load, Metrics

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
        self._metrics.note_lag(max(0.0, self._loop.time() - self._due))
        self._metrics.note_load(self._load())
        self._metrics.note_open_files(_open_files())
        self._schedule()


def _open_files() -> int:
    """File descriptors of this process, connections included; 0 where the system does not tell."""
    return sum(1 for _ in _DESCRIPTORS.iterdir()) if _DESCRIPTORS.is_dir() else 0
