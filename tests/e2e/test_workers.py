"""A server of two workers: both answer, one may die, both drain, and none is left behind."""

import json
import os
import signal
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2

from groundwire.v1 import index_pb2, index_pb2_grpc, retrieval_pb2, retrieval_pb2_grpc
from groundwire.v1.scope_pb2 import IndexScope
from support.jsonl import node
from support.program import Server, run, run_ok, write_jsonl
from support.workers import await_ended, await_events, events, separate_channel, worker_pids

FLAGS = ("--workers", "2", "--embedder", "none", "--allow-admin", "--health-listen", "127.0.0.1:0")
SCOPE = IndexScope(repository="shop", branch="main")
SEARCH = retrieval_pb2.SearchNodesRequest(
    scope=SCOPE, search_type=retrieval_pb2.SEARCH_TYPE_BM25, query="invoice", top_k=20
)


@dataclass
class Caller:
    """Asks over a connection of its own, and makes calls that were UNAVAILABLE again."""

    name: str
    channel: grpc.Channel
    answers: dict[str, bytes] = field(default_factory=dict[str, bytes])
    """By request id."""
    interrupted: list[str] = field(default_factory=list[str])
    """The request ids of calls that had to be made again."""

    def ask(self) -> None:
        """Makes one call, as often as it takes."""
        request_id = f"{self.name}-{len(self.answers)}"
        search = retrieval_pb2_grpc.RetrievalServiceStub(self.channel).SearchNodes
        while request_id not in self.answers:
            again = request_id in self.interrupted
            call = search.future(SEARCH, metadata=(("x-request-id", request_id),), timeout=300, wait_for_ready=again)
            if call.code() is grpc.StatusCode.OK:
                self.answers[request_id] = call.result().SerializeToString(deterministic=True)
            else:
                assert call.code() is grpc.StatusCode.UNAVAILABLE
                self.interrupted.append(request_id)

    def ask_until(self, over: threading.Event) -> None:
        """Makes calls one after another."""
        while not over.is_set():
            self.ask()


def callers_of(server: Server, each: int) -> dict[int, list[Caller]]:
    """At least `each` callers connected to each of the two workers, by its number.

    The kernel chooses who gets a connection; which it was the log tells.
    """
    callers: dict[int, list[Caller]] = {1: [], 2: []}
    while min(map(len, callers.values())) < each:
        caller = Caller(uuid.uuid4().hex, separate_channel(server.address))
        caller.ask()
        (line,) = await_events(server, "call", 1, request_id=f"{caller.name}-0")
        callers[line["worker"]].append(caller)
    return callers


def distinct_answers(*groups: list[Caller]) -> set[bytes]:
    """The different bytes among all answers."""
    return {answer for group in groups for caller in group for answer in caller.answers.values()}


def await_more_calls(server: Server, count: int) -> None:
    """Returns once the server has answered that many more."""
    await_events(server, "call", len(events(server, "call")) + count)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with two versions of one index, of which `v2` is active."""
    folder = tmp_path_factory.mktemp("workers")
    for version, count in (("v1", 10), ("v2", 20)):
        nodes = [node(f"Invoice.M{number}", f"void InvoiceMethod{number}() {{ }}", None) for number in range(count)]
        source = write_jsonl(folder / f"{version}.jsonl", nodes)
        where = ("--repository", "shop", "--branch", "main", "--version", version, "--data", folder / "data")
        run_ok("index", source, *where, "--embedder", "none")
    return folder / "data"


@pytest.fixture(scope="module")
def server(data: Path) -> Iterator[Server]:
    """A server of two workers, which every test leaves with two."""
    with Server(data, *FLAGS) as server:
        yield server


def test_a_server_says_what_it_does_until_it_listens(server: Server, data: Path) -> None:
    steps = ["loading libraries", "loading models"]
    for number in (1, 2):
        events_of_worker = [line["event"] for line in map(json.loads, list(server.log)) if line.get("worker") == number]
        assert events_of_worker[:2] == steps
    with Server(data, "--embedder", "none") as alone:
        assert [json.loads(line)["event"] for line in list(alone.log)[:3]] == [*steps, "listening"]
        started = [*events(alone, "listening"), *events(server, "listening")]
    assert all(line["seconds"] > 0 for line in started)


def test_both_workers_answer_alike_and_on_the_health_port_too(server: Server) -> None:
    callers = callers_of(server, each=2)
    assert len(distinct_answers(*callers.values())) == 1
    (listening,) = events(server, "listening")
    for _ in range(8):
        with separate_channel(listening["health_address"]) as channel:
            check: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary("/grpc.health.v1.Health/Check")
            answer = health_pb2.HealthCheckResponse.FromString(check(b"", timeout=300))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_a_worker_that_is_killed_under_load_loses_no_more_than_the_calls_it_was_serving(server: Server) -> None:
    callers = callers_of(server, each=3)
    killed, untouched = callers[1], callers[2]
    pids, over = worker_pids(server), threading.Event()
    with ThreadPoolExecutor(len(killed) + len(untouched)) as pool:
        running = [pool.submit(caller.ask_until, over) for caller in (*killed, *untouched)]
        try:
            await_more_calls(server, 300)
            os.kill(pids[1], signal.SIGKILL)
            await_events(server, "worker listening", 3)
            await_more_calls(server, 300)
        finally:
            over.set()
        for future in running:
            future.result()
    assert not [caller.interrupted for caller in untouched if caller.interrupted]
    # A caller has one call under way at a time.
    assert not [caller.interrupted for caller in killed if len(set(caller.interrupted)) > 1]
    assert len(distinct_answers(killed, untouched)) == 1
    (end,) = events(server, "worker ended")
    assert (end["worker"], end["signal"]) == (1, "SIGKILL")
    assert worker_pids(server)[1] != pids[1]
    assert worker_pids(server)[2] == pids[2]
    callers_of(server, each=1)


def test_a_drain_loses_no_call_of_callers_that_heed_it(data: Path) -> None:
    with Server(data, *FLAGS, environment={"GROUNDWIRE_DRAIN_PAUSE_SECONDS": "15"}) as server:
        callers, over = [caller for group in callers_of(server, each=3).values() for caller in group], threading.Event()
        with ThreadPoolExecutor(len(callers)) as pool:
            running = [pool.submit(caller.ask_until, over) for caller in callers]
            try:
                await_more_calls(server, 300)
                server.process.terminate()
                await_events(server, "draining", 3)
                await_more_calls(server, 2 * len(callers))  # well within the pause, in which callers leave
            finally:
                over.set()
            for future in running:
                future.result()
        assert server.process.wait(timeout=300) == 0
        await_ended(server)
    assert not [caller.interrupted for caller in callers if caller.interrupted]
    request_ids = {request_id for caller in callers for request_id in caller.answers}
    assert {line["request_id"]: line["code"] for line in events(server, "call")} == dict.fromkeys(request_ids, "OK")
    for event in ("draining", "stopped"):
        assert sorted(line.get("worker", 0) for line in events(server, event)) == [0, 1, 2]


def test_every_worker_follows_an_activation(server: Server, data: Path) -> None:
    channels = [caller.channel for group in callers_of(server, each=2).values() for caller in group]

    def versions() -> set[str]:
        stubs = map(retrieval_pb2_grpc.RetrievalServiceStub, channels)
        return {stub.SearchNodes(SEARCH, timeout=300).index for stub in stubs}

    assert versions() == {"v2"}
    run_ok("activate", "v1", "--repository", "shop", "--branch", "main", "--data", data)
    assert versions() == {"v1"}
    scope = IndexScope(repository="shop", branch="main", active_index="v2")
    index_pb2_grpc.IndexServiceStub(channels[0]).ActivateIndex(index_pb2.ActivateIndexRequest(scope=scope), timeout=300)
    assert versions() == {"v2"}


def test_workers_do_not_outlive_their_supervisor(data: Path) -> None:
    server = Server(data, *FLAGS)
    server.process.kill()
    server.process.wait()
    await_ended(server)  # workers write to the same stderr, which ends with the last of them
    assert {line["worker"]: line["cut_short"] for line in events(server, "stopped")} == {1: False, 2: False}


def test_settings_that_cannot_be_used_are_told_in_the_last_line(server: Server, tmp_path: Path) -> None:
    absent = tmp_path / "absent"
    done = run("serve", "--workers", "2", "--embedder", "none", "--listen", "127.0.0.1:0", "--data", absent)
    message = f"data: {absent}: is no folder; build an index into it with `groundwire index`"
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, f"groundwire serve: {message}")
    for workers in ("1", "2"):
        flags = ("--workers", workers, "--embedder", "none", "--listen", server.address, "--data", tmp_path)
        taken = run("serve", *flags)
        message = f"listen: {server.address}: Address already in use; choose another address or free this one"
        assert (taken.returncode, taken.stderr.splitlines()[-1]) == (2, f"groundwire serve: {message}")
