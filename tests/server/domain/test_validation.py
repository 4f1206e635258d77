"""Every rule of the contract: one row a rule, each with its reason and field, on both sides of every bound."""

import math
from dataclasses import replace
from typing import Any

import pytest

from groundwire_index.scope import Scope
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.errors import FieldViolation, InvalidRequestError, Reason
from groundwire_server.domain.graph.expansion import ExpandRequest
from groundwire_server.domain.graph.paths import PathsRequest
from groundwire_server.domain.graph.validation import check_expand, check_paths
from groundwire_server.domain.search.search import Filter, Rerank, SearchRequest, SearchType
from groundwire_server.domain.search.validation import check_search
from groundwire_server.domain.texts.texts import FetchRequest, RequestedText
from groundwire_server.domain.texts.texts_validation import check_fetch
from groundwire_server.domain.validation import Violations, check_scope

SCOPE = Scope("shop", "main")
SEARCH = SearchRequest(SCOPE, AccessContext(), SearchType.SEMANTIC, "needle", 5)
GRAPH: dict[str, Any] = {"scope": SCOPE, "access": AccessContext(), "max_nodes": 10, "edge_allowlist": ("Calls",)}
EXPAND = ExpandRequest(**GRAPH, seed_ids=("a",), max_depth=2)
PATHS = PathsRequest(**GRAPH, from_ids=("a",), to_ids=("b",), max_hops=3, max_paths=5)
FETCH = FetchRequest(SCOPE, AccessContext(), ("a",), (), budget_tokens=100)
MAX_TOP_K = 100

Request = SearchRequest | ExpandRequest | PathsRequest | FetchRequest


def check(request: Request) -> None:
    if isinstance(request, SearchRequest):
        check_search(request, MAX_TOP_K)
    elif isinstance(request, ExpandRequest):
        check_expand(request)
    elif isinstance(request, PathsRequest):
        check_paths(request)
    else:
        check_fetch(request)


def violations_of(request: Request) -> list[tuple[str, Reason]]:
    with pytest.raises(InvalidRequestError) as caught:
        check(request)
    return [(violation.field, violation.reason) for violation in caught.value.violations]


REQUIRED, RANGE = Reason.FIELD_REQUIRED, Reason.VALUE_OUT_OF_RANGE
MALFORMED, CONFLICT = Reason.VALUE_MALFORMED, Reason.FIELDS_CONFLICT


def search(**changes: object) -> SearchRequest:
    return replace(SEARCH, **changes)  # type: ignore[arg-type]


def expand(**changes: object) -> ExpandRequest:
    return replace(EXPAND, **changes)  # type: ignore[arg-type]


def paths(**changes: object) -> PathsRequest:
    return replace(PATHS, **changes)  # type: ignore[arg-type]


def fetch(**changes: object) -> FetchRequest:
    return replace(FETCH, **changes)  # type: ignore[arg-type]


def access(**changes: object) -> AccessContext:
    return AccessContext(**changes)  # type: ignore[arg-type]


def many(count: int) -> tuple[str, ...]:
    return tuple(f"x{number}" for number in range(count))


def many_nodes(count: int) -> tuple[RequestedText, ...]:
    return tuple(RequestedText(f"x{number}", 1, "") for number in range(count))


def wide_ids(total_bytes: int) -> tuple[str, ...]:
    """Distinct ids that hold so many UTF-8 bytes in all, an even number, and fewer characters."""
    pieces = [2_000] * (total_bytes // 2_000) + [total_bytes % 2_000]
    return tuple(f"{number:04}" + "é" * ((size - 4) // 2) for number, size in enumerate(pieces))


# For every kind of request: the rules of its scope.
SHARED_BROKEN: list[tuple[str, dict[str, object], str, Reason]] = [
    ("no repository", {"scope": Scope("", "main")}, "scope.repository", REQUIRED),
    ("no branch", {"scope": Scope("shop", "")}, "scope.branch", REQUIRED),
    ("repository with ::", {"scope": Scope("a::b", "main")}, "scope.repository", MALFORMED),
    ("branch with a line break", {"scope": Scope("shop", "a\nb")}, "scope.branch", MALFORMED),
    ("repository too long", {"scope": Scope("a" * 201, "main")}, "scope.repository", MALFORMED),
    ("repository too long escaped", {"scope": Scope("/" * 67, "main")}, "scope.repository", MALFORMED),
    ("version malformed", {"scope": Scope("shop", "main", "../v1")}, "scope.active_index", MALFORMED),
    ("version too long", {"scope": Scope("shop", "main", "v" * 129)}, "scope.active_index", MALFORMED),
]
SHARED_KEPT: list[tuple[str, dict[str, object]]] = [
    ("longest repository", {"scope": Scope("a" * 200, "main")}),
    ("longest version", {"scope": Scope("shop", "main", "v" * 128)}),
]


@pytest.mark.parametrize("request_", [SEARCH, EXPAND, PATHS, FETCH], ids=["search", "expand", "paths", "fetch"])
@pytest.mark.parametrize(
    ("changes", "field", "reason"), [row[1:] for row in SHARED_BROKEN], ids=[row[0] for row in SHARED_BROKEN]
)
def test_scope_rules_hold_for_every_action(
    request_: Request, changes: dict[str, object], field: str, reason: Reason
) -> None:
    assert violations_of(replace(request_, **changes)) == [(field, reason)]  # type: ignore[arg-type]


@pytest.mark.parametrize("request_", [SEARCH, EXPAND, PATHS, FETCH], ids=["search", "expand", "paths", "fetch"])
@pytest.mark.parametrize("changes", [row[1] for row in SHARED_KEPT], ids=[row[0] for row in SHARED_KEPT])
def test_scopes_within_their_bounds_pass(request_: Request, changes: dict[str, object]) -> None:
    check(replace(request_, **changes))  # type: ignore[arg-type]


FILTERS = """
    kinds data_types corpus_types languages path_prefixes collection_ids document_ids service_names repo_names
    tenant_ids case_ids document_version_ids
""".split()


@pytest.mark.parametrize("request_", [SEARCH, EXPAND, PATHS, FETCH], ids=["search", "expand", "paths", "fetch"])
@pytest.mark.parametrize("name", FILTERS)
def test_filter_rules(name: str, request_: Request) -> None:
    def filtered(*values: str) -> Request:
        return replace(request_, filter=replace(Filter(), **{name: values}))  # type: ignore[arg-type]

    check(filtered(*many(256)))
    check(filtered("v" * 1_024))
    assert violations_of(filtered(*many(257))) == [(f"filter.{name}", RANGE)]
    assert violations_of(filtered("a", "v" * 1_025)) == [(f"filter.{name}[1]", RANGE)]
    assert violations_of(filtered("a", "b", "")) == [(f"filter.{name}[2]", REQUIRED)]


VECTOR = (1.0, 0.0)

BROKEN: list[tuple[str, Request, str, Reason]] = [
    ("rrf_k 0 without a search type", search(search_type=None, rrf_k=0), "rrf_k", RANGE),
    ("no query without a search type", search(search_type=None, query="", query_vector=VECTOR), "query", REQUIRED),
    ("rerank without a search type", search(search_type=None, rerank=Rerank.KEYWORD), "rerank", CONFLICT),
    ("top_k 0", search(top_k=0), "top_k", REQUIRED),
    ("top_k negative", search(top_k=-1), "top_k", RANGE),
    ("top_k above the maximum", search(top_k=101), "top_k", RANGE),
    ("rrf_k 0", search(search_type=SearchType.HYBRID, rrf_k=0), "rrf_k", RANGE),
    ("query empty", search(query=""), "query", REQUIRED),
    ("query blank", search(query=" \t\n\u2003"), "query", REQUIRED),
    ("query of a zero-width space", search(query="\u200b"), "query", REQUIRED),
    ("query of a byte order mark and a filler", search(query="\ufeff\u3164\ufe0f"), "query", REQUIRED),
    ("query too long", search(query="q" * 8_193), "query", RANGE),
    ("BM25 without a query", search(search_type=SearchType.BM25, query=""), "query", REQUIRED),
    (
        "hybrid with a vector only",
        search(search_type=SearchType.HYBRID, query="", query_vector=VECTOR),
        "query",
        REQUIRED,
    ),
    ("rerank with a vector only", search(query="", query_vector=VECTOR, rerank=Rerank.KEYWORD), "query", REQUIRED),
    ("BM25 with a vector", search(search_type=SearchType.BM25, query_vector=VECTOR), "query_vector", CONFLICT),
    ("vector with NaN", search(query_vector=(1.0, math.nan)), "query_vector", MALFORMED),
    ("vector with an infinity", search(query_vector=(-math.inf, 1.0)), "query_vector", MALFORMED),
    ("vector all zero", search(query_vector=(0.0, -0.0)), "query_vector", MALFORMED),
    ("rerank of BM25", search(search_type=SearchType.BM25, rerank=Rerank.KEYWORD), "rerank", CONFLICT),
    ("rerank of hybrid", search(search_type=SearchType.HYBRID, rerank=Rerank.CODEBERT), "rerank", CONFLICT),
    ("no seeds to walk from", expand(seed_ids=()), "seed_ids", REQUIRED),
    ("too many seeds", expand(seed_ids=many(1_001)), "seed_ids", RANGE),
    ("empty seed", expand(seed_ids=("a", "")), "seed_ids[1]", REQUIRED),
    ("seed too long", expand(seed_ids=("a", "b", "i" * 2_049)), "seed_ids[2]", RANGE),
    ("depth absent", expand(max_depth=None), "max_depth", REQUIRED),
    ("depth negative", expand(max_depth=-1), "max_depth", RANGE),
    ("depth above the maximum", expand(max_depth=17), "max_depth", RANGE),
    ("max_nodes 0", expand(max_nodes=0), "max_nodes", REQUIRED),
    ("max_nodes above the maximum", expand(max_nodes=2_001), "max_nodes", RANGE),
    ("allowlist empty", expand(edge_allowlist=()), "edge_allowlist", REQUIRED),
    ("allowlist too long", expand(edge_allowlist=many(65)), "edge_allowlist", RANGE),
    ("empty edge type", expand(edge_allowlist=("Calls", "")), "edge_allowlist[1]", REQUIRED),
    ("edge type too long", expand(edge_allowlist=("e" * 257,)), "edge_allowlist[0]", RANGE),
    ("confidence below 0", expand(min_confidence=-0.01), "min_confidence", RANGE),
    ("confidence above 1", expand(min_confidence=1.01), "min_confidence", RANGE),
    ("confidence NaN", expand(min_confidence=math.nan), "min_confidence", RANGE),
    ("confidence infinite", expand(min_confidence=math.inf), "min_confidence", RANGE),
    ("nowhere to begin", paths(from_ids=()), "from_ids", REQUIRED),
    ("nowhere to end", paths(to_ids=()), "to_ids", REQUIRED),
    ("too many beginnings", paths(from_ids=many(101)), "from_ids", RANGE),
    ("too many ends", paths(to_ids=many(101)), "to_ids", RANGE),
    ("empty beginning", paths(from_ids=("a", "")), "from_ids[1]", REQUIRED),
    ("end too long", paths(to_ids=("i" * 2_049,)), "to_ids[0]", RANGE),
    ("no hop", paths(max_hops=0), "max_hops", REQUIRED),
    ("too many hops", paths(max_hops=17), "max_hops", RANGE),
    ("no path", paths(max_paths=0), "max_paths", REQUIRED),
    ("too many paths", paths(max_paths=101), "max_paths", RANGE),
    ("no node between", paths(max_nodes=0), "max_nodes", REQUIRED),
    ("nodes between above the maximum", paths(max_nodes=2_001), "max_nodes", RANGE),
    ("edge types of paths absent", paths(edge_allowlist=()), "edge_allowlist", REQUIRED),
    ("confidence of paths above 1", paths(min_confidence=1.01), "min_confidence", RANGE),
    ("* beside others", expand(edge_allowlist=("Calls", "*")), "edge_allowlist[1]", CONFLICT),
    ("nothing to fetch", fetch(seed_ids=()), "seed_ids", REQUIRED),
    ("too many ids to fetch", fetch(seed_ids=many(1), nodes=many_nodes(10_000)), "nodes", RANGE),
    ("too many seeds to fetch", fetch(seed_ids=many(10_001)), "nodes", RANGE),
    ("empty seed to fetch", fetch(seed_ids=("a", "")), "seed_ids[1]", REQUIRED),
    ("seed to fetch too long", fetch(seed_ids=("i" * 2_049,)), "seed_ids[0]", RANGE),
    ("empty node id", fetch(nodes=(RequestedText("", 1, ""),)), "nodes[0].id", REQUIRED),
    ("node id too long", fetch(nodes=(RequestedText("i" * 2_049, 1, ""),)), "nodes[0].id", RANGE),
    ("parent id too long", fetch(nodes=(RequestedText("i", 1, "p" * 2_049),)), "nodes[0].parent_id", RANGE),
    ("node depth negative", fetch(nodes=(RequestedText("i", -1, ""),)), "nodes[0].depth", RANGE),
    ("node depth above the maximum", fetch(nodes=(RequestedText("i", 1_000_001, ""),)), "nodes[0].depth", RANGE),
    ("depth 0 for a node that is no seed", fetch(nodes=(RequestedText("i", 0, ""),)), "nodes[0].depth", CONFLICT),
    (
        "a repeat with another depth",
        fetch(nodes=(RequestedText("i", 1, ""), RequestedText("j", 1, ""), RequestedText("i", 2, ""))),
        "nodes[2]",
        CONFLICT,
    ),
    (
        "a repeat with another parent",
        fetch(nodes=(RequestedText("i", 1, "p"), RequestedText("i", 1, "q"))),
        "nodes[1]",
        CONFLICT,
    ),
    ("ids of too many bytes", fetch(seed_ids=wide_ids(2 * 1024 * 1024 + 2)), "nodes", RANGE),
    ("budget absent", fetch(budget_tokens=None), "budget", REQUIRED),
    ("two budgets", fetch(max_chars=10), "max_chars", CONFLICT),
    ("no tokens", fetch(budget_tokens=0), "budget_tokens", RANGE),
    ("too many tokens", fetch(budget_tokens=10_000_001), "budget_tokens", RANGE),
    ("no characters", fetch(budget_tokens=None, max_chars=0), "max_chars", RANGE),
    ("too many characters", fetch(budget_tokens=None, max_chars=100_000_001), "max_chars", RANGE),
]

KEPT: list[tuple[str, Request]] = [
    *((f"{kind} search", search(search_type=kind)) for kind in (None, *SearchType)),
    ("top_k 1", search(top_k=1)),
    ("greatest top_k", search(top_k=100)),
    ("rrf_k 1", search(search_type=SearchType.HYBRID, rrf_k=1)),
    ("greatest rrf_k", search(search_type=SearchType.HYBRID, rrf_k=2**31 - 1)),
    *(
        (f"rrf_k {rrf_k} without effect on {search_type.name}", search(search_type=search_type, rrf_k=rrf_k))
        for search_type in (SearchType.SEMANTIC, SearchType.BM25)
        for rrf_k in (0, -1, 2**31 - 1)
    ),
    ("longest query", search(query="q" * 8_192)),
    ("vector instead of a query", search(query="", query_vector=VECTOR)),
    ("vector beside a query", search(query_vector=VECTOR)),
    ("hybrid with a vector", search(search_type=SearchType.HYBRID, query_vector=VECTOR)),
    ("tiny vector", search(query_vector=(5e-324, 0.0))),
    ("keyword rerank", search(rerank=Rerank.KEYWORD)),
    ("cross-encoder rerank", search(rerank=Rerank.CODEBERT)),
    ("most seeds", expand(seed_ids=many(1_000))),
    ("a repeated seed", expand(seed_ids=("a", "a"))),
    ("longest seed", expand(seed_ids=("i" * 2_048,))),
    ("depth 0", expand(max_depth=0)),
    ("greatest depth", expand(max_depth=16)),
    ("max_nodes 1", expand(max_nodes=1)),
    ("greatest max_nodes", expand(max_nodes=2_000)),
    ("all edge types", expand(edge_allowlist=("*",))),
    ("most edge types", expand(edge_allowlist=many(64))),
    ("confidence 1", expand(min_confidence=1.0)),
    ("longest edge type", expand(edge_allowlist=("e" * 256,))),
    ("most ends", paths(from_ids=many(100), to_ids=many(100))),
    ("the same node at both ends", paths(to_ids=("a", "a"))),
    ("most of everything", paths(max_hops=16, max_paths=100, max_nodes=2_000, min_confidence=1.0)),
    ("least of everything", paths(max_hops=1, max_paths=1, max_nodes=1, edge_allowlist=("*",))),
    ("most ids to fetch", fetch(seed_ids=many(1), nodes=many_nodes(9_999))),
    ("graph nodes without seeds", fetch(seed_ids=(), nodes=many_nodes(1))),
    ("longest ids", fetch(nodes=(RequestedText("i" * 2_048, 1, "p" * 2_048),))),
    ("ids of the most bytes", fetch(seed_ids=wide_ids(2 * 1024 * 1024))),
    ("depth 0 for a seed", fetch(nodes=(RequestedText("a", 0, ""),))),
    ("greatest node depth", fetch(nodes=(RequestedText("i", 1_000_000, ""),))),
    ("an agreeing repeat", fetch(nodes=(RequestedText("i", 1, "p"), RequestedText("i", 1, "p")))),
    ("one token", fetch(budget_tokens=1)),
    ("most tokens", fetch(budget_tokens=10_000_000)),
    ("one character", fetch(budget_tokens=None, max_chars=1)),
    ("most characters", fetch(budget_tokens=None, max_chars=100_000_000)),
]


@pytest.mark.parametrize(("request_", "field", "reason"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_a_broken_rule_is_told_by_field_and_reason(request_: Request, field: str, reason: Reason) -> None:
    assert violations_of(request_) == [(field, reason)]


@pytest.mark.parametrize("request_", [row[1] for row in KEPT], ids=[row[0] for row in KEPT])
def test_a_request_within_the_bounds_passes(request_: Request) -> None:
    check(request_)


def test_the_check_of_a_walk_returns_the_depth_that_is_then_known_to_be_given() -> None:
    assert check_expand(expand(max_depth=0)) == 0


def test_several_broken_rules_are_told_at_once() -> None:
    request = replace(SEARCH, scope=Scope("", ""), search_type=SearchType.HYBRID, query="", top_k=0, rrf_k=0)
    assert violations_of(request) == [
        ("scope.repository", REQUIRED),
        ("scope.branch", REQUIRED),
        ("top_k", REQUIRED),
        ("rrf_k", RANGE),
        ("query", REQUIRED),
    ]


def test_the_error_names_the_first_field_and_every_rule() -> None:
    with pytest.raises(InvalidRequestError) as caught:
        check_search(search(search_type=SearchType.HYBRID, top_k=0, rrf_k=0), MAX_TOP_K)
    error = caught.value
    assert error.reason is REQUIRED
    assert error.metadata == {"field": "top_k"}
    assert "top_k: is required: give 1 to 100" in error.message
    assert "rrf_k: is 0; give 1 or more" in error.message


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(expand(seed_ids=("",) * 1_000), id="a thousand broken seeds"),
        pytest.param(
            fetch(nodes=tuple(RequestedText("", -1, "") for _ in range(9_000))), id="thousands of broken nodes"
        ),
        pytest.param(search(scope=Scope("\n" * 100_000, "main")), id="an endless name"),
    ],
)
def test_an_error_stays_small_enough_for_http_trailers(request_: Request) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        check(request_)
    assert len(caught.value.violations) <= 10
    assert all(len(violation.description) <= 300 for violation in caught.value.violations)
    assert len(caught.value.message) <= 4_000


def test_a_version_is_required_where_the_caller_says_so() -> None:
    violations = Violations()
    check_scope(SCOPE, violations, version_required=True)
    with pytest.raises(InvalidRequestError) as caught:
        violations.raise_any()
    assert caught.value.violations == (
        FieldViolation("scope.active_index", REQUIRED, "is required: name the index version"),
    )


def test_the_operators_limit_is_the_bound() -> None:
    check_search(search(top_k=300), 300)
    with pytest.raises(InvalidRequestError):
        check_search(search(top_k=300), 299)
