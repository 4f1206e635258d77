"""What a call's line in the log tells only where it is asked to, and how refusals for load are told together."""

import json
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import grpc
import pytest
import structlog

from groundwire.v1 import query_pb2, query_pb2_grpc, retrieval_pb2, retrieval_pb2_grpc
from groundwire_server.domain.errors import BackendUnavailableError
from groundwire_server.domain.search.search import SearchResult, SearchType
from groundwire_server.rpc.telemetry.access_log import RefusedCalls
from support.patience import until

if TYPE_CHECKING:
    from server.rpc.conftest import Serving

pytestmark = pytest.mark.asyncio
TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"


async def line_of(serving: "Serving", request: retrieval_pb2.SearchNodesRequest, **settings: object) -> dict[str, Any]:
    metadata = (("traceparent", f"00-{TRACE_ID}-00f067aa0ba902b7-00"),)
    with structlog.testing.capture_logs() as lines:
        async with serving(**settings) as server, grpc.aio.insecure_channel(server.address) as channel:
            await retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(request, metadata=metadata)
    (line,) = lines
    return dict(line)


async def test_the_callers_trace_is_told_also_where_nothing_is_traced(
    serving: "Serving", search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    line = await line_of(serving, search_request)
    assert line["trace_id"] == TRACE_ID
    assert not {"peer", "query"} & set(line)


async def test_the_callers_address_is_told_when_asked_for(
    serving: "Serving", search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    line = await line_of(serving, search_request, log_peers=True)
    assert line["peer"].startswith("ipv4:127.0.0.1:")
    assert "query" not in line


async def test_the_query_is_told_when_asked_for_on_one_line(
    serving: "Serving", engine: Mock, search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    search_request.query = 'where\n{"event": "call"}\x1b[31m'
    engine.search.return_value = SearchResult(hits=(), index="v1", search_type=SearchType.BM25)
    line = await line_of(serving, search_request, log_queries=True)
    assert line["query"] == search_request.query
    rendered = structlog.processors.JSONRenderer(ensure_ascii=False)(None, "", line)
    assert isinstance(rendered, str)
    assert "\n" not in rendered
    assert "\x1b" not in rendered
    assert json.loads(rendered)["query"] == search_request.query


async def test_no_more_of_a_query_is_told_than_a_query_may_have(
    serving: "Serving", search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    search_request.query = "x" * 8_200
    line = await line_of(serving, search_request, log_queries=True)
    assert line["query"] == "x" * 8_192


async def test_a_call_without_a_query_has_none_to_tell(
    serving: "Serving", query_request: query_pb2.QueryRequest
) -> None:
    with structlog.testing.capture_logs() as lines:
        async with serving(log_queries=True) as server, grpc.aio.insecure_channel(server.address) as channel:
            await query_pb2_grpc.QueryServiceStub(channel).Query(query_request)
            await retrieval_pb2_grpc.RetrievalServiceStub(channel).ExpandDependencyTree(
                retrieval_pb2.ExpandDependencyTreeRequest(scope=query_request.scope)
            )
    assert ["query" in line for line in lines] == [True, False]


async def test_how_what_holds_the_indexes_failed_is_told(
    serving: "Serving", engine: Mock, search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    engine.search.side_effect = BackendUnavailableError("Milvus refused with code 8")
    with structlog.testing.capture_logs() as lines:
        async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(search_request)
    (line,) = lines
    assert (line["log_level"], line["cause"]) == ("warning", "Milvus refused with code 8")
    assert "Milvus" not in str(caught.value.details())


async def test_refusals_are_told_once_in_a_while_by_method() -> None:
    refused = RefusedCalls(period_seconds=0.05)
    with structlog.testing.capture_logs() as lines:
        for _ in range(3):
            refused.note("a.A/Search")
        refused.note("a.A/Fetch")
        assert lines == []  # the event loop has had no turn since
        await until(lambda: len(lines) >= 2)
        refused.note("a.A/Search")
        await until(lambda: len(lines) >= 3)
    assert [(line["event"], line["method"], line["count"]) for line in lines] == [
        ("calls refused", "a.A/Search", 3),
        ("calls refused", "a.A/Fetch", 1),
        ("calls refused", "a.A/Search", 1),
    ]
