"""The parameters of a query that are in effect, from what the caller gave and the defaults."""

from dataclasses import dataclass
from typing import TypeVar

from groundwire_server.domain.query import LEXICAL_SOURCES, Freshness, HybridParameters

DEFAULT_ALPHA = 0.7
DEFAULT_MIN_SIM = 0.15
DEFAULT_TOP_K = 5
DEFAULT_TRGM_LIMIT = 0.3
DEFAULT_DIVERSIFY_STRENGTH = 0.0
OVERFETCH = 3
LEAST_LIST_LIMIT = 150
"""Files and neighbours lift candidates that words and vectors alone put far down, so lists must reach there."""

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class EffectiveParameters:
    """Hybrid parameters without gaps. See `groundwire.v1.HybridParameters` for units and bounds."""

    alpha: float
    min_sim: float
    top_k: int
    vec_limit: int
    lex_limit: int
    trgm_limit: float
    max_candidates: int
    diversify_strength: float
    rrf_k: int
    freshness: Freshness


def effective_parameters(
    hybrid: HybridParameters, top_k: int | None, rrf_k: int, freshness: Freshness
) -> EffectiveParameters:
    """Fills the gaps; a `top_k` of its own overrides the one in `hybrid`.

    Lists are fetched `OVERFETCH` times deeper than the result, and at least `LEAST_LIST_LIMIT` deep.
    """
    wanted = _given(top_k, _given(hybrid.top_k, DEFAULT_TOP_K))
    deep = max(LEAST_LIST_LIMIT, OVERFETCH * wanted)
    vec_limit, lex_limit = _given(hybrid.vec_limit, deep), _given(hybrid.lex_limit, deep)
    return EffectiveParameters(
        alpha=_given(hybrid.alpha, DEFAULT_ALPHA),
        min_sim=_given(hybrid.min_sim, DEFAULT_MIN_SIM),
        top_k=wanted,
        vec_limit=vec_limit,
        lex_limit=lex_limit,
        trgm_limit=_given(hybrid.trgm_limit, DEFAULT_TRGM_LIMIT),
        max_candidates=_given(hybrid.max_candidates, max(wanted, vec_limit + len(LEXICAL_SOURCES) * lex_limit)),
        diversify_strength=_given(hybrid.diversify_strength, DEFAULT_DIVERSIFY_STRENGTH),
        rrf_k=rrf_k,
        freshness=freshness,
    )


def _given(value: Number | None, default: Number) -> Number:
    return default if value is None else value
