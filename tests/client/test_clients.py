"""Every method over the wire, through the sync and the asyncio client."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, cast

import grpc
import pytest

import groundwire_client
from groundwire.v1 import index_pb2, retrieval_pb2
from groundwire_client import (
    AccessContext,
    AsyncGroundwireClient,
    CancelledError,
    DeadlineExceededError,
    EdgeDirection,
    GroundwireClient,
    IndexScope,
    NodeFilter,
    ReachedNode,
    SearchNodesResponse,
    SearchType,
    choice,
    choices,
    ids,
    pinned,
)
from support import programs

if TYPE_CHECKING:
    from client.conftest import Caller, FakeServer

SCOPE = IndexScope(repository="shop", branch="main")
INDEX = index_pb2.IndexVersion(repository="shop", branch="main", version="v1", node_count=3, lexical=True)


def test_search(server: FakeServer, call: Caller) -> None:
    hits = [retrieval_pb2.SearchHit(id="a", score=0.5, rank=1), retrieval_pb2.SearchHit(id="b", score=0.25, rank=2)]
    answer = retrieval_pb2.SearchNodesResponse(hits=hits, index="v1", exact=True)
    server.answer(answer)
    result = call(
        server.target,
        lambda client: client.search(
            SCOPE, "vat", search_type=SearchType.SEARCH_TYPE_BM25, top_k=2, filter=NodeFilter(kinds=["cs"])
        ),
    )
    assert result == answer
    assert isinstance(result, SearchNodesResponse)
    assert ids(result) == ["a", "b"]
    request = server.attempts[0].request
    assert isinstance(request, retrieval_pb2.SearchNodesRequest)
    assert (request.query, request.top_k, request.search_type) == ("vat", 2, retrieval_pb2.SEARCH_TYPE_BM25)
    assert (request.scope.repository, request.scope.branch, request.scope.active_index) == ("shop", "main", "")
    assert list(request.filter.kinds) == ["cs"]
    assert not request.HasField("rrf_k")
    assert not request.HasField("access")


def test_a_search_is_for_ten_hits_by_what_the_index_has_unless_told(server: FakeServer, call: Caller) -> None:
    call(server.target, lambda client: client.search(SCOPE, "vat"))
    request = server.attempts[0].request
    assert isinstance(request, retrieval_pb2.SearchNodesRequest)
    assert (request.search_type, request.top_k) == (retrieval_pb2.SEARCH_TYPE_UNSPECIFIED, 10)
    assert request.rerank == retrieval_pb2.RERANK_UNSPECIFIED


def test_expand(server: FakeServer, call: Caller) -> None:
    answer = retrieval_pb2.ExpandDependencyTreeResponse(
        seed_ids=["a"],
        nodes=[
            retrieval_pb2.ReachedNode(id="a"),
            retrieval_pb2.ReachedNode(
                id="b",
                depth=1,
                parent_id="a",
                is_test=True,
                is_generated=True,
                symbol="B",
                location=retrieval_pb2.SourceLocation(path="b.py", start_line=3, end_line=9),
            ),
        ],
        edges=[retrieval_pb2.GraphEdge(from_id="a", to_id="b", edge_type="Calls", confidence=0.9, line=7)],
        debug=retrieval_pb2.ExpandDebug(seed_count=1, expanded_count=2, edges_count=1, reason="ok"),
        index="v1",
    )
    server.answer(answer)
    result = call(
        server.target,
        lambda client: client.expand(
            pinned(SCOPE, "v1"),
            ["a"],
            max_depth=1,
            max_nodes=5,
            edge_allowlist=["*"],
            filter=NodeFilter(is_test=False),
            min_confidence=0.5,
        ),
    )
    assert result == answer
    request = server.attempts[0].request
    assert isinstance(request, retrieval_pb2.ExpandDependencyTreeRequest)
    assert request.scope.active_index == "v1"
    assert (request.max_depth, request.max_nodes, list(request.edge_allowlist)) == (1, 5, ["*"])
    assert request.direction == retrieval_pb2.EDGE_DIRECTION_UNSPECIFIED
    assert (request.filter.HasField("is_test"), request.filter.is_test, request.min_confidence) == (True, False, 0.5)


def test_find_paths(server: FakeServer, call: Caller) -> None:
    hop = retrieval_pb2.GraphEdge(from_id="b", to_id="a", edge_type="Calls", confidence=0.9, line=7)
    answer = retrieval_pb2.FindPathsResponse(
        paths=[retrieval_pb2.DependencyPath(node_ids=["a", "b"], hops=[hop], confidence=hop.confidence)],
        nodes=[
            retrieval_pb2.PathNode(id="a"),
            retrieval_pb2.PathNode(
                id="b",
                is_test=True,
                is_generated=True,
                symbol="Shop.b",
                location=retrieval_pb2.SourceLocation(path="src/b.py", start_line=3, end_line=9),
            ),
        ],
        debug=retrieval_pb2.FindPathsDebug(from_count=1, to_count=2, searched_hops=4, reason="ok"),
        index="v1",
    )
    server.answer(answer)
    result = call(
        server.target,
        lambda client: client.find_paths(
            SCOPE, ["a"], ["b", "c"], max_hops=4, max_paths=2, max_nodes=5, edge_allowlist=["*"],
            direction=EdgeDirection.EDGE_DIRECTION_INCOMING,
        ),
    )  # fmt: skip
    assert result == answer
    request = server.attempts[0].request
    assert isinstance(request, retrieval_pb2.FindPathsRequest)
    assert (list(request.from_ids), list(request.to_ids)) == (["a"], ["b", "c"])
    assert (request.max_hops, request.max_paths, request.max_nodes) == (4, 2, 5)


def test_fetch(server: FakeServer, call: Caller) -> None:
    location = retrieval_pb2.SourceLocation(path="a.cs", start_line=3, end_line=4, content_hash="ab")
    text = retrieval_pb2.NodeText(id="a", text="int x;", is_seed=True, token_count=3, location=location, symbol="X")
    text.is_test = True
    skipped = retrieval_pb2.SkippedNode(id="b", reason=retrieval_pb2.SKIP_REASON_OVER_BUDGET)
    answer = retrieval_pb2.FetchNodeTextsResponse(
        texts=[text], skipped=[skipped], used_tokens=3, used_chars=6, index="v1"
    )
    server.answer(answer)
    reached = ReachedNode(id="b", depth=1, parent_id="a", symbol="Shop.b", is_test=True, location=location)
    result = call(
        server.target,
        lambda client: client.fetch(SCOPE, ["a"], [reached], budget_tokens=4, filter=NodeFilter(kinds=["cs"])),
    )
    assert result == answer
    request = server.attempts[0].request
    assert isinstance(request, retrieval_pb2.FetchNodeTextsRequest)
    assert request.budget_tokens == 4
    assert list(request.nodes) == [retrieval_pb2.ReachedNode(id="b", depth=1, parent_id="a")]
    assert list(request.filter.kinds) == ["cs"]
    assert request.prioritization_mode == retrieval_pb2.PRIORITIZATION_MODE_UNSPECIFIED


def test_indexes_are_listed_and_described(server: FakeServer, call: Caller) -> None:
    listed = index_pb2.ListIndexesResponse(indexes=[INDEX])
    described = index_pb2.GetIndexResponse(index=INDEX)
    server.answer(listed)
    server.answer(described)
    assert call(server.target, lambda client: client.list_indexes("shop", branch="main")) == listed
    assert call(server.target, lambda client: client.get_index(SCOPE)) == described
    assert server.attempts[0].request == index_pb2.ListIndexesRequest(repository="shop", branch="main")
    assert server.methods == ["ListIndexes", "GetIndex"]


def test_versions_are_activated_and_deleted(server: FakeServer, call: Caller) -> None:
    before = index_pb2.ActivateIndexResponse(previous_version="v1")
    server.answer(before)
    assert call(server.target, lambda client: client.activate_index(pinned(SCOPE, "v2"))) == before
    deleting = call(server.target, lambda client: client.delete_index(pinned(SCOPE, "v1")))
    assert deleting == index_pb2.DeleteIndexResponse()
    activated, deleted = (attempt.request for attempt in server.attempts)
    assert isinstance(activated, index_pb2.ActivateIndexRequest)
    assert isinstance(deleted, index_pb2.DeleteIndexRequest)
    assert (activated.scope.active_index, deleted.scope.active_index) == ("v2", "v1")


def test_the_access_of_a_call_replaces_that_of_the_client(server: FakeServer, call: Caller) -> None:
    default, call_access = AccessContext(tenant_id="acme"), AccessContext(clearance_level=2)
    call(server.target, lambda client: client.get_index(SCOPE), access=default)
    call(server.target, lambda client: client.get_index(SCOPE, access=call_access), access=default)
    call(server.target, lambda client: client.get_index(SCOPE, access=AccessContext()), access=default)
    levels: list[tuple[str, int]] = []
    for attempt in server.attempts:
        assert isinstance(attempt.request, index_pb2.GetIndexRequest)
        levels.append((attempt.request.access.tenant_id, attempt.request.access.clearance_level))
    assert levels == [("acme", 0), ("", 2), ("", 0)]


def test_metadata_goes_with_every_call(server: FakeServer, call: Caller) -> None:
    metadata: list[tuple[str, str | bytes]] = [("authorization", "Bearer x"), ("trace-bin", b"\x00\xff")]
    call(server.target, lambda client: client.list_indexes(), metadata=metadata)
    seen = server.attempts[0].metadata
    assert (seen["authorization"], seen["trace-bin"]) == ("Bearer x", b"\x00\xff")


def test_every_call_has_a_deadline(server: FakeServer, call: Caller) -> None:
    call(server.target, lambda client: client.list_indexes())
    call(server.target, lambda client: client.list_indexes(), timeout=40.0)
    call(server.target, lambda client: client.list_indexes(timeout=90), timeout=40.0)
    remaining = [attempt.time_remaining for attempt in server.attempts]
    assert [round(seconds, -1) for seconds in remaining] == [10, 40, 90]


def test_a_call_ends_at_its_deadline(server: FakeServer, call: Caller) -> None:
    server.hangs = True
    started = time.monotonic()
    with pytest.raises(DeadlineExceededError) as raised:
        call(server.target, lambda client: client.search(SCOPE, "vat", timeout=0.2))
    assert 0.15 < time.monotonic() - started < 60
    assert (raised.value.code, raised.value.reason) == (grpc.StatusCode.DEADLINE_EXCEEDED, "")


@pytest.mark.parametrize("timeout", [0, -1.0, float("inf"), float("nan")])
def test_a_timeout_must_be_positive_and_finite(server: FakeServer, call: Caller, timeout: float) -> None:
    with pytest.raises(ValueError, match="timeout"):
        call(server.target, lambda client: client.list_indexes(), timeout=timeout)
    with pytest.raises(ValueError, match="timeout"):
        call(server.target, lambda client: client.list_indexes(timeout=timeout))
    assert server.attempts == []


def test_the_server_may_come_from_the_environment(
    server: FakeServer, call: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUNDWIRE_SERVER", server.target)
    call(None, lambda client: client.list_indexes())
    assert server.methods == ["ListIndexes"]


@pytest.mark.parametrize("target", [None, ""])
def test_a_server_must_be_named(call: Caller, target: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GROUNDWIRE_SERVER", raising=False)
    with pytest.raises(ValueError, match="GROUNDWIRE_SERVER"):
        call(target, lambda client: client.list_indexes())


def test_threads_share_a_client(server: FakeServer) -> None:
    server.answer(retrieval_pb2.SearchNodesResponse(index="v1"))
    queries = [f"query {number}" for number in range(64)]
    with GroundwireClient(server.target) as client, ThreadPoolExecutor(8) as pool:
        running = [pool.submit(client.search, SCOPE, query) for query in queries]
        assert [call.result().index for call in running] == ["v1"] * 64
    requests = [attempt.request for attempt in server.attempts]
    assert sorted(cast("retrieval_pb2.SearchNodesRequest", request).query for request in requests) == sorted(queries)


def test_tasks_share_a_client(server: FakeServer) -> None:
    server.answer(retrieval_pb2.SearchNodesResponse(index="v1"))

    async def run() -> list[SearchNodesResponse]:
        async with AsyncGroundwireClient(server.target) as client:
            return await asyncio.gather(*(client.search(SCOPE, f"query {number}") for number in range(64)))

    assert [result.index for result in asyncio.run(run())] == ["v1"] * 64


def test_closing_the_client_ends_a_call_that_runs(server: FakeServer) -> None:
    server.hangs = True
    client = GroundwireClient(server.target)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(client.search, SCOPE, "vat")
        while not server.attempts:
            time.sleep(0.01)
        client.close()
        with pytest.raises(CancelledError):
            running.result(timeout=300)


def test_a_cancelled_task_raises_what_asyncio_raises(server: FakeServer) -> None:
    server.hangs = True

    async def run() -> None:
        async with AsyncGroundwireClient(server.target) as client:
            task = asyncio.create_task(client.search(SCOPE, "vat"))
            while not server.attempts:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(run())


def test_a_fetch_has_one_budget(server: FakeServer, call: Caller) -> None:
    with pytest.raises(ValueError, match="exactly one budget"):
        call(server.target, lambda client: client.fetch(SCOPE, ["a"], budget_tokens=1, max_chars=1))
    call(server.target, lambda client: client.fetch(SCOPE, ["a"]))
    (request,) = server.actions
    assert request == retrieval_pb2.FetchNodeTextsRequest(scope=SCOPE, seed_ids=["a"], budget_tokens=4_000)


def test_values_have_the_names_of_the_contract() -> None:
    assert choices(SearchType) == {"semantic": 1, "bm25": 2, "hybrid": 3}
    assert choice(SearchType, SearchType.SEARCH_TYPE_BM25) == "bm25"
    assert [choice(SearchType, SearchType.ValueType(number)) for number in (0, 99)] == ["unknown"] * 2


def test_the_library_needs_neither_the_server_nor_the_command_line() -> None:
    named = "groundwire_client groundwire_server typer rich"
    assert programs.loaded("groundwire_client", named) == ["groundwire_client"]
    assert set(groundwire_client.__all__) <= set(vars(groundwire_client))
