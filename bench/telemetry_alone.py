"""What telemetry takes of a call by itself, without a server: microseconds of CPU, measured in turn.

    python -m bench.telemetry_alone

The call is a Query with all its stages and no work in them. The least of many turns is told: what else the machine does
only adds to a turn.
"""

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence

import grpc
import grpc.aio
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from prometheus_client import CollectorRegistry
from rich.console import Console
from rich.table import Table

from groundwire_server.domain.observation import observed_by, observer, stage
from groundwire_server.rpc.logs import configure_logging
from groundwire_server.rpc.telemetry.access_log import AccessLog
from groundwire_server.rpc.telemetry.call_record import CallRecord, Outcome
from groundwire_server.rpc.telemetry.headers import read_headers
from groundwire_server.rpc.telemetry.metrics import Metrics
from groundwire_server.rpc.telemetry.traces import Traces

TURNS, CALLS = 25, 300
SOURCES = ("dense", "bm25_code", "bm25_nlp", "trigram")
STAGES_BEFORE = ("decode", "open")
STAGES_AFTER = ("fusion", "freshness", "boost", "context", "encode")
METADATA = grpc.aio.Metadata(("user-agent", "bench"), ("x-request-id", "0123456789abcdef"))
OUTCOME = Outcome(grpc.StatusCode.OK, index="2026-01-01_main")
NANOSECONDS = 1_000_000


class _Nowhere(SpanExporter):
    """Takes spans and forgets them."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return SpanExportResult.SUCCESS


def main() -> None:
    """Runs the measurement and prints its table."""
    sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - what the log is written to
    configure_logging("json", "info")
    taken = _taken(_parts())
    table = Table("part", "µs of CPU a call")
    for name, microseconds in taken.items():
        table.add_row(name, f"{microseconds:.1f}")
    Console().print(table)


def _parts() -> Mapping[str, Callable[[CallRecord], object]]:
    """What reports a call, by name; each is told without what recording the call takes."""
    log, metrics = AccessLog(peers=False), Metrics(CollectorRegistry(), "1")
    rarely, always = Traces(_Nowhere(), 0.0, "1"), Traces(_Nowhere(), 1.0, "1")
    return {
        "recording a call and its stages": lambda _: None,
        "access log": lambda call: log.write(call, OUTCOME, NANOSECONDS, ""),
        "metrics": lambda call: metrics.count(call, OUTCOME, NANOSECONDS),
        "traces, not sampled": lambda call: rarely.export(call, OUTCOME, time.perf_counter_ns()),
        "traces, sampled": lambda call: always.export(call, OUTCOME, time.perf_counter_ns()),
    }


def _taken(parts: Mapping[str, Callable[[CallRecord], object]]) -> dict[str, float]:
    least = dict.fromkeys(parts, float("inf"))
    for _ in range(TURNS):
        for name, report in parts.items():
            started = time.process_time()
            for _ in range(CALLS):
                report(_recorded())
            least[name] = min(least[name], 1e6 * (time.process_time() - started) / CALLS)
    recording = next(iter(least.values()))
    return {name: took if took == recording else took - recording for name, took in least.items()}


def _recorded() -> CallRecord:
    call = CallRecord("groundwire.v1.QueryService/Query", read_headers(METADATA))
    with observed_by(call):
        call.queued()
        call.started()
        _stages(STAGES_BEFORE)
        observer().saw_nodes(5_000)
        with stage("sources"):
            observer().looked_up_vector(known=True)
            _stages(SOURCES)
        _stages(STAGES_AFTER)
    return call


def _stages(names: Sequence[str]) -> None:
    for name in names:
        with stage(name):
            pass


if __name__ == "__main__":
    main()
