"""Deadlines, cancellation and overload: nobody waits longer than allowed, and work that nobody waits for stops."""

import asyncio
import gc
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, TypeAlias
from unittest.mock import Mock

import grpc
import pytest
import structlog
from grpc_health.v1 import health_pb2

from groundwire.v1 import retrieval_pb2, retrieval_pb2_grpc
from groundwire_server.domain.errors import CancelledError, DeadlineError, GroundwireError
from groundwire_server.domain.search.search import SearchRequest, SearchResult, SearchType
from groundwire_server.execution.call import Checkpoint
from groundwire_server.rpc import calls
from groundwire_server.rpc.admission.call_queue import MethodLoad
from support.calls import as_part
from support.clocks import Clock
from support.patience import until

if TYPE_CHECKING:
    from groundwire_server.rpc.serving.server import GroundwireServer
    from server.rpc.conftest import Failed, HealthOf, Serving


Search: TypeAlias = (
    "grpc.aio.UnaryUnaryMultiCallable[retrieval_pb2.SearchNodesRequest, retrieval_pb2.SearchNodesResponse]"
)

Call: TypeAlias = "grpc.aio.UnaryUnaryCall[retrieval_pb2.SearchNodesRequest, retrieval_pb2.SearchNodesResponse]"

LONG_SECONDS = 300.0
SOON_SECONDS = 60.0
ANSWER = SearchResult((), "v1", SearchType.BM25)


class Work:
    """A search that goes on until it is released or its checkpoint stops it; a deaf one has none."""

    def __init__(self) -> None:
        self.is_deaf = False
        self.started = threading.Semaphore(0)
        self.begun = 0
        self.release = threading.Event()
        self.stopped_by: list[GroundwireError] = []
        self.over = threading.Event()
        self.checks = 0

    def search(self, _: SearchRequest, checkpoint: Checkpoint) -> SearchResult:
        self.begun += 1
        self.started.release()
        end = time.monotonic() + LONG_SECONDS
        while not self.release.wait(0.005) and time.monotonic() < end:
            self.checks += 1
            try:
                if not self.is_deaf:
                    checkpoint()
            except GroundwireError as error:
                self.stopped_by.append(error)
                self.over.set()
                raise
        return ANSWER


@pytest.fixture
def work(engine: Mock) -> Iterator[Work]:
    work = Work()
    engine.search.side_effect = as_part(work.search)
    yield work
    work.release.set()


async def happens(event: threading.Event) -> bool:
    return await asyncio.to_thread(event.wait, SOON_SECONDS)


def calls_of(server: "GroundwireServer") -> int:
    """How many searches the server has accepted."""
    load = server.load().methods.get("SearchNodes", MethodLoad(0, 0))
    return load.running + load.waiting


async def has_accepted(server: "GroundwireServer", count: int) -> None:
    """Returns once the server has so many searches at a time."""
    await until(lambda: calls_of(server) == count, server.load)


async def has_started(work: Work) -> bool:
    return await asyncio.to_thread(work.started.acquire, timeout=SOON_SECONDS)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock by which work is stopped."""
    clock = Clock()
    monkeypatch.setattr(calls, "time", clock)
    return clock


async def goes_on(work: Work) -> None:
    """Returns once the work has found that it may go on."""
    checks = work.checks
    await until(lambda: work.checks > checks + 1)
    assert work.stopped_by == []


@pytest.mark.asyncio
async def test_the_callers_deadline_reaches_the_work(
    serving: "Serving", work: Work, clock: Clock, search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    async with serving(max_deadline_seconds=3_600) as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        code = asyncio.ensure_future(stub.SearchNodes(search_request, timeout=2_000).code())
        assert await has_started(work)
        clock.passed += 1_000
        await goes_on(work)
        clock.passed += 1_000
        assert await happens(work.over)
        assert await code is grpc.StatusCode.DEADLINE_EXCEEDED


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("settings", "timeout"),
    [
        ({"default_deadline_seconds": 2_000, "max_deadline_seconds": 3_600}, None),
        ({"default_deadline_seconds": 1_000, "max_deadline_seconds": 2_000}, 3_600.0),
    ],
    ids=["none given", "longer than admitted"],
)
async def test_the_servers_own_deadline_holds(
    serving: "Serving",
    work: Work,
    clock: Clock,
    failed: "Failed",
    search_request: retrieval_pb2.SearchNodesRequest,
    settings: dict[str, float],
    timeout: float | None,
) -> None:
    async with serving(**settings) as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        failing = asyncio.ensure_future(failed(stub.SearchNodes(search_request, timeout=timeout)))
        assert await has_started(work)
        clock.passed += 1_500
        await goes_on(work)
        clock.passed += 500
        failure = await failing
        assert await happens(work.over)
    assert failure.code is grpc.StatusCode.DEADLINE_EXCEEDED
    assert failure.info.reason == "ERROR_REASON_DEADLINE_EXCEEDED"
    assert isinstance(work.stopped_by[0], DeadlineError)


@pytest.mark.asyncio
async def test_the_answer_to_a_missed_deadline_does_not_wait_for_the_work(
    serving: "Serving", engine: Mock, failed: "Failed", search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    release = threading.Event()

    def deaf_search(_: SearchRequest, __: Checkpoint) -> SearchResult:
        release.wait(LONG_SECONDS)
        return ANSWER

    engine.search.side_effect = as_part(deaf_search)
    async with serving(default_deadline_seconds=0.1) as server, grpc.aio.insecure_channel(server.address) as channel:
        started = time.monotonic()
        failure = await failed(retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(search_request))
        assert time.monotonic() - started < SOON_SECONDS
        release.set()
    assert failure.code is grpc.StatusCode.DEADLINE_EXCEEDED


@pytest.mark.asyncio
async def test_cancellation_reaches_the_checkpoint(
    serving: "Serving", work: Work, search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        call = retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(search_request)
        waiting = asyncio.ensure_future(call.code())
        assert await has_started(work)
        call.cancel()
        assert await waiting is grpc.StatusCode.CANCELLED
        assert await happens(work.over)
    assert isinstance(work.stopped_by[0], CancelledError)


@pytest.mark.asyncio
async def test_a_vanished_caller_stops_the_work(
    serving: "Serving", work: Work, search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    async with serving() as server:
        channel = grpc.aio.insecure_channel(server.address)
        call = asyncio.ensure_future(
            retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(search_request).code()
        )
        assert await has_started(work)
        await channel.close()
        assert await happens(work.over)
        await call


@pytest.mark.asyncio
async def test_overload_is_refused_at_once_per_method_and_never_meets_health(
    serving: "Serving",
    work: Work,
    failed: "Failed",
    health_of: "HealthOf",
    search_request: retrieval_pb2.SearchNodesRequest,
) -> None:
    async with serving(max_waiting_calls=2) as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        admitted = [asyncio.ensure_future(stub.SearchNodes(search_request)) for _ in range(3)]
        assert await has_started(work)
        await has_accepted(server, 3)
        failure = await failed(stub.SearchNodes(search_request))
        assert failure.code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert failure.info.reason == "ERROR_REASON_OVERLOADED"
        assert dict(failure.info.metadata) == {"method": "SearchNodes", "rule": "waiting"}
        assert failure.retry_seconds is not None
        assert 1 <= failure.retry_seconds <= 2
        assert await health_of(channel) == health_pb2.HealthCheckResponse.SERVING
        no_message: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]
        no_message = channel.unary_unary("/groundwire.v1.RetrievalService/SearchNodes")
        assert (await failed(no_message(b"\xff"))).code is grpc.StatusCode.RESOURCE_EXHAUSTED, "it is not even read"
        walk = retrieval_pb2.ExpandDependencyTreeRequest(scope=search_request.scope)
        assert (await stub.ExpandDependencyTree(walk)).index == "v1"
        work.release.set()
        assert [response.index for response in await asyncio.gather(*admitted)] == ["v1"] * 3
        assert (await stub.SearchNodes(search_request)).index == "v1"


async def waiting_call(server: "GroundwireServer", search: "Callable[..., Call]", timeout: float | None) -> "Call":
    """A call that has been accepted, with a deadline that is twice as late as one that passed before that."""
    waiting = search(timeout=timeout)
    await until(lambda: calls_of(server) == 2 or waiting.done(), server.load)
    if not waiting.done():
        return waiting
    assert timeout is not None
    return await waiting_call(server, search, 2 * timeout)


@pytest.mark.asyncio
@pytest.mark.parametrize("timeout", [0.2, None], ids=["expired", "cancelled"])
async def test_a_call_given_up_while_it_waits_frees_its_place_at_once_and_is_never_worked_on(
    serving: "Serving",
    work: Work,
    search_request: retrieval_pb2.SearchNodesRequest,
    timeout: float | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(calls, "SECONDS_ALONE", 3_600.0)  # it keeps its thread, also where it takes long to begin
    work.is_deaf = True
    async with serving(max_waiting_calls=1) as server, grpc.aio.insecure_channel(server.address) as channel:
        search: Search = retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes
        running = search(search_request)
        assert await has_started(work)
        waiting = await waiting_call(server, partial(search, search_request), timeout)
        if timeout is None:
            waiting.cancel()
        assert await waiting.code() in (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)
        await has_accepted(server, 1)
        next_waiting = asyncio.ensure_future(search(search_request).code())
        await has_accepted(server, 2)
        assert not running.done()
        work.release.set()
        assert await running.code() is await next_waiting is grpc.StatusCode.OK
    assert work.begun == 2


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("end", "events"),
    [(ZeroDivisionError("broken"), ["call", "abandoned call failed"]), (DeadlineError(), ["call"]), (None, ["call"])],
    ids=["defect", "stopped", "answered"],
)
async def test_of_what_follows_a_missed_deadline_the_log_tells_defects_alone(
    serving: "Serving",
    engine: Mock,
    failed: "Failed",
    search_request: retrieval_pb2.SearchNodesRequest,
    end: Exception | None,
    events: list[str],
) -> None:
    began, release, unhandled = threading.Event(), threading.Event(), Mock()
    asyncio.get_running_loop().set_exception_handler(unhandled)

    def deaf_search(_: SearchRequest, __: Checkpoint) -> SearchResult:
        began.set()
        release.wait(LONG_SECONDS)
        if end is not None:
            raise end
        return ANSWER

    engine.search.side_effect = as_part(deaf_search)
    seconds = 0.1
    while not began.is_set():  # a deadline that passes before the search begins says nothing
        release.clear()
        threads_before = set(threading.enumerate())
        with structlog.testing.capture_logs() as lines:
            async with (
                serving(default_deadline_seconds=seconds) as server,
                grpc.aio.insecure_channel(server.address) as channel,
            ):
                stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
                assert (await failed(stub.SearchNodes(search_request))).code is grpc.StatusCode.DEADLINE_EXCEEDED
                release.set()
                walk = retrieval_pb2.ExpandDependencyTreeRequest(scope=search_request.scope)
                await stub.ExpandDependencyTree(walk, timeout=SOON_SECONDS)
            for thread in set(threading.enumerate()) - threads_before:
                if thread.name.startswith("groundwire-compute"):
                    thread.join(LONG_SECONDS)
        seconds *= 2
    # The thread of the search may say what it has to say before or after the second call is answered.
    assert lines[0]["event"] == events[0]
    assert sorted(line["event"] for line in lines) == sorted([*events, "call"])
    gc.collect()
    unhandled.assert_not_called()
