"""Milvus fails under a server: it is killed, it is stopped, its replies are cut off or never come.

Calls end by their deadlines, and never with a wrong answer or a part of one. The server lives on, and answers again
without a restart. The token for Milvus is told nowhere.
"""

import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2

from groundwire.v1 import retrieval_pb2 as messages
from support.calls_in_outages import (
    AT_ONCE_SECONDS,
    OUTAGES,
    PATIENCE_SECONDS,
    SEARCH,
    TOKEN,
    Ended,
    Request,
    ask,
    await_answers,
    await_readiness,
    check_untold,
    health,
    index_requests,
    reading_requests,
    records,
)
from support.milvus_server import MilvusServer, milvus_server
from support.program import Server, run_ok, write_jsonl
from support.reply_cutter import reply_cutter
from support.workers import await_ended, await_events, separate_channel, worker_pids

pytestmark = pytest.mark.slow

MILVUS_SECONDS = 2
CALLERS = 8
AT_A_TIME = 14
"""Fewer calls than the server has threads."""
WAITING_SECONDS = 6 * MILVUS_SECONDS
"""More than calls take that wait for Milvus side by side, and less than if they waited one after another."""
MANY = 40
"""More of them than it has threads."""


@pytest.fixture(scope="module")
def milvus() -> Iterator[MilvusServer]:
    """A Milvus of its own, which every test leaves running."""
    with milvus_server() as server:
        yield server


@pytest.fixture(scope="module")
def folder(milvus: MilvusServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a token and of what a build leaves; the index lies in Milvus."""
    folder = tmp_path_factory.mktemp("faults")
    (folder / "token").write_text(TOKEN + "\n", encoding="ascii")
    source = write_jsonl(folder / "source.jsonl", records())
    where = ("--repository", "shop", "--branch", "main", "--version", "v1", "--data", folder / "data")
    environment = {"GROUNDWIRE_BACKEND": "milvus", "GROUNDWIRE_MILVUS_URI": milvus.uri}
    run_ok("index", source, *where, "--embedder", "none", environment=environment)
    return folder


@contextmanager
def serving(folder: Path, uri: str, *flags: str) -> Iterator[tuple[Server, grpc.Channel]]:
    """A server over the Milvus at `uri`, which must live to the end, and whose log must not tell the token."""
    environment = {
        "GROUNDWIRE_BACKEND": "milvus",
        "GROUNDWIRE_MILVUS_URI": uri,
        "GROUNDWIRE_MILVUS_TOKEN_FILE": str(folder / "token"),
        "GROUNDWIRE_LOG_LEVEL": "debug",
        "GROUNDWIRE_MILVUS_SECONDS": str(MILVUS_SECONDS),
    }
    with Server(folder / "data", "--embedder", "none", "--allow-admin", *flags, environment=environment) as server:
        with separate_channel(server.address) as channel:
            yield server, channel
        assert server.process.poll() is None
    await_ended(server)
    check_untold("".join(server.log))


def test_killed_and_started_again(milvus: MilvusServer, folder: Path) -> None:
    requests = reading_requests()
    with serving(folder, milvus.uri) as (_, channel):
        before = await_answers(channel, requests)
        milvus.kill()
        await_readiness(channel, health_pb2.HealthCheckResponse.NOT_SERVING)
        assert health(channel, "liveness") == health_pb2.HealthCheckResponse.SERVING
        for request in (*requests, *index_requests()):
            ended = ask(channel, request)
            assert (ended.code, ended.reason) == (grpc.StatusCode.UNAVAILABLE, "ERROR_REASON_BACKEND_UNAVAILABLE")
        milvus.start()
        assert await_answers(channel, requests) == before
        await_readiness(channel, health_pb2.HealthCheckResponse.SERVING)


def test_a_server_that_starts_without_milvus_answers_once_it_is_there(milvus: MilvusServer, folder: Path) -> None:
    requests = reading_requests()[:1]
    milvus.kill()
    with serving(folder, milvus.uri) as (_, channel):
        assert ask(channel, requests[0]).reason == "ERROR_REASON_BACKEND_UNAVAILABLE"
        milvus.start()
        assert len(await_answers(channel, requests)) == 1


def test_stopped_and_resumed(milvus: MilvusServer, folder: Path) -> None:
    requests = reading_requests()
    with serving(folder, milvus.uri) as (_, channel):
        before = await_answers(channel, requests)
        milvus.stop()
        try:
            with ThreadPoolExecutor(MANY) as pool:
                hanging = [pool.submit(ask, channel, requests[number % len(requests)], 1) for number in range(MANY)]
                assert health(channel, "liveness") == health_pb2.HealthCheckResponse.SERVING
                refused = ask(channel, (SEARCH, messages.SearchNodesRequest()), AT_ONCE_SECONDS)
                assert refused.code is grpc.StatusCode.INVALID_ARGUMENT
                ends = Counter(future.result().code for future in hanging)
            # Beside outages, calls are refused that would wait for a thread beyond their deadline.
            assert ends.keys() <= OUTAGES | {grpc.StatusCode.RESOURCE_EXHAUSTED}
            assert ask(channel, requests[0], 1).code in OUTAGES
            await_readiness(channel, health_pb2.HealthCheckResponse.NOT_SERVING)
            assert health(channel, "liveness") == health_pb2.HealthCheckResponse.SERVING
        finally:
            milvus.resume()
        assert await_answers(channel, requests) == before
        await_readiness(channel, health_pb2.HealthCheckResponse.SERVING)


def _check(ended: Iterable[Ended], before: Sequence[bytes]) -> None:
    """Each call was answered as before, or told an outage."""
    for outcome, expected in zip(ended, before, strict=True):
        assert outcome.answer == expected if outcome.code is grpc.StatusCode.OK else outcome.code in OUTAGES, outcome


def _ask_until(
    over: threading.Event, channel: grpc.Channel, expectations: Sequence[tuple[Request, bytes]]
) -> Counter[str]:
    """Asks again and again, each answer being known; returns how many calls ended how."""
    ends = Counter[str]()
    while not over.is_set():
        for request, expected in expectations:
            ended = ask(channel, request)
            _check([ended], [expected])
            ends[ended.code.name] += 1
    return ends


@contextmanager
def _asked_all_the_while(channels: Sequence[grpc.Channel], pairs: list[tuple[Request, bytes]]) -> Iterator[None]:
    """Callers ask over these channels, each one after another: some get answers, and some learn of outages."""
    over = threading.Event()
    with ThreadPoolExecutor(len(channels)) as pool:
        orders = [pairs[number:] + pairs[:number] for number in range(len(channels))]
        running = [
            pool.submit(_ask_until, over, *channel_and_order)
            for channel_and_order in zip(channels, orders, strict=True)
        ]
        try:
            yield
        finally:
            over.set()
        ends = sum((future.result() for future in running), Counter[str]())
    assert min(ends["OK"], ends["UNAVAILABLE"]) > 0


def test_killed_and_started_again_under_load(milvus: MilvusServer, folder: Path) -> None:
    requests = reading_requests()
    with serving(folder, milvus.uri) as (server, channel), ExitStack() as stack:
        before = await_answers(channel, requests)
        channels = [stack.enter_context(separate_channel(server.address)) for _ in range(CALLERS)]
        with _asked_all_the_while(channels, list(zip(requests, before, strict=True))):
            for _ in range(3):
                milvus.restart()
                await_answers(channel, requests)
        assert await_answers(channel, requests) == before


def _channels_by_worker(server: Server, stack: ExitStack, each: int) -> dict[int, list[grpc.Channel]]:
    """`each` channels or more to each of two workers: the kernel chooses whose a connection is, and the log tells."""
    by_worker: dict[int, list[grpc.Channel]] = {1: [], 2: []}
    while min(map(len, by_worker.values())) < each:
        channel, request_id = stack.enter_context(separate_channel(server.address)), uuid.uuid4().hex
        method, message = reading_requests()[0]
        called: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(f"/{method}")
        called(message.SerializeToString(), metadata=(("x-request-id", request_id),), timeout=PATIENCE_SECONDS)
        (line,) = await_events(server, "call", 1, request_id=request_id)
        by_worker[line["worker"]].append(channel)
    return by_worker


def test_each_worker_recovers(milvus: MilvusServer, folder: Path) -> None:
    requests = reading_requests()[::4]
    with serving(folder, milvus.uri, "--workers", "2") as (server, channel), ExitStack() as stack:
        before, pids = await_answers(channel, requests), worker_pids(server)
        for pid in (server.process.pid, *pids.values()):
            check_untold(Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8"))
        workers = _channels_by_worker(server, stack, each=2)
        with _asked_all_the_while([*workers[1], *workers[2]], list(zip(requests, before, strict=True))):
            milvus.kill()
            for of_worker in workers.values():
                await_readiness(of_worker[0], health_pb2.HealthCheckResponse.NOT_SERVING)
                assert health(of_worker[0], "liveness") == health_pb2.HealthCheckResponse.SERVING
            milvus.start()
            for of_worker in workers.values():
                assert await_answers(of_worker[0], requests) == before
                await_readiness(of_worker[0], health_pb2.HealthCheckResponse.SERVING)
        assert worker_pids(server) == pids


def test_replies_that_are_cut_off_are_never_taken_for_answers(milvus: MilvusServer, folder: Path) -> None:
    requests = reading_requests()
    with reply_cutter(milvus.port) as cutter, serving(folder, cutter.uri) as (_, channel):
        before = await_answers(channel, requests)
        with ThreadPoolExecutor(CALLERS) as pool:
            for count in (0, 1, 60, 300, 1_000, 3_000, 10_000, 40_000):
                cuts = cutter.cuts
                cutter.cut_after(count)
                _check(pool.map(partial(ask, channel), requests), before)
                assert cutter.cuts > cuts
                cutter.heal()
                assert await_answers(channel, requests) == before


@pytest.mark.parametrize("connections_end", [False, True])
def test_replies_that_do_not_come_are_waited_for_within_the_time(
    milvus: MilvusServer, folder: Path, connections_end: bool
) -> None:
    requests = reading_requests()
    with reply_cutter(milvus.port) as cutter, serving(folder, cutter.uri) as (_, channel):
        before = await_answers(channel, requests)
        cutter.hold()
        with ThreadPoolExecutor(AT_A_TIME) as pool:
            waiting = pool.map(partial(ask, channel, seconds=WAITING_SECONDS), requests[:AT_A_TIME])
            if connections_end:
                time.sleep(MILVUS_SECONDS / 2)  # until most requests are under way
                cutter.cut_and_hold()
            assert {outcome.reason for outcome in waiting} == {"ERROR_REASON_BACKEND_UNAVAILABLE"}
        cutter.heal()
        assert await_answers(channel, requests) == before
