"""Deadlines, cancellation and overload: nobody waits longer than allowed, and work that nobody waits for stops."""

import asyncio
import gc
import threading
import time
from collections.abc import Iterator
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
from support.calls import as_part

if TYPE_CHECKING:
    from server.rpc.conftest import Failed, HealthOf, Serving


Search: TypeAlias = (
    "grpc.aio.UnaryUnaryMultiCallable[retrieval_pb2.SearchNodesRequest, retrieval_pb2.SearchNodesResponse]"
)

LONG_SECONDS = 20.0
SOON_SECONDS = 5.0
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

    def search(self, _: SearchRequest, checkpoint: Checkpoint) -> SearchResult:
        self.begun += 1
        self.started.release()
        end = time.monotonic() + LONG_SECONDS
        while not self.release.wait(0.005) and time.monotonic() < end:
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


async def taken_on(search: Search, request: retrieval_pb2.SearchNodesRequest) -> grpc.StatusCode:
    """How a call ends that is made again until it is taken on."""
    while (code := await search(request).code()) is grpc.StatusCode.RESOURCE_EXHAUSTED:
        await asyncio.sleep(0.01)
    return code


async def becomes_full(search: Search, request: retrieval_pb2.SearchNodesRequest) -> None:
    """Returns once a call is refused for load. Between its own calls it leaves room for the one to be accepted."""
    while await search(request, timeout=0.01).code() is not grpc.StatusCode.RESOURCE_EXHAUSTED:
        await asyncio.sleep(0.02)


async def has_started(work: Work) -> bool:
    return await asyncio.to_thread(work.started.acquire, timeout=SOON_SECONDS)


@pytest.mark.asyncio
async def test_the_callers_deadline_reaches_the_work(
    serving: "Serving", work: Work, search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.SearchNodes(search_request, timeout=0.2)
        assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        assert await happens(work.over)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("settings", "timeout"),
    [
        ({"default_deadline_seconds": 0.2}, None),
        ({"default_deadline_seconds": 0.1, "max_deadline_seconds": 0.2}, LONG_SECONDS),
    ],
    ids=["none given", "longer than admitted"],
)
async def test_the_servers_own_deadline_holds(
    serving: "Serving",
    work: Work,
    failed: "Failed",
    search_request: retrieval_pb2.SearchNodesRequest,
    settings: dict[str, float],
    timeout: float | None,
) -> None:
    async with serving(**settings) as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        started = time.monotonic()
        failure = await failed(stub.SearchNodes(search_request, timeout=timeout))
        assert 0.2 <= time.monotonic() - started < SOON_SECONDS
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
        await becomes_full(stub.SearchNodes, search_request)
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


@pytest.mark.asyncio
@pytest.mark.parametrize("timeout", [0.2, None], ids=["expired", "cancelled"])
async def test_a_call_given_up_while_it_waits_frees_its_place_at_once_and_is_never_worked_on(
    serving: "Serving", work: Work, search_request: retrieval_pb2.SearchNodesRequest, timeout: float | None
) -> None:
    work.is_deaf = True  # so that it keeps its thread
    async with serving(max_waiting_calls=1) as server, grpc.aio.insecure_channel(server.address) as channel:
        search: Search = retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes
        running = search(search_request)
        assert await has_started(work)
        waiting = search(search_request, timeout=timeout)
        await becomes_full(search, search_request)
        if timeout is None:
            waiting.cancel()
        assert await waiting.code() in (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)
        next_waiting = asyncio.ensure_future(taken_on(search, search_request))
        await becomes_full(search, search_request)
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
    release, unhandled = threading.Event(), Mock()
    asyncio.get_running_loop().set_exception_handler(unhandled)

    def deaf_search(_: SearchRequest, __: Checkpoint) -> SearchResult:
        release.wait(LONG_SECONDS)
        if end is not None:
            raise end
        return ANSWER

    engine.search.side_effect = as_part(deaf_search)
    with structlog.testing.capture_logs() as lines:
        async with (
            serving(default_deadline_seconds=0.1) as server,
            grpc.aio.insecure_channel(server.address) as channel,
        ):
            stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
            assert (await failed(stub.SearchNodes(search_request))).code is grpc.StatusCode.DEADLINE_EXCEEDED
            release.set()
            walk = retrieval_pb2.ExpandDependencyTreeRequest(scope=search_request.scope)
            await stub.ExpandDependencyTree(walk, timeout=SOON_SECONDS)
    assert [line["event"] for line in lines][: len(events)] == events
    assert len(lines) == len(events) + 1
    gc.collect()
    unhandled.assert_not_called()
