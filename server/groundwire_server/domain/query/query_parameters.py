"""The parameters of a query that are in effect, from what the caller gave and the server's defaults."""

from dataclasses import dataclass, replace
from typing import TypeVar

from groundwire_server.domain.query.query import Freshness, FusionMode, HybridParameters, QueryRequest

OVERFETCH = 3
LEAST_LIST_LIMIT = 150
"""Files and neighbours lift candidates that words and vectors alone put far down, so lists must reach there."""
TRGM_LIMIT = 0.3
_FRESHNESS = Freshness()

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class QueryDefaults:
    """The defaults that an operator may change; see `groundwire.v1.HybridParameters` for units and bounds."""

    top_k: int = 5
    alpha: float = 0.7
    min_sim: float = 0.15
    diversify_strength: float = 0.0


@dataclass(frozen=True, slots=True)
class EffectiveParameters:
    """Parameters without gaps. `min_sim` None is no least similarity, `max_candidates` None keeps every candidate."""

    alpha: float
    min_sim: float | None
    top_k: int
    vec_limit: int
    lex_limit: int
    trgm_limit: float
    max_candidates: int | None
    diversify_strength: float
    rrf_k: int
    freshness: Freshness


def asked_fusion(fusion: FusionMode | None, hybrid: HybridParameters) -> FusionMode | None:
    """The fusion that is named, or the one that an `alpha` without a name means; None for neither."""
    return FusionMode.WEIGHTED if fusion is None and hybrid.alpha is not None else fusion


def given_limits(hybrid: HybridParameters, top_k: int | None = None) -> dict[str, int]:
    """Those of `top_k`, `vec_limit` and `lex_limit` that are given; a `top_k` of its own overrides that in `hybrid`."""
    limits = {
        "top_k": hybrid.top_k if top_k is None else top_k,
        "vec_limit": hybrid.vec_limit,
        "lex_limit": hybrid.lex_limit,
    }
    return {name: limit for name, limit in limits.items() if limit is not None}


def with_capped_top_k(request: QueryRequest, highest: int) -> QueryRequest:
    """The request with its `top_k`, and the one in `hybrid`, lowered to `highest` where they are more."""
    hybrid = replace(request.hybrid, top_k=_at_most(request.hybrid.top_k, highest))
    return replace(request, top_k=_at_most(request.top_k, highest), hybrid=hybrid)


def effective_parameters(request: QueryRequest, defaults: QueryDefaults) -> EffectiveParameters:
    """Fills the gaps of a request; its own `top_k` overrides the one in `hybrid`.

    Lists without a limit are `OVERFETCH` times as deep as the result, and at least `LEAST_LIST_LIMIT`. The default of
    `min_sim` is for searches of everything: what a filter leaves may all be less alike, and the nearest
    of it are wanted.
    """
    hybrid = request.hybrid
    top_k = _given(request.top_k, _given(hybrid.top_k, defaults.top_k))
    deep = max(LEAST_LIST_LIMIT, OVERFETCH * top_k)
    default_min_sim = None if request.filter.narrows else defaults.min_sim
    return EffectiveParameters(
        alpha=_given(hybrid.alpha, defaults.alpha),
        min_sim=default_min_sim if hybrid.min_sim is None else hybrid.min_sim,
        top_k=top_k,
        vec_limit=_given(hybrid.vec_limit, deep),
        lex_limit=_given(hybrid.lex_limit, deep),
        trgm_limit=_given(hybrid.trgm_limit, TRGM_LIMIT),
        max_candidates=hybrid.max_candidates,
        diversify_strength=_given(hybrid.diversify_strength, defaults.diversify_strength),
        rrf_k=request.rrf_k,
        freshness=Freshness(
            _given(request.freshness_half_life_days, _FRESHNESS.half_life_days),
            _given(request.freshness_weight, _FRESHNESS.weight),
        ),
    )


def _at_most(value: int | None, highest: int) -> int | None:
    return None if value is None else min(value, highest)


def _given(value: Number | None, default: Number) -> Number:
    return default if value is None else value
