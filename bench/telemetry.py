"""What telemetry costs a call: servers with more and more of it, asked in turn.

    python -m bench.telemetry --out results

Each server is a process of its own with one worker, over the same index, and writes its log to a file. CPU is that of
the server's process, with the thread that exports spans; the collector is in this one. What else the machine does falls
on all servers alike, so the ratios hold where the times do not.
"""

import argparse
import os
from collections.abc import Iterator, Mapping
from concurrent import futures
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import grpc
import yaml

from bench.adapters.protocol import Scenario
from bench.speed.calls import Calls
from bench.speed.in_turn import Spent, ask_in_turn, print_spent
from bench.speed.index import ensure_index
from bench.speed.programs import RunningProgram, running, serve_command
from bench.speed.synthesis import Shape, write_corpus

NODES = 20_000
SCENARIOS = (Scenario("fetch"), Scenario("bm25"), Scenario("query"))
_METRICS = {"metrics_listen": "127.0.0.1:0"}
VARIANTS: Mapping[str, Mapping[str, object]] = {
    "the access log alone": {},
    "metrics": _METRICS,
    "metrics, traces of 1 %": {**_METRICS, "tracing": True, "trace_ratio": 0.01},
    "metrics, traces of 100 %": {**_METRICS, "tracing": True, "trace_ratio": 1.0},
}


def main() -> None:
    """Runs the measurement and prints its tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the folder for the corpus and the logs")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=200, help="calls of each kind and server in a round")
    parser.add_argument("--clients", type=int, default=4, help="at least 2, which ask at the same time")
    arguments = parser.parse_args()
    for scenario, spent in _measured(arguments.out, arguments.rounds, arguments.calls, arguments.clients).items():
        print_spent(scenario, spent)


def _measured(out: Path, rounds: int, calls: int, clients: int) -> dict[str, dict[str, Spent]]:
    """By scenario and variant."""
    corpus = write_corpus(out / f"corpus-{NODES}-1000", Shape(NODES, policy_classes=1_000))
    with ExitStack() as stack:
        os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://{stack.enter_context(_collector())}"
        servers = {
            name: stack.enter_context(_server(ensure_index(corpus), settings, out / f"telemetry-{number}"))
            for number, (name, settings) in enumerate(VARIANTS.items())
        }
        requests = {scenario: Calls(corpus).requests(scenario) for scenario in SCENARIOS}
        return ask_in_turn(servers, requests, rounds, calls, clients)


def _server(data: Path, settings: Mapping[str, object], path: Path) -> AbstractContextManager[RunningProgram]:
    config = path.with_suffix(".yaml")
    config.write_text(yaml.safe_dump(dict(settings)), encoding="utf-8")
    return running(serve_command(data, ("--config", str(config))), path.with_suffix(".log"))


@contextmanager
def _collector() -> Iterator[str]:
    """The address of a collector that takes spans and forgets them."""

    def export(_: bytes, __: grpc.ServicerContext) -> bytes:
        return b""

    server = grpc.server(futures.ThreadPoolExecutor(1))
    handlers: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {"Export": grpc.unary_unary_rpc_method_handler(export)}
    service = "opentelemetry.proto.collector.trace.v1.TraceService"
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(service, handlers)])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()


if __name__ == "__main__":
    main()
