"""The rules of Query (see `groundwire.v1.QueryRequest`)."""

from dataclasses import asdict

from groundwire_server.domain import limits
from groundwire_server.domain.errors import Reason
from groundwire_server.domain.filter_validation import check_filter
from groundwire_server.domain.query import Freshness, HybridParameters, QueryRequest, RankingParameters, Source
from groundwire_server.domain.query_parameters import effective_parameters
from groundwire_server.domain.validation import Violations, check_scope


def check_query(request: QueryRequest, bounds: limits.Limits) -> HybridParameters:
    """Checks a query and returns its hybrid parameters, which are then known to be given."""
    violations = Violations()
    check_scope(request.scope, violations)
    _check_text(request.query, bounds, violations)
    check_filter(request.filter, violations)
    if request.hybrid is None:
        violations.require("hybrid", "an empty message takes every default")
    else:
        _check_hybrid(request.hybrid, bounds, violations)
        _check_max_candidates(request, request.hybrid, violations)
    if request.top_k is not None:
        violations.bound("top_k", request.top_k, 1, bounds.max_top_k)
    if request.budget_tokens is not None:
        violations.bound("budget_tokens", request.budget_tokens, 1, limits.MAX_BUDGET_TOKENS)
    _check_routing(request, violations)
    _check_sources(request, violations)
    violations.bound("rrf_k", request.rrf_k, 1, limits.MAX_RRF_K)
    _check_freshness(request.freshness, violations)
    _check_ranking(request.ranking, violations)
    violations.raise_any()
    assert request.hybrid is not None
    return request.hybrid


def _check_text(query: str, bounds: limits.Limits, violations: Violations) -> None:
    if len(query) > bounds.max_query_chars:
        violations.bound_length("query", query, bounds.max_query_chars)
    elif not query.strip():
        violations.require("query", "say what to look for; blank text matches nothing")


def _check_hybrid(hybrid: HybridParameters, bounds: limits.Limits, violations: Violations) -> None:
    for name in ("alpha", "min_sim", "trgm_limit", "diversify_strength"):
        share: float | None = getattr(hybrid, name)
        if share is not None:
            violations.bound_share(f"hybrid.{name}", share)
    for name, highest in (
        ("top_k", bounds.max_top_k),
        ("vec_limit", limits.MAX_LIST_LIMIT),
        ("lex_limit", limits.MAX_LIST_LIMIT),
        ("max_candidates", limits.MAX_CANDIDATES),
    ):
        count: int | None = getattr(hybrid, name)
        if count is not None:
            violations.bound(f"hybrid.{name}", count, 1, highest)


def _check_max_candidates(request: QueryRequest, hybrid: HybridParameters, violations: Violations) -> None:
    """Checks `max_candidates` against the limits in effect, given or by default; without one all are kept."""
    if hybrid.max_candidates is None:
        return
    effective = effective_parameters(hybrid, request.top_k, request.rrf_k, request.freshness)
    needed = max(effective.top_k, effective.vec_limit, effective.lex_limit)
    if 1 <= effective.max_candidates < needed:
        violations.add(
            "hybrid.max_candidates",
            Reason.VALUE_OUT_OF_RANGE,
            f"is {effective.max_candidates}; give at least {needed}, the greatest of top_k ({effective.top_k}), "
            f"vec_limit ({effective.vec_limit}) and lex_limit ({effective.lex_limit}) in effect, or lower these",
        )


def _check_routing(request: QueryRequest, violations: Violations) -> None:
    for name in ("process", "doc_class", "workflow_id"):
        value: str = getattr(request, name)
        if len(value) > limits.MAX_ROUTING_LENGTH:
            violations.bound_length(name, value, limits.MAX_ROUTING_LENGTH)


def _check_sources(request: QueryRequest, violations: Violations) -> None:
    for position, source in enumerate(request.sources):
        if source in request.sources[:position]:
            violations.add(f"sources[{position}]", Reason.FIELDS_CONFLICT, f"repeats {source.name}; name it once")
    if request.query_vector and request.sources and Source.DENSE not in request.sources:
        violations.add("query_vector", Reason.FIELDS_CONFLICT, "has no use without the dense source; drop it or ask it")
    violations.need_direction("query_vector", request.query_vector)


def _check_freshness(freshness: Freshness, violations: Violations) -> None:
    if not 0.0 < freshness.half_life_days <= limits.MAX_HALF_LIFE_DAYS:
        violations.add(
            "freshness_half_life_days",
            Reason.VALUE_OUT_OF_RANGE,
            f"is {freshness.half_life_days:g}; give a number of days above 0, at most {limits.MAX_HALF_LIFE_DAYS:g}",
        )
    violations.bound_share("freshness_weight", freshness.weight)


def _check_ranking(ranking: RankingParameters, violations: Violations) -> None:
    for name, share in asdict(ranking).items():
        if share is not None:
            violations.bound_share(f"ranking.{name}", share)
