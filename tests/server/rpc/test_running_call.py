"""Where calls run: on the event loop, on threads that compute, or on threads that wait; and whose turn it is."""

import asyncio
import itertools
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, cast
from unittest.mock import Mock

import grpc
import pytest

from groundwire.v1 import query_pb2, query_pb2_grpc, retrieval_pb2, retrieval_pb2_grpc, scope_pb2
from groundwire_index.nodes.node import Location
from groundwire_index.scope import Scope
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.grants import ANYBODY, Caller
from groundwire_server.domain.graph.expansion import ExpandReason, ExpandRequest, Expansion
from groundwire_server.domain.query.query import QueryRequest
from groundwire_server.domain.query.query_result import QueryResult
from groundwire_server.domain.search.resolution import NamedNode, NameMatch, ResolvedName, ResolveResult
from groundwire_server.domain.search.search import Declaration, NodeLabel, SearchRequest, SearchResult, SearchType
from groundwire_server.domain.text_search.text_search import TextSearchRequest
from groundwire_server.execution.call import Checkpoint
from groundwire_server.rpc.admission import call_kinds
from groundwire_server.rpc.admission.call_kinds import KNOWN_AFTER
from groundwire_server.rpc.bodies import CallContext
from groundwire_server.rpc.calls import RunningCall
from groundwire_server.rpc.identity.authenticator import Authenticator
from groundwire_server.rpc.services import retrieval_servicer
from support.calls import as_part
from support.patience import until

if TYPE_CHECKING:
    from server.rpc.conftest import Serving

pytestmark = pytest.mark.asyncio
ANSWER = SearchResult((), "v1", SearchType.BM25)
EXPANSION = Expansion((), (), (), ExpandReason.NO_SEEDS, "v1")
SOON_SECONDS = 60.0
MANY_CALLS = 40
"""More than there are threads of any kind."""
Wait = Callable[[RunningCall, Callable[[], SearchResult]], Awaitable[SearchResult]]
MAIN = threading.main_thread().name


class NamedCallers(Authenticator):
    """Callers are who they say they are."""

    async def authenticate(self, context: CallContext) -> Caller:
        return Caller(str(dict(context.invocation_metadata() or ())["caller"]), ANYBODY.grant)


class Places:
    """A search that notes where it runs."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def search(self, _: SearchRequest, __: Checkpoint) -> SearchResult:
        self.names.append(threading.current_thread().name)
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
def durations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call is short that does not compute for an hour, however busy the machine is."""
    monkeypatch.setattr(call_kinds, "SHORT_SECONDS", 3_600.0)


@pytest.mark.usefixtures("durations")
async def test_calls_run_on_the_event_loop_once_their_kind_is_known_to_be_short(
    serving: "Serving", places: Places, search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        for _ in range(KNOWN_AFTER + 1):
            await retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(search_request)
    assert places.kinds == ["groundwire-compute"] * KNOWN_AFTER + [MAIN]


@pytest.mark.usefixtures("durations")
@pytest.mark.parametrize(
    "other",
    [
        retrieval_pb2.SearchNodesRequest(top_k=500),
        retrieval_pb2.SearchNodesRequest(query="needle in a haystack " * 50),
        retrieval_pb2.SearchNodesRequest(scope=scope_pb2.IndexScope(repository="other", branch="main")),
        retrieval_pb2.SearchNodesRequest(access=scope_pb2.AccessContext(acl_tags_any=["staff"])),
        retrieval_pb2.SearchNodesRequest(filter=scope_pb2.NodeFilter(kinds=["cs"])),
        retrieval_pb2.SearchNodesRequest(search_type=retrieval_pb2.SEARCH_TYPE_HYBRID),
    ],
    ids=["more results", "longer query", "other index", "other access", "other filter", "other type"],
)
async def test_short_calls_tell_nothing_about_calls_of_another_kind(
    serving: "Serving",
    places: Places,
    search_request: retrieval_pb2.SearchNodesRequest,
    other: retrieval_pb2.SearchNodesRequest,
) -> None:
    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        for _ in range(KNOWN_AFTER):
            await stub.SearchNodes(search_request)
        places.names.clear()
        changed = retrieval_pb2.SearchNodesRequest()
        changed.CopyFrom(search_request)
        changed.MergeFrom(other)
        await stub.SearchNodes(changed)
        await stub.SearchNodes(search_request)
    assert places.kinds == ["groundwire-compute", MAIN]


async def test_a_kind_with_one_long_call_among_its_last_ones_is_not_short() -> None:
    kind = call_kinds.kind_of("SearchNodes", SearchRequest(Scope("shop", "main"), AccessContext(), None, "needle", 5))
    durations = call_kinds.CallDurations()
    for _ in range(KNOWN_AFTER):
        assert not durations.is_short(kind, "a")
        durations.add(kind, 0.0)
    assert durations.is_short(kind, "a")
    durations.add(kind, call_kinds.SHORT_SECONDS)
    for _ in range(KNOWN_AFTER):
        assert not durations.is_short(kind, "a")
        durations.add(kind, 0.0)
    assert durations.is_short(kind, "a")


async def test_searches_for_lines_are_of_one_kind_if_they_have_one_pattern() -> None:
    """A pattern may take minutes where another one of its length takes no time, and the event loop would wait."""
    scope, access = Scope("shop", "main"), AccessContext()
    kinds = [
        call_kinds.kind_of(
            "SearchText", TextSearchRequest(scope=scope, access=access, pattern=pattern, regex=True, max_matches=5)
        )
        for pattern in ("needle", "needle", "(.|x)+z")
    ]
    assert kinds[0] == kinds[1] != kinds[2]


@pytest.mark.usefixtures("durations")
async def test_a_call_that_was_given_up_counts_as_long(
    serving: "Serving", engine: Mock, places: Places, search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    began, go_on = threading.Event(), threading.Event()

    def wait(_: SearchRequest, checkpoint: Checkpoint) -> SearchResult:
        began.set()
        while not go_on.wait(0.001):
            checkpoint()
        return ANSWER

    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        for _ in range(KNOWN_AFTER - 1):
            await stub.SearchNodes(search_request)
        engine.search.side_effect = as_part(wait)
        given_up = stub.SearchNodes(search_request)
        ended = asyncio.ensure_future(given_up.code())
        assert await asyncio.to_thread(began.wait, SOON_SECONDS)
        given_up.cancel()
        assert await ended is grpc.StatusCode.CANCELLED
        await until(lambda: server.load().methods["SearchNodes"].running == 0, server.load)
        engine.search.side_effect = as_part(places.search)
        places.names.clear()
        await stub.SearchNodes(search_request)
        go_on.set()
    assert places.kinds == ["groundwire-compute"]


async def test_an_identity_that_surprised_the_event_loop_computes_on_threads_for_a_while() -> None:
    now = [100.0]
    durations = call_kinds.CallDurations(lambda: now[0])
    kinds = [
        call_kinds.kind_of("SearchNodes", SearchRequest(Scope(name, "main"), AccessContext(), None, "needle", 5))
        for name in ("a", "b")
    ]
    for kind in kinds * KNOWN_AFTER:
        durations.add(kind, 0.0)
    durations.add_on_loop("eve", call_kinds.SURPRISE_SECONDS)
    durations.add_on_loop("bob", call_kinds.SURPRISE_SECONDS / 2)
    assert [durations.is_short(kind, "eve") for kind in kinds] == [False, False]
    assert [durations.is_short(kind, "bob") for kind in kinds] == [True, True]
    now[0] += call_kinds.SECONDS_ON_THREADS
    assert [durations.is_short(kind, "eve") for kind in kinds] == [True, True]


@pytest.mark.usefixtures("durations")
async def test_calls_that_wait_for_the_loop_go_to_threads_when_one_before_them_took_long(
    serving: "Serving",
    places: Places,
    search_request: retrieval_pb2.SearchNodesRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        for _ in range(KNOWN_AFTER):
            await stub.SearchNodes(search_request)
        places.names.clear()
        monkeypatch.setattr(call_kinds, "SURPRISE_SECONDS", 0.0)
        for _ in range(3):
            await stub.SearchNodes(search_request)
    assert places.kinds == [MAIN, "groundwire-compute", "groundwire-compute"]


async def test_the_kinds_that_are_remembered_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_kinds, "MAX_KINDS", 2)
    durations = call_kinds.CallDurations()
    first, second, third = (
        call_kinds.kind_of("SearchNodes", SearchRequest(Scope(name, "main"), AccessContext(), None, "needle", 5))
        for name in ("a", "b", "c")
    )
    for _ in range(KNOWN_AFTER):
        durations.add(first, 0.0)
    assert durations.is_short(first, "a")
    for kind in (second, third):
        durations.add(kind, 0.0)
    assert not durations.is_short(first, "a")


@pytest.mark.parametrize("wait", [RunningCall.ask_model, RunningCall.wait_for])
async def test_a_call_that_waits_for_a_model_or_a_disk_keeps_nobody_from_computing(
    serving: "Serving", engine: Mock, search_request: retrieval_pb2.SearchNodesRequest, wait: Wait
) -> None:
    search_begun, go_on = threading.Event(), threading.Event()

    async def search(request: SearchRequest, call: RunningCall) -> SearchResult:
        def waits() -> SearchResult:
            search_begun.set()
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
        assert await asyncio.to_thread(search_begun.wait, SOON_SECONDS)
        assert (await stub.SearchNodes(search_request, timeout=SOON_SECONDS)).index == "v1"
        assert not waiting.done()
        go_on.set()
        assert (await waiting).index == "v1"


async def test_work_that_goes_on_elsewhere_takes_no_thread_and_outlives_the_calls_that_wait_for_it(
    serving: "Serving", engine: Mock, search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    work: Future[SearchResult] = Future()
    waiting_calls = itertools.count(1)
    all_wait = asyncio.Event()

    async def search(_: SearchRequest, call: RunningCall) -> SearchResult:
        if next(waiting_calls) == MANY_CALLS:
            all_wait.set()
        return await call.wait_until_done(work)

    engine.search.side_effect = search
    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        waiting = [asyncio.ensure_future(stub.SearchNodes(search_request)) for _ in range(MANY_CALLS)]
        await asyncio.wait_for(all_wait.wait(), SOON_SECONDS)
        for call in waiting[1:]:
            call.cancel()
        await asyncio.gather(*waiting[1:], return_exceptions=True)
        assert not work.cancelled()
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.SearchNodes(search_request, timeout=0.2)
        assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        work.set_result(ANSWER)
        assert (await waiting[0]).index == "v1"


async def test_few_names_of_many_nodes_are_not_encoded_on_the_event_loop(
    serving: "Serving", engine: Mock, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    def encode(_: ResolveResult) -> retrieval_pb2.ResolveNodesResponse:
        places.names.append(threading.current_thread().name)
        return retrieval_pb2.ResolveNodesResponse()

    monkeypatch.setattr(retrieval_servicer, "encode_resolution", encode)
    node = NamedNode(NodeLabel("shop::main::cs::A", "A", Location("a.cs", 1, 2, "")), Declaration("cs", "class A"))
    scope = scope_pb2.IndexScope(repository="shop", branch="main")
    request = retrieval_pb2.ResolveNodesRequest(scope=scope, names=["A"])
    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        for count in (1, 200):
            result = ResolveResult((ResolvedName("A", NameMatch.SYMBOL, (node,) * count, count),), "v1")
            engine.resolve.side_effect = as_part(Mock(return_value=result))
            await stub.ResolveNodes(request)
    assert places.kinds == [MAIN, "groundwire-compute"]


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
