"""What an absent parameter of a query takes."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from groundwire_index.scope import Scope
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.query.query import Freshness, HybridParameters, QueryRequest
from groundwire_server.domain.query.query_parameters import QueryDefaults, effective_parameters
from groundwire_server.domain.search.search import Filter

QUERY = QueryRequest(Scope("shop", "main"), AccessContext(), "refunds", datetime(2025, 6, 1, tzinfo=UTC))
CONFIGURED = QueryDefaults(9, 0.25, 0.5, 0.125)


def test_what_is_absent_is_the_servers_to_say() -> None:
    effective = effective_parameters(QUERY, CONFIGURED)
    assert (effective.top_k, effective.alpha, effective.min_sim, effective.trgm_limit) == (9, 0.25, 0.5, 0.3)
    assert (effective.vec_limit, effective.lex_limit, effective.diversify_strength) == (150, 150, 0.125)
    assert (effective.freshness, effective.rrf_k, effective.max_candidates) == (Freshness(), 60, None)


def test_what_is_given_wins_zero_included() -> None:
    given = replace(
        QUERY,
        hybrid=HybridParameters(0.0, 0.0, 3, 4, 5, 0.0, 6, 0.0),
        top_k=2,
        freshness_half_life_days=0.0,
        freshness_weight=0.0,
    )
    effective = effective_parameters(given, CONFIGURED)
    assert (effective.top_k, effective.alpha, effective.min_sim, effective.trgm_limit) == (2, 0.0, 0.0, 0.0)
    assert (effective.vec_limit, effective.lex_limit, effective.diversify_strength) == (4, 5, 0.0)
    assert (effective.freshness, effective.max_candidates) == (Freshness(0.0, 0.0), 6)


@pytest.mark.parametrize(("top_k", "deep"), [(1, 150), (50, 150), (51, 153), (200, 600)])
def test_lists_without_a_limit_are_as_deep_as_the_result_needs(top_k: int, deep: int) -> None:
    effective = effective_parameters(replace(QUERY, top_k=top_k), QueryDefaults())
    assert (effective.vec_limit, effective.lex_limit) == (deep, deep)


def test_a_filter_sets_the_default_of_min_sim_aside() -> None:
    narrowed = replace(QUERY, filter=Filter(kinds=("md",)))
    assert effective_parameters(narrowed, CONFIGURED).min_sim is None
    given = replace(narrowed, hybrid=HybridParameters(min_sim=0.5))
    assert effective_parameters(given, QueryDefaults()).min_sim == 0.5
