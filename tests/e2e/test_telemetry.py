"""A server of two workers as its operators see it: sums that survive a worker, and traces from the client on."""

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.trace import TracerProvider

from groundwire_client import GroundwireClient, IndexScope, SearchType
from support.jsonl import node
from support.otlp_collector import Collector, collecting
from support.program import Server, run_ok, write_jsonl
from support.scrapes import Scrape, scrape
from support.workers import await_events, events, worker_pids

pytestmark = pytest.mark.slow

SCOPE = IndexScope(repository="shop", branch="main")
QUERY = "groundwire.v1.QueryService/Query"
PATIENCE_SECONDS = 300


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with one index without vectors."""
    folder = tmp_path_factory.mktemp("telemetry")
    nodes = [node(f"Invoice.M{number}", f"void InvoiceMethod{number}() {{ }}", None) for number in range(10)]
    source = write_jsonl(folder / "source.jsonl", nodes)
    where = ("--repository", "shop", "--branch", "main", "--data", folder / "data")
    run_ok("index", source, *where, "--embedder", "none")
    return folder / "data"


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with collecting() as collector:
        yield collector


@pytest.fixture(scope="module")
def server(data: Path, collector: Collector) -> Iterator[Server]:
    environment = {
        "GROUNDWIRE_TRACING": "true",
        "OTEL_TRACES_SAMPLER": "parentbased_always_off",
        "GROUNDWIRE_METRICS_LISTEN": "127.0.0.1:0",
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{collector.address}",
        "OTEL_BSP_SCHEDULE_DELAY": "100",
    }
    with Server(data, "--workers", "2", "--embedder", "none", environment=environment) as server:
        yield server


def metrics_address(server: Server) -> str:
    (listening,) = events(server, "listening")
    return str(listening["metrics_address"])


def awaited(server: Server, condition: Callable[[Scrape], bool]) -> Scrape:
    """The first scrape that meets the condition; one that a dying worker was about to answer is made again."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        with suppress(ConnectionError, URLError):
            if condition(shown := scrape(metrics_address(server))):
                return shown
        time.sleep(0.1)
    raise AssertionError(f"no scrape ever met the condition:\n{scrape(metrics_address(server)).text}")


def search(server: Server, times: int) -> None:
    for _ in range(times):
        # A connection each, so that both workers get some.
        with GroundwireClient(server.address, timeout=300) as client:
            client.search(SCOPE, "invoice", search_type=SearchType.SEARCH_TYPE_BM25)


def search_until_both_workers_answered(server: Server) -> int:
    """How many searches it took: a client may be given the connection of the one before, which is not closed yet."""
    for searches in range(1, 1_000):
        search(server, 1)
        if {line["worker"] for line in events(server, "call")} == {1, 2}:
            return searches
    raise AssertionError("one worker answered all searches")


def calls(shown: Scrape) -> float:
    return shown.value("groundwire_calls_total", method="SearchNodes", code="OK")


def test_whichever_worker_is_scraped_shows_the_sums_of_both(server: Server) -> None:
    before = calls(scrape(metrics_address(server)))
    searches = search_until_both_workers_answered(server)
    shown = [scrape(metrics_address(server)) for _ in range(8)]
    assert {calls(metrics) - before for metrics in shown} == {searches}
    assert {metrics.value("groundwire_workers") for metrics in shown} == {2}
    assert shown[0].value("groundwire_visible_nodes_sum", method="SearchNodes") == 10 * calls(shown[0])
    stages = shown[0].labels("groundwire_stage_seconds_count", "stage")
    assert stages >= {"decode", "open", "retrieve", "bm25_code", "encode"}


def test_a_worker_that_dies_takes_nothing_that_was_counted_with_it(server: Server) -> None:
    search(server, 4)
    before = calls(scrape(metrics_address(server)))
    listened = len(events(server, "worker listening"))
    os.kill(worker_pids(server)[1], signal.SIGKILL)
    # Its successor takes seconds to start; until then the other one answers for both.
    awaited(server, lambda shown: shown.value("groundwire_workers") == 1)
    assert calls(scrape(metrics_address(server))) == before
    await_events(server, "worker listening", listened + 1)
    search(server, 8)
    after = awaited(server, lambda shown: shown.value("groundwire_workers") == 2)
    assert calls(after) == before + 8


def test_a_trace_leads_from_the_client_to_the_stages(server: Server, collector: Collector) -> None:
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("tests")
    with tracer.start_as_current_span("question") as question, GroundwireClient(server.address, timeout=300) as client:
        client.query(SCOPE, "invoice")
    context = question.get_span_context()
    (query,) = collector.await_spans(QUERY, 1)
    assert query.trace_id == context.trace_id.to_bytes(16, "big")
    assert query.parent_span_id == context.span_id.to_bytes(8, "big")
    spans = collector.spans()
    assert names_below(spans, query) >= {"queue", "decode", "open", "retrieve", "fusion", "context", "encode"}
    (retrieve,) = (span for span in spans if span.name == "retrieve")
    assert names_below(spans, retrieve) == {"bm25_code", "bm25_prose", "trigram"}
    (line,) = await_events(server, "call", 1, method=QUERY)
    assert line["trace_id"] == f"{context.trace_id:032x}"


def test_what_no_caller_traces_is_not_traced(server: Server, collector: Collector) -> None:
    spans = len(collector.spans())
    with GroundwireClient(server.address, timeout=300) as client:
        client.list_indexes()
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("tests")
    with tracer.start_as_current_span("question"), GroundwireClient(server.address, timeout=300) as client:
        client.list_indexes()
    collector.await_spans("groundwire.v1.IndexService/ListIndexes", 1)
    assert [span.name for span in collector.spans()[spans:]].count("groundwire.v1.IndexService/ListIndexes") == 1


def test_nothing_that_was_asked_is_in_what_operators_see(server: Server, collector: Collector) -> None:
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("tests")
    with tracer.start_as_current_span("question"), GroundwireClient(server.address, timeout=300) as client:
        client.search(SCOPE, "needle7f3a", search_type=SearchType.SEARCH_TYPE_BM25)
    collector.await_spans("groundwire.v1.RetrievalService/SearchNodes", 1)
    seen_by_operators = [scrape(metrics_address(server)).text, "".join(server.log), *map(str, collector.spans())]
    assert not [text for text in seen_by_operators if "needle7f3a" in text or "Invoice" in text]


def test_a_taken_port_ends_the_server_before_it_answers(data: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(AssertionError, match=f"ended with 2:(.|\n)*metrics_listen: {address}"):
            Server(data, "--workers", "2", "--embedder", "none", "--metrics-listen", address)


def names_below(spans: list[Span], parent: Span) -> set[str]:
    return {span.name for span in spans if span.parent_span_id == parent.span_id}
