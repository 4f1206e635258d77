"""Request ids and the log: one line a call that says how it went and never what was asked."""

import asyncio
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING
from unittest.mock import ANY, Mock

import grpc
import pytest
import structlog

from groundwire.v1 import query_pb2, query_pb2_grpc, retrieval_pb2, retrieval_pb2_grpc
from groundwire_server.domain.errors import (
    FieldViolation,
    InvalidRequestError,
    NotFoundError,
    PreconditionError,
    Reason,
)
from groundwire_server.domain.search.search import SearchRequest, SearchResult
from groundwire_server.execution.call import Checkpoint
from groundwire_server.rpc.serving.server import GroundwireServer
from support.calls import as_part

if TYPE_CHECKING:
    from server.rpc.conftest import Failed, HealthOf, Serving

pytestmark = pytest.mark.asyncio

METHOD = "groundwire.v1.RetrievalService/SearchNodes"


async def answered(
    server: GroundwireServer, request: retrieval_pb2.SearchNodesRequest, metadata: Sequence[tuple[str, str]] = ()
) -> str | bytes | None:
    """Searches and gives the request id of the answer."""
    async with grpc.aio.insecure_channel(server.address) as channel:
        call = retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(request, metadata=tuple(metadata))
        await call
        return (await call.trailing_metadata()).get("x-request-id")


@pytest.mark.parametrize("request_id", ["a", "Trace-01.b_2", "x" * 64])
async def test_the_callers_request_id_is_echoed(
    serving: "Serving", search_request: retrieval_pb2.SearchNodesRequest, request_id: str
) -> None:
    async with serving() as server:
        assert await answered(server, search_request, [("x-request-id", request_id)]) == request_id


@pytest.mark.parametrize("request_id", ["", "x" * 65, "two words", "semi;colon", 'quo"te'])
async def test_a_request_id_unfit_for_a_log_is_replaced(
    serving: "Serving", search_request: retrieval_pb2.SearchNodesRequest, request_id: str
) -> None:
    async with serving() as server:
        given = await answered(server, search_request, [("x-request-id", request_id)])
    assert isinstance(given, str)
    assert given != request_id
    assert len(given) == 32


async def test_a_call_without_a_request_id_gets_its_own(
    serving: "Serving", search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    async with serving() as server:
        assert await answered(server, search_request) != await answered(server, search_request)


async def test_an_error_carries_the_request_id_too(
    serving: "Serving", engine: Mock, failed: "Failed", search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    engine.search.side_effect = NotFoundError(Reason.SCOPE_NOT_FOUND, "no such index")
    async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        failure = await failed(stub.SearchNodes(search_request, metadata=(("x-request-id", "r-1"),)))
    assert failure.trailers["x-request-id"] == "r-1"


async def test_a_call_is_one_line(serving: "Serving", search_request: retrieval_pb2.SearchNodesRequest) -> None:
    with structlog.testing.capture_logs() as lines:
        async with serving() as server:
            await answered(server, search_request, [("x-request-id", "r-1")])
    assert lines == [
        {
            "event": "call",
            "log_level": "info",
            "method": METHOD,
            "code": "OK",
            "duration_ms": ANY,
            "queue_ms": ANY,
            "request_id": "r-1",
            "index": "v1",
        }
    ]
    assert 0 < lines[0]["queue_ms"] < lines[0]["duration_ms"] < 5_000


async def test_a_query_is_one_line_without_what_was_asked(
    serving: "Serving", query_request: query_pb2.QueryRequest
) -> None:
    with structlog.testing.capture_logs() as lines:
        async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
            await query_pb2_grpc.QueryServiceStub(channel).Query(query_request)
    (line,) = lines
    assert (line["method"], line["code"], line["index"]) == ("groundwire.v1.QueryService/Query", "OK", "v1")
    assert set(line) == {"event", "log_level", "method", "code", "duration_ms", "queue_ms", "request_id", "index"}


async def test_a_refused_call_is_one_line_with_its_reason(
    serving: "Serving", engine: Mock, failed: "Failed", search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    engine.search.side_effect = NotFoundError(Reason.SCOPE_NOT_FOUND, "no such index")
    with structlog.testing.capture_logs() as lines:
        async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
            await failed(retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(search_request))
    (line,) = lines
    assert (line["code"], line["reason"], line["log_level"]) == ("NOT_FOUND", "ERROR_REASON_SCOPE_NOT_FOUND", "info")


async def test_a_defect_is_logged_with_its_exception(
    serving: "Serving", engine: Mock, failed: "Failed", search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    engine.search.side_effect = defect = ZeroDivisionError("broken")
    with structlog.testing.capture_logs() as lines:
        async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
            await failed(retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(search_request))
    (line,) = lines
    assert (line["code"], line["log_level"], line["exc_info"]) == ("INTERNAL", "error", defect)


async def test_the_log_says_what_is_wrong_with_a_damaged_index(
    serving: "Serving", engine: Mock, failed: "Failed", search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    def search(_: SearchRequest, __: Checkpoint) -> SearchResult:
        raise PreconditionError(Reason.INDEX_DAMAGED, "is damaged") from OSError("vectors.npy is 3 bytes short")

    engine.search.side_effect = as_part(search)
    with structlog.testing.capture_logs() as lines:
        async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
            failure = await failed(retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(search_request))
    (line,) = lines
    assert line["cause"] == "vectors.npy is 3 bytes short"
    assert "vectors.npy" not in failure.message


@pytest.mark.parametrize(
    ("timeout", "code"), [(0.2, "DEADLINE_EXCEEDED"), (None, "CANCELLED")], ids=["deadline", "cancelled"]
)
async def test_a_call_given_up_is_one_line(
    serving: "Serving", engine: Mock, search_request: retrieval_pb2.SearchNodesRequest, timeout: float | None, code: str
) -> None:
    loop = asyncio.get_running_loop()
    started, ended = asyncio.Event(), asyncio.Event()

    def search(_: SearchRequest, checkpoint: Checkpoint) -> SearchResult:
        loop.call_soon_threadsafe(started.set)
        try:
            while True:
                checkpoint()
        finally:
            loop.call_soon_threadsafe(ended.set)

    engine.search.side_effect = as_part(search)
    with structlog.testing.capture_logs() as lines:
        async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
            call = retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(search_request, timeout=timeout)
            waiting = asyncio.ensure_future(call.code())
            await asyncio.wait_for(started.wait(), 5)
            if timeout is None:
                call.cancel()
            assert (await waiting).name == code
            await asyncio.wait_for(ended.wait(), 5)
    assert [(line["code"], line["reason"]) for line in lines] == [(code, f"ERROR_REASON_{code}")]


async def test_the_log_never_holds_what_was_asked(
    serving: "Serving", engine: Mock, failed: "Failed", search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    needle = "needle-7f3a"
    search_request.query = needle
    search_request.query_vector.extend([0.123456])
    search_request.scope.repository = needle
    with structlog.testing.capture_logs() as lines:
        async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
            stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
            await stub.SearchNodes(search_request)
            violation = FieldViolation("query", Reason.VALUE_MALFORMED, f"{needle!r} is bad")
            engine.search.side_effect = InvalidRequestError((violation,))
            await failed(stub.SearchNodes(search_request))
            engine.search.side_effect = PreconditionError(Reason.VECTORS_MISSING, needle, {"active_index": needle})
            await failed(stub.SearchNodes(search_request))
    assert len(lines) == 3
    assert needle not in json.dumps(list(lines))
    assert "0.123" not in json.dumps([{**line, "duration_ms": 0, "queue_ms": 0} for line in lines])


async def test_bytes_that_are_no_message_are_an_invalid_request(serving: "Serving", failed: "Failed") -> None:
    with structlog.testing.capture_logs() as lines:
        async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
            failure = await failed(channel.unary_unary(f"/{METHOD}", bytes, bytes)(b"\xff\xff\xff"))
    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert failure.violations == [("request", "ERROR_REASON_VALUE_MALFORMED")]
    assert [line["code"] for line in lines] == ["INVALID_ARGUMENT"]


async def test_health_checks_and_unknown_methods_are_no_calls(serving: "Serving", health_of: "HealthOf") -> None:
    with structlog.testing.capture_logs() as lines:
        async with serving() as server, grpc.aio.insecure_channel(server.address) as channel:
            await health_of(channel)
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await channel.unary_unary("/groundwire.v1.RetrievalService/Nonsense", bytes, bytes)(b"")
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert lines == []
