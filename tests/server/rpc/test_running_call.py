"""Where calls run: on the event loop, on threads that compute, or on threads that wait; and whose turn it is."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, cast
from unittest.mock import Mock

import grpc
import pytest

from groundwire.v1 import query_pb2, query_pb2_grpc, retrieval_pb2, retrieval_pb2_grpc
from groundwire_server.domain.access.grants import ANYBODY, Caller
from groundwire_server.domain.graph.expansion import ExpandReason, ExpandRequest, Expansion
from groundwire_server.domain.query.query import QueryRequest
from groundwire_server.domain.query.query_result import QueryResult
from groundwire_server.domain.search.search import SearchRequest, SearchResult, SearchType
from groundwire_server.execution.call import Checkpoint
from groundwire_server.rpc import calls
from groundwire_server.rpc.bodies import CallContext
from groundwire_server.rpc.calls import RunningCall
from groundwire_server.rpc.identity.authenticator import Authenticator
from support.calls import as_part
from support.clocks import Clock

if TYPE_CHECKING:
    from server.rpc.conftest import Serving

pytestmark = pytest.mark.asyncio
ANSWER = SearchResult((), "v1", SearchType.BM25)
EXPANSION = Expansion((), (), (), ExpandReason.NO_SEEDS, "v1")
SOON_SECONDS = 60.0
KNOWN_AFTER = 16
Wait = Callable[[RunningCall, Callable[[], SearchResult]], Awaitable[SearchResult]]
MAIN = threading.main_thread().name


class NamedCallers(Authenticator):
    """Callers are who they say they are."""

    async def authenticate(self, context: CallContext) -> Caller:
        return Caller(str(dict(context.invocation_metadata() or ())["caller"]), ANYBODY.grant)


class Places:
    """A search that notes where it runs, and may do more there."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.then: Callable[[Checkpoint], None] = lambda checkpoint: None

    def search(self, _: SearchRequest, checkpoint: Checkpoint) -> SearchResult:
        self.names.append(threading.current_thread().name)
        self.then(checkpoint)
        return ANSWER

    @property
    def kinds(self) -> list[str]:
        """The names of the threads without their numbers."""
        return [name.rpartition("_")[0] or name for name in self.names]


@pytest.fixture
def places(engine: Mock) -> Places:
    places = Places()
    engine.search.side_effect = as_part(places.search)
    return places


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of calls, in which they are short, and leave the event loop after a time that none takes by chance."""
    clock = Clock()
    monkeypatch.setattr(calls, "time", clock)
    monkeypatch.setattr(calls, "SHORT_SECONDS", 5.0)
    monkeypatch.setattr(calls, "SECONDS_ON_LOOP", 10.0)
    return clock


async def test_calls_of_a_method_run_on_the_event_loop_once_it_is_known_to_be_short(
    serving: "Serving", places: Places, clock: Clock, search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        for _ in range(2 * KNOWN_AFTER):
            await retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(search_request)
    assert places.kinds[0] == "groundwire-compute"
    assert places.kinds[-1] == MAIN


async def test_a_call_that_takes_long_all_the_same_begins_again_on_a_thread(
    serving: "Serving", places: Places, clock: Clock, search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    def go_on_for_long(checkpoint: Checkpoint) -> None:
        clock.passed += calls.SECONDS_ON_LOOP
        checkpoint()

    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        for _ in range(2 * KNOWN_AFTER):
            await stub.SearchNodes(search_request)
        places.names.clear()
        places.then = go_on_for_long
        assert (await stub.SearchNodes(search_request)).index == "v1"
    assert places.kinds == [MAIN, "groundwire-compute"]


@pytest.mark.parametrize("wait", [RunningCall.ask_model, RunningCall.wait_for])
async def test_a_call_that_waits_for_a_model_or_a_disk_keeps_nobody_from_computing(
    serving: "Serving", engine: Mock, search_request: retrieval_pb2.SearchNodesRequest, wait: Wait
) -> None:
    asked, go_on = threading.Event(), threading.Event()

    async def search(request: SearchRequest, call: RunningCall) -> SearchResult:
        def waits() -> SearchResult:
            asked.set()
            assert go_on.wait(SOON_SECONDS)
            return ANSWER

        return await (wait(call, waits) if request.top_k == 7 else call.compute(lambda: ANSWER))

    engine.search.side_effect = search
    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        slow = retrieval_pb2.SearchNodesRequest()
        slow.CopyFrom(search_request)
        slow.top_k = 7
        waiting = asyncio.ensure_future(stub.SearchNodes(slow))
        assert await asyncio.to_thread(asked.wait, SOON_SECONDS)
        assert (await stub.SearchNodes(search_request, timeout=SOON_SECONDS)).index == "v1"
        assert not waiting.done()
        go_on.set()
        assert (await waiting).index == "v1"


async def test_a_long_call_lets_others_compute_meanwhile(
    serving: "Serving", engine: Mock, search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    began, go_on = threading.Event(), threading.Event()

    def go_on_for_long(_: ExpandRequest, checkpoint: Checkpoint) -> Expansion:
        began.set()
        while not go_on.wait(0.001):
            checkpoint()
        return EXPANSION

    engine.expand.side_effect = as_part(go_on_for_long)
    walk_request = retrieval_pb2.ExpandDependencyTreeRequest(scope=search_request.scope, seed_ids=["A"])
    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        long = asyncio.ensure_future(stub.ExpandDependencyTree(walk_request))
        assert await asyncio.to_thread(began.wait, SOON_SECONDS)
        assert (await stub.SearchNodes(search_request, timeout=SOON_SECONDS)).index == "v1"
        engine.expand.side_effect = as_part(lambda *_: EXPANSION)
        assert (await stub.ExpandDependencyTree(walk_request, timeout=SOON_SECONDS)).index == "v1"
        assert not long.done()
        go_on.set()
        assert (await long).index == "v1"


async def test_light_queries_of_one_caller_end_while_another_has_heavy_ones_queued(
    serving: "Serving", engine: Mock, query_request: query_pb2.QueryRequest
) -> None:
    began, go_on = threading.Event(), threading.Event()
    result, ended = cast("QueryResult", engine.query.return_value), list[str]()

    def query(request: QueryRequest, checkpoint: Checkpoint) -> QueryResult:
        while request.query == "heavy" and not go_on.wait(0.001):
            began.set()
            checkpoint()
        ended.append(request.query)
        return result

    engine.query.side_effect = as_part(query)
    heavy = query_pb2.QueryRequest(scope=query_request.scope, query="heavy", hybrid=query_request.hybrid)
    async with (
        serving(authenticator=lambda _: NamedCallers()) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        stub = query_pb2_grpc.QueryServiceStub(channel)
        queued = [asyncio.ensure_future(stub.Query(heavy, metadata=(("caller", "a"),))) for _ in range(32)]
        assert await asyncio.to_thread(began.wait, SOON_SECONDS)
        for _ in range(3):
            await stub.Query(query_request, metadata=(("caller", "b"),), timeout=SOON_SECONDS)
        go_on.set()
        await asyncio.gather(*queued)
    assert ended == [query_request.query] * 3 + ["heavy"] * 32
