"""Servers die, restart and change their index under load, and no call through Envoy fails.

The callers' own retries are off: what is made again, Envoy makes again.
"""

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import pytest

from groundwire.v1 import index_pb2, index_pb2_grpc, retrieval_pb2, retrieval_pb2_grpc
from groundwire.v1.scope_pb2 import IndexScope
from groundwire_server.config import Settings
from support.mesh import Mesh
from support.workers import await_events

pytestmark = [pytest.mark.slow, pytest.mark.alone]

CALLERS = 8
ROUND = 300
"""Calls between two events, so that each meets a load that has settled."""
PATIENCE_SECONDS = 300


def search(version: str = "") -> retrieval_pb2.SearchNodesRequest:
    return retrieval_pb2.SearchNodesRequest(
        scope=IndexScope(repository="shop", branch="main", active_index=version),
        search_type=retrieval_pb2.SEARCH_TYPE_BM25,
        query="invoice",
        top_k=20,
    )


@dataclass(slots=True)
class Load:
    """Callers that make one call after another, each over a connection of its own."""

    mesh: Mesh
    request: retrieval_pb2.SearchNodesRequest
    counts: list[int] = field(default_factory=lambda: [0] * CALLERS)
    answers: set[bytes] = field(default_factory=set[bytes])
    failures: list[grpc.RpcError] = field(default_factory=list[grpc.RpcError])
    over: threading.Event = field(default_factory=threading.Event)

    def call_until_over(self, caller: int) -> None:
        with self.mesh.channel() as channel:
            stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
            while not self.over.is_set():
                try:
                    answer = stub.SearchNodes(self.request, timeout=300)
                except grpc.RpcError as error:
                    self.failures.append(error)
                else:
                    self.answers.add(answer.SerializeToString(deterministic=True))
                self.counts[caller] += 1

    def go_on(self, calls: int = ROUND) -> None:
        """Returns after that many more calls."""
        wanted, end = sum(self.counts) + calls, time.monotonic() + PATIENCE_SECONDS
        while sum(self.counts) < wanted:
            assert time.monotonic() < end, f"{wanted - sum(self.counts)} of {calls} calls were not made"
            time.sleep(0.02)


@contextmanager
def load(mesh: Mesh, request: retrieval_pb2.SearchNodesRequest | None = None) -> Iterator[Load]:
    """Load while the context lasts; at its end, no call failed and every caller made some."""
    load = Load(mesh, request or search())
    with ThreadPoolExecutor(CALLERS) as pool:
        running = [pool.submit(load.call_until_over, caller) for caller in range(CALLERS)]
        try:
            load.go_on()
            yield load
        finally:
            load.over.set()
        for future in running:
            future.result()
    assert load.failures == []
    assert min(load.counts) > 0


@pytest.fixture(scope="module")
def lasting_mesh(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mesh]:
    """Servers that drain as long as they do by default."""
    environment = {"GROUNDWIRE_DRAIN_PAUSE_SECONDS": str(Settings().drain_pause_seconds)}
    folder = tmp_path_factory.mktemp("failures")
    with Mesh(folder, data, "--embedder", "none", "--allow-admin", environment=environment) as mesh:
        yield mesh
        for server in mesh.servers:  # together, since each of them pauses
            server.process.terminate()


def test_a_server_that_is_killed_fails_no_call(lasting_mesh: Mesh) -> None:
    with load(lasting_mesh) as calls:
        for number in (0, 1):
            os.kill(lasting_mesh.servers[number].process.pid, signal.SIGKILL)
            calls.go_on()
            lasting_mesh.restart(number)
            calls.go_on()
            await_events(lasting_mesh.servers[number], "call", ROUND)
    assert len(calls.answers) == 1
    assert sum(calls.counts) > 2_000
    retries = lasting_mesh.envoy.statistics("cluster.groundwire.")
    assert retries["upstream_rq_retry_success"] > 0
    assert retries.get("upstream_rq_retry_overflow", 0) == 0


def test_a_rolling_restart_fails_no_call(lasting_mesh: Mesh) -> None:
    with load(lasting_mesh) as calls:
        for number in (0, 1):
            leaving = lasting_mesh.servers[number]
            assert leaving.terminate() == 0
            lasting_mesh.restart(number)
            calls.go_on()
            await_events(lasting_mesh.servers[number], "call", ROUND)
    assert len(calls.answers) == 1
    assert sum(calls.counts) > 2_000


def test_an_activation_fails_no_call_and_mixes_no_answer(lasting_mesh: Mesh) -> None:
    pinned = {version: search(version) for version in ("v1", "v2")}
    with lasting_mesh.channel() as channel:
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        expected = {
            stub.SearchNodes(request, timeout=300).SerializeToString(deterministic=True) for request in pinned.values()
        }
        indexes = index_pb2_grpc.IndexServiceStub(channel)
        with load(lasting_mesh) as unpinned, load(lasting_mesh, pinned["v1"]) as on_first:
            for number in range(20):
                version = ("v1", "v2")[number % 2]
                activation = index_pb2.ActivateIndexRequest(
                    scope=IndexScope(repository="shop", branch="main", active_index=version)
                )
                indexes.ActivateIndex(activation, timeout=300)
                unpinned.go_on(200)
    assert unpinned.answers == expected
    assert len(on_first.answers) == 1
    assert sum(unpinned.counts) > 4_000
