"""Spans of calls: below the caller's, with the stages below them as they ran, and none where none is sampled."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING
from unittest.mock import Mock

import grpc
import pytest
import structlog
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode, format_span_id, format_trace_id

from groundwire.v1 import retrieval_pb2, retrieval_pb2_grpc
from groundwire_server.config import Settings, SettingsError
from groundwire_server.domain.errors import NotFoundError, Reason
from groundwire_server.domain.search.search import SearchRequest, SearchResult, SearchType
from groundwire_server.execution.call import Checkpoint
from groundwire_server.execution.observation import stage
from groundwire_server.rpc.telemetry import otlp
from groundwire_server.rpc.telemetry.telemetry import Telemetry
from support.calls import as_part
from support.otlp_collector import Collector, collecting, collecting_over_http

if TYPE_CHECKING:
    from server.rpc.conftest import Failed, Serving

METHOD = "groundwire.v1.RetrievalService/SearchNodes"
TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN_ID = "00f067aa0ba902b7"
SAMPLED, NOT_SAMPLED = f"00-{TRACE_ID}-{SPAN_ID}-01", f"00-{TRACE_ID}-{SPAN_ID}-00"


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """What takes the spans of servers in this process."""
    made = InMemorySpanExporter()
    monkeypatch.setattr(otlp, "otlp_exporter", lambda: made)
    return made


@pytest.fixture
def every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has each call sampled whose caller does not decide."""
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_always_on")


async def spans_of(
    serving: "Serving", exporter: InMemorySpanExporter, request: retrieval_pb2.SearchNodesRequest, *traceparent: str
) -> list[ReadableSpan]:
    """The spans of one search, oldest first."""
    async with serving(tracing=True) as server, grpc.aio.insecure_channel(server.address) as channel:
        metadata = tuple(("traceparent", value) for value in traceparent)
        await retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(request, metadata=metadata)
    return sorted(exporter.get_finished_spans(), key=lambda span: (span.start_time or 0, -(span.end_time or 0)))


@pytest.mark.asyncio
async def test_a_call_is_a_span_below_its_callers(
    serving: "Serving", exporter: InMemorySpanExporter, search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    whole, *_ = await spans_of(serving, exporter, search_request, SAMPLED)
    assert (whole.name, whole.kind) == (METHOD, SpanKind.SERVER)
    assert whole.context is not None
    assert format_trace_id(whole.context.trace_id) == TRACE_ID
    assert whole.parent is not None
    assert (format_span_id(whole.parent.span_id), whole.parent.is_remote) == (SPAN_ID, True)
    assert whole.attributes is not None
    request_id = whole.attributes["groundwire.request_id"]
    assert dict(whole.attributes) == {
        "rpc.system.name": "grpc",
        "rpc.method": METHOD,
        "rpc.response.status_code": "OK",
        "groundwire.request_id": request_id,
        "groundwire.index": "v1",
    }


@pytest.mark.asyncio
async def test_stages_are_spans_below_what_they_are_a_part_of(
    serving: "Serving", engine: Mock, exporter: InMemorySpanExporter, search_request: retrieval_pb2.SearchNodesRequest
) -> None:
    def answer(_: SearchRequest, __: Checkpoint) -> SearchResult:
        with stage("search"):
            with stage("embed"):
                pass
            with stage("semantic"):
                pass
        return SearchResult(hits=(), index="v1", search_type=SearchType.BM25)

    engine.search.side_effect = as_part(answer)
    spans = {span.name: span for span in await spans_of(serving, exporter, search_request, SAMPLED)}
    parents = {
        name: next((other.name for other in spans.values() if span.parent and other.context == span.parent), None)
        for name, span in spans.items()
    }
    assert parents == {
        METHOD: None,
        "queue": METHOD,
        "decode": METHOD,
        "search": METHOD,
        "embed": "search",
        "semantic": "search",
        "encode": METHOD,
    }
    whole = spans.pop(METHOD)
    for span in spans.values():
        assert (whole.start_time or 0) <= (span.start_time or 0) <= (span.end_time or 0) <= (whole.end_time or 0)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("traceparent", "ratio", "sampled"),
    [
        ((), 0.0, False),
        ((), 1.0, True),
        ((NOT_SAMPLED,), 1.0, False),
        ((SAMPLED,), 0.0, True),
        (("nonsense",), 0.0, False),
        (("nonsense",), 1.0, True),
    ],
    ids=["none-0", "none-1", "no-1", "yes-0", "malformed-0", "malformed-1"],
)
async def test_the_callers_decision_holds_and_without_one_the_ratio(
    serving: "Serving",
    exporter: InMemorySpanExporter,
    search_request: retrieval_pb2.SearchNodesRequest,
    monkeypatch: pytest.MonkeyPatch,
    traceparent: tuple[str, ...],
    ratio: float,
    sampled: bool,
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", str(ratio))
    with structlog.testing.capture_logs() as lines:
        spans = await spans_of(serving, exporter, search_request, *traceparent)
    assert bool(spans) == sampled
    caller_traces = traceparent in ((SAMPLED,), (NOT_SAMPLED,))
    assert ("trace_id" in lines[0]) == (sampled or caller_traces)
    if sampled:
        assert spans[0].context is not None
        assert lines[0]["trace_id"] == format_trace_id(spans[0].context.trace_id)


@pytest.mark.asyncio
@pytest.mark.usefixtures("every_call")
async def test_refusals_are_told_and_defects_are_errors_without_what_was_asked(
    serving: "Serving",
    engine: Mock,
    failed: "Failed",
    exporter: InMemorySpanExporter,
    search_request: retrieval_pb2.SearchNodesRequest,
) -> None:
    search_request.query = needle = "needle-7f3a"
    async with serving(tracing=True) as server, grpc.aio.insecure_channel(server.address) as channel:
        stub = retrieval_pb2_grpc.RetrievalServiceStub(channel)
        engine.search.side_effect = NotFoundError(Reason.SCOPE_NOT_FOUND, needle)
        await failed(stub.SearchNodes(search_request))
        engine.search.side_effect = ZeroDivisionError(needle)
        await failed(stub.SearchNodes(search_request))
    refused, broken = (span for span in exporter.get_finished_spans() if span.name == METHOD)
    assert refused.attributes is not None
    assert refused.attributes["groundwire.reason"] == "ERROR_REASON_SCOPE_NOT_FOUND"
    assert refused.status.status_code is StatusCode.UNSET
    assert broken.attributes is not None
    assert broken.attributes["error.type"] == broken.attributes["rpc.response.status_code"] == "INTERNAL"
    assert broken.status.status_code is StatusCode.ERROR
    assert not any(needle in span.to_json() for span in exporter.get_finished_spans())


@pytest.mark.asyncio
@pytest.mark.usefixtures("every_call")
@pytest.mark.parametrize(
    ("protocol", "collecting"),
    [("", collecting), ("grpc", collecting), ("http/protobuf", collecting_over_http)],
    ids=["default", "grpc", "http"],
)
async def test_spans_reach_a_collector(
    serving: "Serving",
    search_request: retrieval_pb2.SearchNodesRequest,
    monkeypatch: pytest.MonkeyPatch,
    protocol: str,
    collecting: Callable[[], AbstractContextManager[Collector]],
) -> None:
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=search,deployment.environment.name=test")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://{collector.address}")
        async with serving(tracing=True) as server, grpc.aio.insecure_channel(server.address) as channel:
            await retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(search_request)
        (span,) = collector.await_spans(METHOD, 1)
    assert span.kind == span.SPAN_KIND_SERVER
    (resource,) = collector.resources
    assert (resource["service.name"], resource["deployment.environment.name"]) == ("search", "test")
    assert resource["service.version"]


@pytest.mark.parametrize(
    ("variable", "value"), [("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"), ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon")]
)
def test_variables_that_cannot_be_used_are_errors_of_the_settings(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError, match=r"^tracing: .*OTEL_EXPORTER_OTLP_"):
        Telemetry(Settings(tracing=True))
