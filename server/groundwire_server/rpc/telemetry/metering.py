"""The metrics of a server, from their making to the port that shows them."""

import asyncio
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from socketserver import TCPServer, ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, disable_created_metrics, make_wsgi_app
from prometheus_client.multiprocess import MultiProcessCollector

from groundwire_server.config import Settings, SettingsError
from groundwire_server.config.values import split_address
from groundwire_server.rpc.serving.addresses import check_free
from groundwire_server.rpc.telemetry.call_record import CallRecord, Outcome
from groundwire_server.rpc.telemetry.load import Load
from groundwire_server.rpc.telemetry.metrics import Metrics
from groundwire_server.rpc.telemetry.shared_metrics import MetricsShare, keep_metrics_in

SETTING = "metrics_listen"
_IDLE_SECONDS = 30
_POLL_SECONDS = 0.1


class _Handler(WSGIRequestHandler):
    """Gives up connections that say nothing, and logs no request."""

    timeout = _IDLE_SECONDS

    def log_message(self, format: str, *args: object) -> None:
        """Logs nothing: scrapes come all the time."""


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

    def server_bind(self) -> None:
        """Binds without asking the name service for this machine's name, as HTTPServer does."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]
        self.setup_environ()


class MetricsServer:
    """Answers scrapes of a registry until it is stopped."""

    def __init__(self, registry: CollectorRegistry, address: str, *, shared: bool) -> None:
        """Listens, together with other processes when `shared`. Raises SettingsError when the address cannot be had."""
        if not shared:
            check_free(SETTING, address)
        try:
            self._server = _listening(address, shared=shared)
        except OSError as error:
            raise SettingsError(f"{SETTING}: {address}: {error.strerror}; choose another address") from error
        self._server.set_app(make_wsgi_app(registry))
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_POLL_SECONDS,), name="groundwire-metrics", daemon=True
        )
        self._thread.start()
        self.address = f"{address.rpartition(':')[0]}:{self._server.server_port}"

    def stop(self) -> None:
        """Ends within a tenth of a second, and blocks until then. Scrapes under way may finish."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _listening(address: str, *, shared: bool) -> _Server:
    host, port = split_address(address)
    family, _, _, _, resolved = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    kind = type("_BoundServer", (_Server,), {"address_family": family, "allow_reuse_port": shared})
    server: _Server = kind((str(resolved[0]), port), _Handler)
    return server


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
