"""The metrics of a server, from their making to the port that shows them."""

import asyncio
import platform
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from socketserver import TCPServer, ThreadingMixIn
from typing import Literal, TypeAlias, TypeVar
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

import grpc
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, make_wsgi_app
from prometheus_client.multiprocess import MultiProcessCollector

from groundwire_server.config import Settings, SettingsError
from groundwire_server.config.setting_rules import split_address
from groundwire_server.rpc.serving.addresses import check_free
from groundwire_server.rpc.telemetry.call_record import CallRecord, Outcome
from groundwire_server.rpc.telemetry.load import Load
from groundwire_server.rpc.telemetry.shared_metrics import MetricsShare, keep_metrics_in

CALL_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
STAGE_SECONDS = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5)
QUEUE_SECONDS = (0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30)
LAG_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1)
BATCH_SIZES = (1, 2, 4, 8, 16, 32)
NODE_COUNTS = (0, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)

Child = TypeVar("Child")
_Mode: TypeAlias = Literal["livesum", "livemax"]


class _Children(dict[tuple[str, ...], Child]):
    """The series of a metric by their labels' values; asking the metric itself takes ten times as long."""

    def __init__(self, labelled: Callable[..., Child]) -> None:
        super().__init__()
        self._labelled = labelled

    def __missing__(self, values: tuple[str, ...]) -> Child:
        child = self[values] = self._labelled(*values)
        return child


class Metrics:
    """The metrics of one process. Thread-safe; gauges of several processes are put together as their modes say.

    No series is named after a repository, an index, a caller or anything else that a request or an index holds, so
    their number is bounded by the code. Sizes of visible sets are for operators: callers must not reach the metrics'
    port.
    """

    def __init__(self, registry: CollectorRegistry | None, version: str) -> None:
        def histogram(name: str, text: str, buckets: Sequence[float], *labels: str) -> Histogram:
            return Histogram(f"groundwire_{name}", text, labels, buckets=buckets, registry=registry)

        def gauge(name: str, text: str, mode: _Mode, *labels: str) -> Gauge:
            return Gauge(f"groundwire_{name}", text, labels, multiprocess_mode=mode, registry=registry)

        calls = Counter("groundwire_calls", "Calls that have ended.", ("method", "code", "reason"), registry=registry)
        self._calls = _Children(calls.labels)
        self._call_seconds = _Children(
            histogram("call_seconds", "From a call's arrival to its end.", CALL_SECONDS, "method").labels
        )
        self._queue_seconds = _Children(
            histogram("queue_seconds", "How long calls waited to compute.", QUEUE_SECONDS, "method").labels
        )
        self._stage_seconds = _Children(
            histogram("stage_seconds", "Parts of calls.", STAGE_SECONDS, "method", "stage").labels
        )
        self._visible_nodes = _Children(
            histogram("visible_nodes", "Nodes that callers could see.", NODE_COUNTS, "method").labels
        )
        self._running = _Children(
            gauge("running_calls", "Calls in progress that do not wait to begin.", "livesum", "method").labels
        )
        self._waiting = _Children(
            gauge("waiting_calls", "Calls that wait to compute for the first time.", "livesum", "method").labels
        )
        self._batch_size = histogram("embedding_batch_size", "Queries embedded together.", BATCH_SIZES)
        look_ups = Counter(
            "groundwire_query_vector_look_ups",
            "Queries, by whether their vector was known.",
            ("known",),
            registry=registry,
        )
        self._look_ups = {known: look_ups.labels(str(known).lower()) for known in (True, False)}
        self._open_indexes = gauge("open_indexes", "Most index versions open in one worker.", "livemax")
        self._event_loop_lag = histogram("event_loop_lag_seconds", "How late timers ran.", LAG_SECONDS)
        self._memory = gauge("call_memory_bytes", "Memory that requests and responses of calls hold.", "livesum")
        self._without_memory = gauge(
            "calls_without_memory", "Calls that wait for memory for their requests.", "livesum"
        )
        self._watches = gauge("health_watches", "Streams that watch health.", "livesum")
        self._open_files = gauge("open_files", "File descriptors in use, connections among them.", "livesum")
        self._audit_failures = Counter(
            "groundwire_audit_failures", "Records of calls that could not be written.", registry=registry
        )
        self._audit_failures_so_far = 0
        gauge("workers", "Processes that answer calls.", "livesum").set(1)
        build = gauge("build_info", "What runs.", "livemax", "version", "python", "grpc")
        build.labels(version, platform.python_version(), grpc.__version__).set(1)

    def count(self, call: CallRecord, outcome: Outcome, nanoseconds: int) -> None:
        """Takes a call in that ended after so long."""
        method = call.method_name
        self._calls[method, outcome.code.name, outcome.reason].inc()
        self._call_seconds[(method,)].observe(nanoseconds / 1e9)
        if call.queue_nanoseconds is not None:
            self._queue_seconds[(method,)].observe(call.queue_nanoseconds / 1e9)
        for stage in tuple(call.stages):
            if stage.ended:
                self._stage_seconds[method, stage.name].observe((stage.ended - stage.began) / 1e9)
        for count in tuple(call.visible_nodes):
            self._visible_nodes[(method,)].observe(count)
        for known in tuple(call.vector_look_ups):
            self._look_ups[known].inc()
        for queries in tuple(call.batches):
            self._batch_size.observe(queries)
        if call.open_indexes is not None:
            self._open_indexes.set(call.open_indexes)

    def note_load(self, load: Load) -> None:
        """Takes in what the server has on its hands now."""
        for method, calls in load.methods.items():
            self._running[(method,)].set(calls.running)
            self._waiting[(method,)].set(calls.waiting)
        self._memory.set(load.memory_bytes)
        self._without_memory.set(load.without_memory)
        self._watches.set(load.watches)
        self._audit_failures.inc(load.audit_failures - self._audit_failures_so_far)
        self._audit_failures_so_far = load.audit_failures

    def note_open_files(self, count: int) -> None:
        """Takes in how many file descriptors the process has."""
        self._open_files.set(count)

    def note_lag(self, seconds: float) -> None:
        """A timer of the event loop ran so late."""
        self._event_loop_lag.observe(seconds)


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
        """Counts a call that has ended."""
        self._metrics.count(call, outcome, nanoseconds)

    async def stop(self) -> None:
        """Ends what `start` began, if it did."""
        if self._running:
            server, probe = self._running
            probe.stop()
            await asyncio.to_thread(server.stop)
