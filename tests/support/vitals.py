"""What a server's process holds, and whether its health is told in time."""

import json
import os
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Self

import grpc
from grpc_health.v1 import health_pb2

from support import weighed_server
from support.patience import PATIENCE_SECONDS, await_true
from support.program import Server
from support.scrapes import Scrape, scrape
from support.weighed_server import EVENT, WEIGH, Held
from support.workers import await_events, events

HEALTH_SECONDS = 60.0
"""What an answer may take. A server that keeps it until something else has ended would keep it for longer."""
_PAUSE_SECONDS = 0.1


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


def shown(server: Server) -> Scrape:
    """What a server with a port for metrics shows there."""
    return scrape(_listening(server)["metrics_address"])


def shows(server: Server, **wanted: float) -> bool:
    """Whether these metrics, without `groundwire_`, have these values now; each is the sum over all labels.

    While a connection of a test is open, wait by its `pump`: the server closes one that does not answer its pings.
    """
    scraped = shown(server)
    return all(scraped.value(f"groundwire_{name}") == value for name, value in wanted.items())


def await_shown(server: Server, **wanted: float) -> None:
    """Returns once the metrics have these values; see `shows`."""

    def now() -> dict[str, float]:
        scraped = shown(server)
        return {name: scraped.value(f"groundwire_{name}") for name in wanted}

    await_true(lambda: now() == wanted, now)


def calls_at_work(server: Server) -> float:
    """How many calls run or wait, after the metrics of the server."""
    now = shown(server)
    return now.value("groundwire_running_calls") + now.value("groundwire_waiting_calls")


class HealthWatch:
    """Asks for health again and again, on both ports and by every name, while the context lasts.

    Health is told in time if it is told before what else the server is at has ended: a test lets that go on until
    `await_round` returns. A number of seconds would speak of the machine, not of the server; `seconds` are what the
    answers have taken, to be compared with those of other calls on the same machine.
    """

    def __init__(self, server: Server) -> None:
        self.problems: list[str] = []
        self.seconds: list[float] = []
        self._rounds: Counter[str] = Counter()
        self._over = threading.Event()
        self._told = threading.Condition()
        self._addresses = (server.address, _listening(server)["health_address"])
        self._threads = [threading.Thread(target=self._watch, args=(address,)) for address in self._addresses]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        self.await_round()  # now the watchers are connected
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def await_round(self) -> None:
        """Returns once both ports have been asked by every name, all of it after this was called."""
        with self._told:
            # The round that is under way now began earlier.
            wanted = {address: self._rounds[address] + 2 for address in self._addresses}
            assert self._told.wait_for(
                lambda: all(self._rounds[address] >= count for address, count in wanted.items()), PATIENCE_SECONDS
            ), self.problems

    def _watch(self, address: str) -> None:
        with grpc.insecure_channel(address) as channel:
            check: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary("/grpc.health.v1.Health/Check")
            while not self._over.wait(_PAUSE_SECONDS):
                for service in ("", "liveness", "readiness"):
                    began = time.monotonic()
                    problem = _problem_of(check, service)
                    self.seconds.append(time.monotonic() - began)
                    if problem:
                        self.problems.append(f"{service!r} at {address}: {problem}")
                with self._told:
                    self._rounds[address] += 1
                    self._told.notify_all()


def _problem_of(check: "grpc.UnaryUnaryMultiCallable[bytes, bytes]", service: str) -> str:
    """What is wrong with the health of a service, "" for nothing."""
    request = health_pb2.HealthCheckRequest(service=service)
    try:
        answer = check(request.SerializeToString(), timeout=HEALTH_SECONDS)
    except grpc.RpcError as error:
        return str(error.code())
    status = health_pb2.HealthCheckResponse.FromString(answer).status
    return "" if status == health_pb2.HealthCheckResponse.SERVING else str(status)


def _listening(server: Server) -> dict[str, str]:
    line = next(line for line in server.log if '"listening"' in line)
    addresses: dict[str, str] = json.loads(line)
    return addresses
