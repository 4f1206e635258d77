"""Prometheus metrics of calls: numbers by method and by stage.

No series is named after a repository, an index, a caller or anything else that a request or an index holds, so their
number is bounded by the code. Sizes of visible sets are for operators: callers must not reach the metrics' port.
"""

import platform
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias, TypeVar

import grpc
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from groundwire_server.rpc.telemetry.call_record import CallRecord, Outcome
from groundwire_server.rpc.telemetry.load import Load

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
    """The metrics of one process. Thread-safe; gauges of several processes are put together as their modes say."""

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
