"""What a server shows Prometheus: what happened, and nothing of what was asked."""

import asyncio
import socket
import threading
import urllib.error
import urllib.request
from typing import TYPE_CHECKING
from unittest.mock import Mock

import grpc
import pytest

from groundwire.v1 import query_pb2, query_pb2_grpc, retrieval_pb2, retrieval_pb2_grpc
from groundwire_server.config import Settings, SettingsError
from groundwire_server.domain.errors import FieldViolation, InvalidRequestError, NotFoundError, Reason
from groundwire_server.domain.limits import request_memory
from groundwire_server.domain.search.search import SearchRequest, SearchResult, SearchType
from groundwire_server.execution.call import Checkpoint
from groundwire_server.execution.observation import observer, stage
from groundwire_server.rpc import calls
from groundwire_server.rpc.serving.server import GroundwireServer
from groundwire_server.rpc.telemetry.metering import PERIOD_SECONDS
from support.calls import as_part
from support.open_ended_calls import Connection
from support.patience import PATIENCE_SECONDS
from support.scrapes import Scrape, scrape

if TYPE_CHECKING:
    from server.rpc.conftest import Failed, Serving

pytestmark = pytest.mark.asyncio
METRICS = {"metrics_listen": "127.0.0.1:0"}
MOST = request_memory(65_536)


async def scraped(server: GroundwireServer) -> Scrape:
    return await asyncio.to_thread(scrape, server.telemetry.metrics_address)


def not_found(_: SearchRequest, __: Checkpoint) -> SearchResult:
    raise NotFoundError(Reason.SCOPE_NOT_FOUND, "no such index")


def invalid(request: SearchRequest, _: Checkpoint) -> SearchResult:
    raise InvalidRequestError((FieldViolation("query", Reason.VALUE_MALFORMED, request.query),))


async def search(server: GroundwireServer, request: retrieval_pb2.SearchNodesRequest, times: int = 1) -> None:
    async with grpc.aio.insecure_channel(server.address) as channel:
        for _ in range(times):
            await retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(request)


async def test_calls_are_counted_by_method_code_and_reason(
    serving: "Serving",
    engine: Mock,
    failed: "Failed",
    search_request: retrieval_pb2.SearchNodesRequest,
    query_request: query_pb2.QueryRequest,
) -> None:
    async with serving(**METRICS) as server, grpc.aio.insecure_channel(server.address) as channel:
        await search(server, search_request, times=3)
        await query_pb2_grpc.QueryServiceStub(channel).Query(query_request)
        engine.search.side_effect = as_part(not_found)
        await failed(retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(search_request))
        shown = await scraped(server)
    total = "groundwire_calls_total"
    assert shown.value(total) == 5
    assert shown.value(total, method="SearchNodes", code="OK", reason="") == 3
    assert shown.value(total, method="Query", code="OK") == 1
    assert shown.value(total, code="NOT_FOUND", reason="ERROR_REASON_SCOPE_NOT_FOUND") == 1
    assert shown.value("groundwire_call_seconds_count", method="SearchNodes") == 4
    assert shown.value("groundwire_queue_seconds_count", method="SearchNodes") == 4
    assert 0 < shown.value("groundwire_queue_seconds_sum") < shown.value("groundwire_call_seconds_sum")


async def test_what_a_call_tells_of_itself_is_counted(
    serving: "Serving", engine: Mock, search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    def answer(_: SearchRequest, __: Checkpoint) -> SearchResult:
        with stage("search"), stage("embed"):
            observer().looked_up_vector(known=False)
            observer().embedded_batch(3)
        observer().looked_up_vector(known=True)
        observer().saw_nodes(5_000)
        observer().opened_indexes(2)
        return SearchResult(hits=(), index="v1", search_type=SearchType.BM25)

    engine.search.side_effect = as_part(answer)
    async with serving(**METRICS) as server:
        await search(server, search_request, times=2)
        shown = await scraped(server)
    stages = "groundwire_stage_seconds"
    assert shown.labels(f"{stages}_count", "stage") == {"decode", "search", "embed", "encode"}
    assert shown.value(f"{stages}_count", method="SearchNodes", stage="embed") == 2
    assert shown.value(f"{stages}_sum", stage="embed") <= shown.value(f"{stages}_sum", stage="search")
    assert shown.value("groundwire_query_vector_look_ups_total", known="true") == 2
    assert shown.value("groundwire_query_vector_look_ups_total", known="false") == 2
    assert shown.value("groundwire_embedding_batch_size_sum") == 6
    assert shown.value("groundwire_visible_nodes_bucket", method="SearchNodes", le="10000.0") == 2
    assert shown.value("groundwire_visible_nodes_bucket", method="SearchNodes", le="1000.0") == 0
    assert shown.value("groundwire_open_indexes") == 2


async def test_calls_that_run_and_wait_are_shown_and_the_event_loop_is_watched(
    serving: "Serving", engine: Mock, search_request: retrieval_pb2.SearchNodesRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "SECONDS_ALONE", 3_600.0)  # one runs at a time, also where it takes long to begin
    release = threading.Event()

    def answer(_: SearchRequest, __: Checkpoint) -> SearchResult:
        release.wait(PATIENCE_SECONDS)
        return SearchResult((), "v1", SearchType.BM25)

    engine.search.side_effect = as_part(answer)
    async with serving(**METRICS) as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        searches = [stub.SearchNodes(search_request, timeout=PATIENCE_SECONDS) for _ in range(3)]
        codes = [asyncio.ensure_future(call.code()) for call in searches]
        shown = await scraped(server)
        while shown.value("groundwire_waiting_calls", method="SearchNodes") < 2:
            await asyncio.sleep(PERIOD_SECONDS / 5)
            shown = await scraped(server)
        for call in searches:
            call.cancel()
        assert [(await code).name for code in codes] == ["CANCELLED"] * 3
        release.set()
    assert shown.value("groundwire_running_calls", method="SearchNodes") == 1
    assert shown.value("groundwire_waiting_calls", method="SearchNodes") == 2
    assert shown.value("groundwire_event_loop_lag_seconds_count") >= 1


async def test_no_series_tells_what_was_asked_or_by_whom(
    serving: "Serving", engine: Mock, failed: "Failed", search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    needle = "needle7f3a"
    search_request.query = search_request.scope.repository = search_request.access.tenant_id = needle
    engine.search.return_value = SearchResult(hits=(), index=needle, search_type=SearchType.BM25)
    async with serving(**METRICS) as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        await stub.SearchNodes(search_request, metadata=(("x-request-id", needle),))
        engine.search.side_effect = as_part(invalid)
        await failed(stub.SearchNodes(search_request))
        unknown: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(f"/groundwire.v1.Needle/{needle}")
        with pytest.raises(grpc.aio.AioRpcError):
            await unknown(b"")
        shown = await scraped(server)
    assert needle not in shown.text
    assert shown.labels("groundwire_calls_total", "method") == {"SearchNodes"}
    labels = {label for sample in shown.samples for label in sample.labels}
    assert labels == {"method", "code", "reason", "stage", "le", "known", "version", "python", "grpc"}


async def test_the_build_is_told(serving: "Serving") -> None:
    async with serving(**METRICS) as server:
        shown = await scraped(server)
    (sample,) = (sample for sample in shown.samples if sample.name == "groundwire_build_info")
    assert sample.labels["grpc"] == grpc.__version__
    assert shown.value("groundwire_workers") == 1


async def test_the_port_only_shows(serving: "Serving") -> None:
    async with serving(**METRICS) as server:
        post = urllib.request.Request(f"http://{server.telemetry.metrics_address}/metrics", data=b"x")
        with pytest.raises(urllib.error.HTTPError, match="405"):
            await asyncio.to_thread(urllib.request.urlopen, post, timeout=PATIENCE_SECONDS)


async def test_without_the_setting_there_is_no_port_and_nothing_is_counted(serving: "Serving") -> None:
    async with serving() as server:
        assert server.telemetry.metrics_address == ""


async def test_two_servers_in_a_process_count_for_themselves(
    serving: "Serving", search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    async with serving(**METRICS) as first, serving(**METRICS) as second:
        await search(first, search_request)
        assert (await scraped(first)).value("groundwire_calls_total") == 1
        assert (await scraped(second)).value("groundwire_calls_total") == 0


async def test_an_address_that_is_taken_is_an_error_of_the_settings(engine: Mock, indexes: Mock) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        server = GroundwireServer(Settings(listen="127.0.0.1:0", metrics_listen=address), engine, indexes)
        with pytest.raises(SettingsError, match=f"metrics_listen: {address}"):
            await server.start()
        await server.stop()


async def test_what_bounds_calls_is_shown(serving: "Serving") -> None:
    def hold(server: GroundwireServer) -> Connection:
        connection = Connection(server.address)
        for _ in range(3):
            connection.call("/groundwire.v1.RetrievalService/SearchNodes", b"x" * 9, lacks=1)
            connection.call("/grpc.health.v1.Health/Watch", b"")
        connection.pump(lambda: server.load().watches == 3 and server.load().memory_bytes == 3 * MOST)
        return connection

    bounds = {"call_memory_bytes": 4 * MOST, "max_receive_bytes": 65_536}
    async with serving(**METRICS, **bounds, audit="on", audit_file="/dev/full") as server:
        with await asyncio.to_thread(hold, server):
            shown = await scraped(server)
            while shown.value("groundwire_health_watches") < 3:
                await asyncio.sleep(PERIOD_SECONDS)
                shown = await scraped(server)
        assert shown.value("groundwire_call_memory_bytes") == 3 * MOST
        assert shown.value("groundwire_calls_without_memory") == 0
        assert shown.value("groundwire_health_watches") == 3
        assert 10 < shown.value("groundwire_open_files") < 10_000
        while shown.value("groundwire_audit_failures_total") < 3 or shown.value("groundwire_health_watches"):
            await asyncio.sleep(PERIOD_SECONDS)
            shown = await scraped(server)
        assert shown.value("groundwire_call_memory_bytes") == 0
        assert shown.value("groundwire_audit_failures_total") == 3
