"""Routing: which rule a query matches, and what the rule makes of it."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from groundwire_index.scope import Scope
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.query.query import FusionMode, HybridParameters, QueryRequest
from groundwire_server.domain.query.routing import NO_RULE, RoutingRule, routed, rule_for, settled_fusion
from groundwire_server.domain.search.search import Filter

QUERY = QueryRequest(Scope("shop", "main"), AccessContext(), "refunds", datetime(2025, 6, 1, tzinfo=UTC))
SUPPORT = RoutingRule("support", {"process": frozenset({"help", "billing"}), "doc_class": frozenset({"manual"})})


def rule(**does: object) -> RoutingRule:
    return RoutingRule("rule", {"process": frozenset({"help"})}, **does)  # type: ignore[arg-type]


def query(**fields: object) -> QueryRequest:
    return replace(QUERY, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "matches"),
    [
        ({"process": "help", "doc_class": "manual"}, True),
        ({"process": "billing", "doc_class": "manual", "workflow_id": "w"}, True),
        ({"process": "help"}, False),
        ({"process": "help", "doc_class": "letter"}, False),
        ({"process": "Help", "doc_class": "manual"}, False),
        ({"doc_class": "help", "process": "manual"}, False),
        ({}, False),
    ],
)
def test_a_rule_matches_where_all_that_it_names_does(fields: dict[str, str], matches: bool) -> None:
    assert rule_for(query(**fields), [SUPPORT]) is (SUPPORT if matches else NO_RULE)


def test_a_rule_may_be_of_some_scopes_alone() -> None:
    of_scope = replace(SUPPORT, when={**SUPPORT.when, "repository": frozenset({"shop"}), "branch": frozenset({"v2"})})
    request = query(process="help", doc_class="manual")
    assert rule_for(request, [of_scope]) is NO_RULE
    assert rule_for(replace(request, scope=Scope("shop", "v2")), [of_scope]) is of_scope
    assert rule_for(replace(request, scope=Scope("desk", "v2")), [of_scope]) is NO_RULE


def test_the_first_rule_that_matches_counts() -> None:
    first, second = (replace(SUPPORT, name=name) for name in ("first", "second"))
    assert rule_for(query(process="help", doc_class="manual"), [first, second]) is first
    assert rule_for(query(process="help", doc_class="manual"), [second, first]) is second


def test_no_rule_changes_nothing() -> None:
    request = query(filter=Filter(collection_ids=("wiki",)), hybrid=HybridParameters(top_k=3), process="none such")
    assert routed(request, NO_RULE) == request


@pytest.mark.parametrize(
    ("filtered", "of_rule", "left"),
    [((), ("a", "b"), ("a", "b")), (("a",), (), ("a",)), (("b", "c", "a"), ("a", "b"), ("b", "a"))],
)
def test_collections_narrow(filtered: tuple[str, ...], of_rule: tuple[str, ...], left: tuple[str, ...]) -> None:
    narrowed = routed(query(filter=Filter(collection_ids=filtered)), rule(collections=of_rule)).filter
    assert narrowed == Filter(collection_ids=left)


def test_collections_without_a_common_one_match_nothing() -> None:
    filter_ = Filter(collection_ids=("c",), kinds=("md",))
    narrowed = routed(query(filter=filter_), rule(collections=("a",))).filter
    assert narrowed.kinds == ("md",)
    assert narrowed.narrows
    assert [condition.values for condition in narrowed.metadata] == [()]


def test_what_the_request_gives_wins() -> None:
    defaults = rule(hybrid=HybridParameters(top_k=9, min_sim=0.5), index="v1")
    plain = routed(QUERY, defaults)
    assert (plain.hybrid, plain.scope.active_index) == (defaults.hybrid, "v1")
    given = query(scope=Scope("shop", "main", "v2"), hybrid=HybridParameters(min_sim=0.0))
    overridden = routed(given, defaults)
    assert overridden.hybrid == HybridParameters(top_k=9, min_sim=0.0)
    assert overridden.scope == given.scope


@pytest.mark.parametrize(
    ("query_request", "kept"),
    [
        (query(), 10),
        (query(top_k=20), 20),
        (query(top_k=5, hybrid=HybridParameters(top_k=20)), 10),
        (query(hybrid=HybridParameters(lex_limit=30)), 30),
        (query(top_k=20, hybrid=HybridParameters(max_candidates=25)), 25),
    ],
)
def test_a_default_of_max_candidates_gives_way_to_limits_that_are_given(query_request: QueryRequest, kept: int) -> None:
    assert routed(query_request, rule(hybrid=HybridParameters(max_candidates=10))).hybrid.max_candidates == kept


WITH_ALPHA = HybridParameters(alpha=0.5)


@pytest.mark.parametrize(
    ("query_request", "of_rule", "fusion"),
    [
        (query(), rule(), FusionMode.ADAPTIVE),
        (query(hybrid=WITH_ALPHA), rule(), FusionMode.WEIGHTED),
        (query(hybrid=WITH_ALPHA), rule(fusion=FusionMode.RRF), FusionMode.WEIGHTED),
        (query(hybrid=WITH_ALPHA, fusion=FusionMode.ADAPTIVE), rule(fusion=FusionMode.RRF), FusionMode.ADAPTIVE),
        (query(), rule(fusion=FusionMode.RRF), FusionMode.RRF),
        (query(), rule(fusion=FusionMode.RRF, hybrid=WITH_ALPHA), FusionMode.RRF),
        (query(), rule(hybrid=WITH_ALPHA), FusionMode.WEIGHTED),
    ],
)
def test_the_fusion_is_what_the_request_asks_for_else_the_rule(
    query_request: QueryRequest, of_rule: RoutingRule, fusion: FusionMode
) -> None:
    assert settled_fusion(query_request, of_rule) is fusion
