"""Every rule of a query: one row a rule, each with its reason and field, on both sides of every bound."""

import math
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from groundwire_index.scope import Scope
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.errors import InvalidRequestError, Reason
from groundwire_server.domain.query.query import FusionMode, HybridParameters, QueryRequest
from groundwire_server.domain.query.query_validation import check_query
from groundwire_server.domain.search.search import Filter, MetadataCondition, Retriever

NOW = datetime(2025, 6, 1, tzinfo=UTC)
QUERY = QueryRequest(Scope("shop", "main"), AccessContext(), "needle", NOW)
MAX_TOP_K = 200

REQUIRED, RANGE = Reason.FIELD_REQUIRED, Reason.VALUE_OUT_OF_RANGE
MALFORMED, CONFLICT = Reason.VALUE_MALFORMED, Reason.FIELDS_CONFLICT


def query(**changes: object) -> QueryRequest:
    return replace(QUERY, **changes)  # type: ignore[arg-type]


def hybrid(top_k: int | None = None, **values: object) -> QueryRequest:
    """A query whose `top_k` overrides."""
    return query(hybrid=HybridParameters(**values), top_k=top_k)  # type: ignore[arg-type]


def with_value(name: str, value: float) -> QueryRequest:
    return query(hybrid=replace(HybridParameters(), **{name: value}))  # type: ignore[arg-type]


def condition(key: str, *values: str | float | None) -> QueryRequest:
    return query(filter=Filter(metadata=(MetadataCondition(key, values),)))


def checked(request: QueryRequest, max_top_k: int = MAX_TOP_K) -> None:
    check_query(request, request.fusion or FusionMode.ADAPTIVE, max_top_k)


def violations_of(request: QueryRequest) -> list[tuple[str, Reason]]:
    with pytest.raises(InvalidRequestError) as caught:
        checked(request)
    return [(violation.field, violation.reason) for violation in caught.value.violations]


MANY_CONDITIONS = tuple(MetadataCondition(f"key{number}", ("v",)) for number in range(257))
LONGEST = "v" * 1_024
VECTOR = (1.0, 0.0)

BROKEN: list[tuple[str, QueryRequest, str, Reason]] = [
    ("no repository", query(scope=Scope("", "main")), "scope.repository", REQUIRED),
    ("branch malformed", query(scope=Scope("shop", "a\nb")), "scope.branch", MALFORMED),
    ("version malformed", query(scope=Scope("shop", "main", "../v1")), "scope.active_index", MALFORMED),
    ("query empty", query(query=""), "query", REQUIRED),
    ("query blank", query(query=" \t\n\u2003"), "query", REQUIRED),
    ("query too long", query(query="q" * 8_193), "query", RANGE),
    ("a vector is no query", query(query="", query_vector=VECTOR), "query", REQUIRED),
    *(
        (f"{name} {value}", with_value(name, value), f"hybrid.{name}", RANGE)
        for name in ("alpha", "min_sim", "trgm_limit", "diversify_strength")
        for value in (-1e-9, 1.0000001, math.nan, math.inf, -math.inf)
    ),
    ("hybrid.top_k 0", query(hybrid=HybridParameters(top_k=0)), "hybrid.top_k", RANGE),
    ("hybrid.top_k negative", query(hybrid=HybridParameters(top_k=-1)), "hybrid.top_k", RANGE),
    ("hybrid.top_k too great", query(hybrid=HybridParameters(top_k=201)), "hybrid.top_k", RANGE),
    (
        "hybrid.top_k is checked where top_k overrides it",
        query(hybrid=HybridParameters(top_k=0), top_k=5),
        "hybrid.top_k",
        RANGE,
    ),
    ("top_k 0", query(top_k=0), "top_k", RANGE),
    ("top_k too great", query(top_k=201), "top_k", RANGE),
    *(
        (f"{name} {value}", with_value(name, value), f"hybrid.{name}", RANGE)
        for name in ("vec_limit", "lex_limit")
        for value in (0, -5, 10_001)
    ),
    ("max_candidates 0", hybrid(max_candidates=0), "hybrid.max_candidates", RANGE),
    (
        "max_candidates below vec_limit",
        hybrid(max_candidates=499, vec_limit=500, lex_limit=1),
        "hybrid.max_candidates",
        RANGE,
    ),
    (
        "max_candidates below lex_limit",
        hybrid(max_candidates=499, vec_limit=1, lex_limit=500),
        "hybrid.max_candidates",
        RANGE,
    ),
    (
        "max_candidates below the top_k that overrides",
        hybrid(top_k=51, max_candidates=50, vec_limit=1, lex_limit=1),
        "hybrid.max_candidates",
        RANGE,
    ),
    (
        "max_candidates below hybrid.top_k",
        query(hybrid=HybridParameters(top_k=51, max_candidates=50, vec_limit=1, lex_limit=1)),
        "hybrid.max_candidates",
        RANGE,
    ),
    ("budget_tokens 0", query(budget_tokens=0), "budget_tokens", RANGE),
    ("budget_tokens too great", query(budget_tokens=10_000_001), "budget_tokens", RANGE),
    ("rrf_k 0", query(fusion=FusionMode.RRF, rrf_k=0), "rrf_k", RANGE),
    *(
        (f"half-life {days}", query(freshness_half_life_days=days), "freshness_half_life_days", RANGE)
        for days in (-1e-9, -1.0, 36_500.01, math.nan, math.inf)
    ),
    *(
        (f"weight {weight}", query(freshness_weight=weight), "freshness_weight", RANGE)
        for weight in (-1e-9, 1.0000001, math.nan, math.inf)
    ),
    (
        "a retriever twice",
        query(retrievers=(Retriever.DENSE, Retriever.TRIGRAM, Retriever.DENSE)),
        "retrievers[2]",
        CONFLICT,
    ),
    ("vector with NaN", query(query_vector=(1.0, math.nan)), "query_vector", MALFORMED),
    ("vector with an infinity", query(query_vector=(-math.inf, 1.0)), "query_vector", MALFORMED),
    ("vector all zero", query(query_vector=(0.0, -0.0)), "query_vector", MALFORMED),
    (
        "vector without the dense retriever",
        query(query_vector=VECTOR, retrievers=(Retriever.BM25_CODE,)),
        "query_vector",
        CONFLICT,
    ),
    *(
        (f"{name} too long", query(**{name: LONGEST + "v"}), name, RANGE)
        for name in ("process", "doc_class", "workflow_id")
    ),
    ("too many conditions", query(filter=Filter(metadata=MANY_CONDITIONS)), "filter.metadata", RANGE),
    ("a key without a name", condition("", "v"), "filter.metadata.", RANGE),
    ("too many values", condition("team", *["v"] * 257), "filter.metadata.team", RANGE),
    ("a value too long", condition("team", "v", LONGEST + "v"), "filter.metadata.team[1]", RANGE),
]

KEPT: list[tuple[str, QueryRequest]] = [
    ("longest query", query(query="q" * 8_192)),
    *(
        (f"{name} {value}", with_value(name, value))
        for name in ("alpha", "min_sim", "trgm_limit", "diversify_strength")
        for value in (0.0, -0.0, 1.0)
    ),
    ("least hybrid.top_k", query(hybrid=HybridParameters(top_k=1))),
    ("greatest hybrid.top_k", query(hybrid=HybridParameters(top_k=200))),
    ("least top_k", query(top_k=1)),
    ("greatest top_k", query(top_k=200)),
    ("least limits", hybrid(vec_limit=1, lex_limit=1)),
    ("greatest limits", hybrid(vec_limit=10_000, lex_limit=10_000)),
    ("max_candidates below the limits by default", hybrid(max_candidates=1)),
    ("max_candidates of the one limit that is given", hybrid(max_candidates=7, lex_limit=7)),
    ("max_candidates of the limits", hybrid(max_candidates=500, vec_limit=500, lex_limit=500)),
    ("max_candidates of top_k", hybrid(top_k=50, max_candidates=50, vec_limit=1, lex_limit=1)),
    (
        "an overridden top_k does not bound max_candidates",
        query(hybrid=HybridParameters(top_k=60, max_candidates=50, vec_limit=1, lex_limit=1), top_k=5),
    ),
    ("greatest max_candidates", hybrid(max_candidates=100_000)),
    ("least budget_tokens", query(budget_tokens=1)),
    ("greatest budget_tokens", query(budget_tokens=10_000_000)),
    ("least rrf_k", query(fusion=FusionMode.RRF, rrf_k=1)),
    ("greatest rrf_k", query(fusion=FusionMode.RRF, rrf_k=1_000_000)),
    *(
        (f"rrf_k {rrf_k} without effect on {fusion.name}", query(fusion=fusion, rrf_k=rrf_k))
        for fusion in (FusionMode.ADAPTIVE, FusionMode.WEIGHTED)
        for rrf_k in (0, -1, 1_000_001)
    ),
    *((f"half-life {days}", query(freshness_half_life_days=days)) for days in (0.0, -0.0, 5e-324, 36_500.0)),
    ("no weight", query(freshness_weight=0.0)),
    ("all weight", query(freshness_weight=1.0)),
    ("every retriever", query(retrievers=tuple(Retriever))),
    ("a vector for every retriever", query(query_vector=VECTOR)),
    ("a vector for the dense retriever", query(query_vector=VECTOR, retrievers=(Retriever.TRIGRAM, Retriever.DENSE))),
    ("tiny vector", query(query_vector=(5e-324, 0.0))),
    *((f"longest {name}", query(**{name: LONGEST})) for name in ("process", "doc_class", "workflow_id")),
    ("most conditions", query(filter=Filter(metadata=MANY_CONDITIONS[:256]))),
    ("longest key", condition(LONGEST, "v")),
    ("most values", condition("team", *["v"] * 256)),
    ("values of every type", condition("team", LONGEST, "", 1, 2.5, True, None)),
    ("latest or not", query(filter=Filter(is_latest=False))),
]


@pytest.mark.parametrize(("request_", "field", "reason"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_a_broken_rule_is_told_by_field_and_reason(request_: QueryRequest, field: str, reason: Reason) -> None:
    assert violations_of(request_) == [(field, reason)]


@pytest.mark.parametrize("request_", [row[1] for row in KEPT], ids=[row[0] for row in KEPT])
def test_a_query_within_the_bounds_passes(request_: QueryRequest) -> None:
    checked(request_)


def test_the_constant_is_checked_where_the_server_chooses_reciprocal_ranks() -> None:
    with pytest.raises(InvalidRequestError, match="rrf_k: is 0; give 1 or more"):
        check_query(query(rrf_k=0), FusionMode.RRF, MAX_TOP_K)


@pytest.mark.parametrize(
    "name",
    """
    kinds data_types corpus_types languages path_prefixes collection_ids document_ids service_names repo_names
    tenant_ids case_ids document_version_ids
    """.split(),
)
def test_filter_rules(name: str) -> None:
    def filtered(*values: str) -> QueryRequest:
        return query(filter=replace(Filter(), **{name: values}))  # type: ignore[arg-type]

    checked(filtered(*(f"x{number}" for number in range(256))))
    checked(filtered(LONGEST))
    assert violations_of(filtered(*["x"] * 257)) == [(f"filter.{name}", RANGE)]
    assert violations_of(filtered("a", LONGEST + "v")) == [(f"filter.{name}[1]", RANGE)]
    assert violations_of(filtered("a", "b", "")) == [(f"filter.{name}[2]", REQUIRED)]


def test_several_broken_rules_are_told_at_once_in_the_order_of_the_fields() -> None:
    request = replace(
        QUERY,
        scope=Scope("", "main"),
        query="",
        hybrid=HybridParameters(alpha=2.0),
        top_k=0,
        fusion=FusionMode.RRF,
        rrf_k=0,
        retrievers=(Retriever.DENSE,) * 2,
    )
    assert [field for field, _ in violations_of(request)] == [
        "scope.repository",
        "query",
        "hybrid.alpha",
        "top_k",
        "retrievers[1]",
        "rrf_k",
    ]


def test_a_short_max_candidates_is_told_what_it_must_hold() -> None:
    with pytest.raises(InvalidRequestError) as caught:
        checked(hybrid(top_k=50, max_candidates=120, lex_limit=130))
    assert "is 120; give at least 130, the greatest of top_k (50), lex_limit (130)" in caught.value.message


@pytest.mark.parametrize("key", ["k" * 1_025, "k" * 100_000])
def test_a_key_too_long_is_refused_and_not_sent_back_whole(key: str) -> None:
    (field, reason), *others = violations_of(condition(key, "v"))
    assert not others
    assert reason is RANGE
    assert field == f"filter.metadata.{key}"[:100]


def test_the_operators_limits_are_the_bounds() -> None:
    for request in (query(top_k=300), query(hybrid=HybridParameters(top_k=300))):
        checked(request, 300)
        with pytest.raises(InvalidRequestError):
            checked(request, 299)
