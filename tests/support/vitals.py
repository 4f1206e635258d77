"""What a server's process holds, and whether its health is told in time."""

import json
import os
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2

from support import weighed_server
from support.program import Server
from support.weighed_server import EVENT, WEIGH, Held
from support.workers import await_events, events

HEALTH_TIMEOUT_SECONDS = 1.0


def resident_mib(server: Server) -> float:
    """The memory that the process holds."""
    lines = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1]) / 1024


def weighed_program(folder: Path) -> Path:
    """Writes a program that servers can run as, so that they can be weighed; returns its path."""
    program = folder / "groundwire"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P "{weighed_server.__file__}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return program


def weighed(server: Server) -> Held:
    """What the process of a `weighed_program` holds."""
    count = len(events(server, EVENT))
    server.process.send_signal(WEIGH)
    line = await_events(server, EVENT, count + 1)[-1]
    return Held(line["python_blocks"], line["native_bytes"])


def processor_seconds(server: Server) -> float:
    """The processor time that the process has taken, in all its threads."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def thread_count(server: Server) -> int:
    """Its threads, native ones included, but for gRPC's pool, which grows and shrinks with what waits for it."""
    names = [file.read_text(encoding="utf-8") for file in Path(f"/proc/{server.process.pid}/task").glob("*/comm")]
    return sum(not name.startswith("event_engine") for name in names)


def open_files(server: Server) -> int:
    """Its file descriptors, sockets included."""
    return len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))


def calls_at_work(server: Server) -> float:
    """How many calls run or wait, after the metrics of the server."""
    with urllib.request.urlopen(f"http://{_listening(server)['metrics_address']}/metrics", timeout=10) as response:
        lines = response.read().decode().splitlines()
    gauges = ("groundwire_running_calls{", "groundwire_waiting_calls{")
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(gauges))


@contextmanager
def health_watched(server: Server) -> Iterator[list[str]]:
    """Yields what went wrong with health, on both ports and by every name, while the context lasts."""
    problems, over = list[str](), threading.Event()
    addresses = (server.address, _listening(server)["health_address"])
    threads = [threading.Thread(target=_watch, args=(address, problems, over)) for address in addresses]
    for thread in threads:
        thread.start()
    try:
        yield problems
    finally:
        over.set()
        for thread in threads:
            thread.join()


def _watch(address: str, problems: list[str], over: threading.Event) -> None:
    with grpc.insecure_channel(address) as channel:
        check: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary("/grpc.health.v1.Health/Check")
        while not over.wait(0.5):
            for service in ("", "liveness", "readiness"):
                request, started = health_pb2.HealthCheckRequest(service=service), time.monotonic()
                try:
                    answer = check(request.SerializeToString(), timeout=HEALTH_TIMEOUT_SECONDS)
                except grpc.RpcError as error:
                    seconds = time.monotonic() - started
                    problems.append(f"{service!r} at {address}: {error.code()} after {seconds:.2f} s")
                    continue
                status = health_pb2.HealthCheckResponse.FromString(answer).status
                if status != health_pb2.HealthCheckResponse.SERVING:
                    problems.append(f"{service!r} at {address}: {status}")


def _listening(server: Server) -> dict[str, str]:
    line = next(line for line in server.log if '"listening"' in line)
    addresses: dict[str, str] = json.loads(line)
    return addresses
