"""The rules of Query (see `groundwire.v1.QueryRequest`)."""

from collections.abc import Mapping, Sequence

from groundwire_server.domain import limits
from groundwire_server.domain.errors import Reason
from groundwire_server.domain.query.query import FusionMode, HybridParameters, QueryRequest
from groundwire_server.domain.query.query_parameters import given_limits
from groundwire_server.domain.search.search import Retriever
from groundwire_server.domain.search.validation import check_filter, check_rrf_k, check_text
from groundwire_server.domain.validation import Violations, check_scopes, exact


def check_query(request: QueryRequest, fusion: FusionMode, max_top_k: int) -> None:
    """Checks a query that is answered with `fusion`, against the server's largest `top_k`."""
    violations = Violations(request.broken)
    check_scopes(request, violations)
    check_text(request.query, violations)
    check_filter(request.filter, violations)
    check_hybrid(request.hybrid, max_top_k, violations)
    check_max_candidates(request.hybrid.max_candidates, given_limits(request.hybrid, request.top_k), violations)
    if request.top_k is not None:
        violations.bound("top_k", request.top_k, 1, max_top_k)
    if request.budget_tokens is not None:
        violations.bound("budget_tokens", request.budget_tokens, 1, limits.MAX_BUDGET_TOKENS)
    for name in ("process", "doc_class", "workflow_id"):
        value: str = getattr(request, name)
        if len(value) > limits.MAX_ROUTING_LENGTH:
            violations.bound_length(name, value, limits.MAX_ROUTING_LENGTH)
    check_retrievers(request.retrievers, request.query_vector, violations)
    if fusion is FusionMode.RRF and not violations.has("fusion"):
        check_rrf_k(request.rrf_k, violations)
    _check_freshness(request, violations)
    violations.raise_any()


def check_hybrid(hybrid: HybridParameters, max_top_k: int, violations: Violations) -> None:
    """Checks each parameter that is given against its own bounds."""
    for name in ("alpha", "min_sim", "trgm_limit", "diversify_strength"):
        share: float | None = getattr(hybrid, name)
        if share is not None:
            violations.bound_share(f"hybrid.{name}", share)
    for name, highest in (
        ("top_k", max_top_k),
        ("vec_limit", limits.MAX_LIST_LIMIT),
        ("lex_limit", limits.MAX_LIST_LIMIT),
    ):
        count: int | None = getattr(hybrid, name)
        if count is not None:
            violations.bound(f"hybrid.{name}", count, 1, highest)
    if hybrid.max_candidates is not None and hybrid.max_candidates < 1:
        rule = f"is {hybrid.max_candidates}; give 1 or more"
        violations.add("hybrid.max_candidates", Reason.VALUE_OUT_OF_RANGE, rule)


def check_max_candidates(max_candidates: int | None, given: Mapping[str, int], violations: Violations) -> None:
    """Checks that `max_candidates` is no less than a limit that the request gives; default limits do not count."""
    needed = max(given.values(), default=0)
    if max_candidates is not None and 1 <= max_candidates < needed:
        named_limits = ", ".join(f"{name} ({limit})" for name, limit in given.items())
        violations.add(
            "hybrid.max_candidates",
            Reason.VALUE_OUT_OF_RANGE,
            f"is {max_candidates}; give at least {needed}, the greatest of {named_limits}, or lower these",
        )


def check_retrievers(retrievers: Sequence[Retriever], query_vector: Sequence[float], violations: Violations) -> None:
    """Checks the retrievers that a request names, and its query vector."""
    violations.need_direction("query_vector", query_vector)
    if violations.has("retrievers"):
        return
    for position, retriever in enumerate(retrievers):
        if retriever in retrievers[:position]:
            violations.add(f"retrievers[{position}]", Reason.FIELDS_CONFLICT, f"repeats {retriever.name}; name it once")
    if query_vector and retrievers and Retriever.DENSE not in retrievers:
        violations.add(
            "query_vector",
            Reason.FIELDS_CONFLICT,
            "has no use without the dense retriever; drop it or add DENSE to `retrievers`",
        )


def _check_freshness(request: QueryRequest, violations: Violations) -> None:
    days, weight = request.freshness_half_life_days, request.freshness_weight
    if days is not None and not 0.0 <= days <= limits.MAX_HALF_LIFE_DAYS:
        violations.add(
            "freshness_half_life_days",
            Reason.VALUE_OUT_OF_RANGE,
            f"is {exact(days)}; give days from 0, which switches freshness off, to {limits.MAX_HALF_LIFE_DAYS:g}",
        )
    if weight is not None:
        violations.bound_share("freshness_weight", weight)
