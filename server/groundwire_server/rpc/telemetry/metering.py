"""The metrics of a server, from their making to the port that shows them."""

import asyncio
from collections.abc import Callable

from prometheus_client import CollectorRegistry, disable_created_metrics
from prometheus_client.multiprocess import MultiProcessCollector

from groundwire_server.config import Settings
from groundwire_server.rpc.telemetry.call_record import CallRecord, Outcome
from groundwire_server.rpc.telemetry.exposition import MetricsServer
from groundwire_server.rpc.telemetry.load import Load
from groundwire_server.rpc.telemetry.load_probe import LoadProbe
from groundwire_server.rpc.telemetry.metrics import Metrics
from groundwire_server.rpc.telemetry.shared_metrics import MetricsShare, keep_metrics_in


class Metering:
    """Counts calls and answers scrapes. With a `share`, every worker's port shows the sums over all of them."""

    def __init__(self, settings: Settings, share: MetricsShare | None, version: str) -> None:
        # Adds a time to every number, which the files of several processes do not have.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._settings = settings
        self._registry = CollectorRegistry()
        if share is None:
            self._metrics = Metrics(self._registry, version)
        else:
            keep_metrics_in(share)
            self._metrics = Metrics(None, version)
            MultiProcessCollector(self._registry, str(share.folder))  # type: ignore[no-untyped-call]
        self._running: tuple[MetricsServer, LoadProbe] | None = None

    @property
    def address(self) -> str:
        """Where metrics are scraped, once `start` has run."""
        return self._running[0].address if self._running else ""

    def start(self, load: Callable[[], Load]) -> None:
        """Listens, and looks at the load from now on. Raises SettingsError. Call it in the event loop of the calls."""
        shared = self._settings.workers > 1
        server = MetricsServer(self._registry, self._settings.metrics_listen, shared=shared)
        self._running = server, LoadProbe(self._metrics, load)

    def count(self, call: CallRecord, outcome: Outcome, nanoseconds: int) -> None:
        """See `Metrics.count`."""
        self._metrics.count(call, outcome, nanoseconds)

    async def stop(self) -> None:
        """Ends what `start` began, if it did."""
        if self._running:
            server, probe = self._running
            probe.stop()
            await asyncio.to_thread(server.stop)
