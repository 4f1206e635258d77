"""The dashboard and the alerts fit what a server shows, and Grafana's schema and Prometheus' language."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from unittest.mock import create_autospec

import grpc
import promql_parser
import pytest
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from groundwire.v1 import retrieval_pb2, retrieval_pb2_grpc, scope_pb2
from groundwire_server.backends.index_directory import IndexDirectory
from groundwire_server.config import Settings
from groundwire_server.domain.search.search import SearchRequest, SearchResult, SearchType
from groundwire_server.engine.engine import RetrievalEngine
from groundwire_server.execution.call import Checkpoint
from groundwire_server.execution.observation import observer
from groundwire_server.rpc.serving.server import GroundwireServer
from groundwire_server.rpc.telemetry.metering import PERIOD_SECONDS
from support.calls import as_part
from support.kubernetes import DEPLOY
from support.scrapes import Scrape, scrape

pytestmark = pytest.mark.slow

DASHBOARD: dict[str, Any] = json.loads((DEPLOY / "grafana" / "groundwire.json").read_text(encoding="utf-8"))
ALERTS: dict[str, Any] = yaml.safe_load((DEPLOY / "prometheus" / "alerts.yaml").read_text(encoding="utf-8"))
RULES: Sequence[Mapping[str, Any]] = ALERTS["groups"][0]["rules"]
PANELS: Sequence[Mapping[str, Any]] = DASHBOARD["panels"]
SHOWN = [panel for panel in PANELS if panel["type"] != "row"]
QUERIES = [target["expr"] for panel in SHOWN for target in panel["targets"]]
ADDED_BY_PROMETHEUS = {"job", "instance"}


@pytest.fixture(scope="module")
def shown() -> Scrape:
    """What a server shows after a call that told all that a call can tell."""

    def search(_: SearchRequest, __: Checkpoint) -> SearchResult:
        observer().looked_up_vector(known=True)
        observer().embedded_batch(1)
        observer().saw_nodes(1)
        observer().opened_indexes(1)
        return SearchResult(hits=(), index="v1", search_type=SearchType.BM25)

    async def run() -> Scrape:
        engine = create_autospec(RetrievalEngine, instance=True)
        engine.search.side_effect = as_part(search)
        settings = Settings(listen="127.0.0.1:0", metrics_listen="127.0.0.1:0")
        server = GroundwireServer(settings, engine, create_autospec(IndexDirectory, instance=True))
        await server.start()
        async with grpc.aio.insecure_channel(server.address) as channel:
            request = retrieval_pb2.SearchNodesRequest(
                scope=scope_pb2.IndexScope(repository="shop", branch="main"),
                search_type=retrieval_pb2.SEARCH_TYPE_BM25,
                query="invoice",
                top_k=1,
            )
            await retrieval_pb2_grpc.RetrievalServiceStub(channel).SearchNodes(request)
        await asyncio.sleep(2 * PERIOD_SECONDS)
        scraped = await asyncio.to_thread(scrape, server.telemetry.metrics_address)
        await server.stop()
        return scraped

    return asyncio.run(run())


def selectors(query: str) -> Iterator[promql_parser.VectorSelector]:
    """The series that a query asks for; of a query that Prometheus cannot read this raises ValueError."""
    selected: list[promql_parser.VectorSelector] = []

    def visit(expression: promql_parser.Expr) -> None:
        if isinstance(expression, promql_parser.VectorSelector):
            selected.append(expression)

    promql_parser.walk(promql_parser.parse(query.replace("$__rate_interval", "5m")), visit)
    return iter(selected)


def check_shown(query: str, shown: Scrape) -> None:
    labels = {name: set[str]() for name in shown.names}
    for sample in shown.samples:
        labels[sample.name] |= sample.labels.keys()
    for selector in selectors(query):
        assert selector.name in labels, query
        labels_asked = {matcher.name for matcher in selector.matchers.matchers}
        assert labels_asked <= labels[selector.name] | ADDED_BY_PROMETHEUS, query


@pytest.mark.parametrize("query", QUERIES)
def test_the_dashboard_asks_for_what_a_server_shows(query: str, shown: Scrape) -> None:
    check_shown(query, shown)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_alerts_ask_for_what_a_server_shows(rule: Mapping[str, Any], shown: Scrape) -> None:
    check_shown(rule["expr"], shown)
    assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
    assert rule["annotations"]["summary"]


def test_the_dashboards_variables_are_labels_that_a_server_shows(shown: Scrape) -> None:
    datasource, *variables = DASHBOARD["templating"]["list"]
    assert (datasource["type"], datasource["query"]) == ("datasource", "prometheus")
    for variable in variables:
        series, _, label = variable["query"]["query"].removeprefix("label_values(").removesuffix(")").rpartition(", ")
        check_shown(series, shown)
        (selector,) = selectors(series)
        assert label in ADDED_BY_PROMETHEUS | shown_labels(shown, selector.name)


def shown_labels(shown: Scrape, name: str | None) -> set[str]:
    return {label for sample in shown.samples if sample.name == name for label in sample.labels}


def test_every_metric_has_a_place_on_the_dashboard(shown: Scrape) -> None:
    names = {selector.name for query in QUERIES for selector in selectors(query)}
    families = {name.removesuffix("_total") for name in shown.families}
    seen = {name.removesuffix("_total").removesuffix("_bucket") for name in names if name}
    assert families <= seen


def test_the_dashboard_has_nothing_that_grafana_does_not_know() -> None:
    register_default_plugins()
    written = json.loads(JSONEncoder(sort_keys=True).encode(Dashboard.from_json(DASHBOARD)))
    assert missing(DASHBOARD, written) == []


def missing(given: object, kept: object, place: str = "") -> list[str]:
    """Where the model has lost or changed something; what it adds are Grafana's defaults."""
    if isinstance(given, dict) and isinstance(kept, dict):
        return [
            lost for key, value in given.items() for lost in missing(value, kept.get(key, "nothing"), f"{place}.{key}")
        ]
    if isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        pairs = enumerate(zip(given, kept, strict=True))
        return [lost for number, pair in pairs for lost in missing(*pair, f"{place}[{number}]")]
    return [] if given == kept else [f"{place}: {given!r} became {kept!r}"]


def test_panels_have_ids_of_their_own_and_do_not_overlap() -> None:
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    taken: set[tuple[int, int]] = set()
    for panel in PANELS:
        at = panel["gridPos"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert at["x"] + at["w"] <= 24
        assert not taken & cells, panel["title"]
        taken |= cells


def test_every_panel_asks_the_chosen_data_source_and_says_what_it_shows() -> None:
    for panel in SHOWN:
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        assert panel["description"].endswith(".")
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])
