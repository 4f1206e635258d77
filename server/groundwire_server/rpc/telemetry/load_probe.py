"""Tells the metrics twice a second what cannot be counted call by call: the load, and how late the event loop is."""

import asyncio
from collections.abc import Callable, Mapping

from groundwire_server.rpc.admission.admission import MethodLoad
from groundwire_server.rpc.telemetry.metrics import Metrics

PERIOD_SECONDS = 0.5


class LoadProbe:
    """Looks until it is stopped; make and stop it in the event loop that it looks at."""

    def __init__(self, metrics: Metrics, loads: Callable[[], Mapping[str, MethodLoad]]) -> None:
        self._metrics = metrics
        self._loads = loads
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
        self._metrics.note_loads(self._loads())
        self._schedule()
