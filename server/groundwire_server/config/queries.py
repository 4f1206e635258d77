"""How much a request may ask for, and what a query without a parameter takes."""

from typing import Annotated, Any, Self, TypeAlias

from pydantic import Field, model_validator

from groundwire_server.config.group import SettingsGroup
from groundwire_server.config.values import Share
from groundwire_server.domain.limits import MAX_HALF_LIFE_DAYS, MAX_LIST_LIMIT, Limits
from groundwire_server.domain.query.query import Freshness
from groundwire_server.domain.query.query_parameters import QueryDefaults

_LIMITS = Limits()
_DEFAULTS = QueryDefaults()
_ListLimit: TypeAlias = Annotated[int, Field(ge=1, le=MAX_LIST_LIMIT)]


def _default_top_k(earlier: dict[str, Any]) -> int:
    max_top_k: int = earlier["max_top_k"]
    return min(_DEFAULTS.top_k, max_top_k)


class QuerySettings(SettingsGroup):
    """Limits of requests, and defaults of queries."""

    max_top_k: Annotated[int, Field(ge=1, le=1_000)] = _LIMITS.max_top_k
    """The largest `top_k`."""
    max_query_chars: Annotated[int, Field(ge=1, le=1_000_000)] = _LIMITS.max_query_chars
    """The longest query, in characters."""
    max_expand_nodes: Annotated[int, Field(ge=1, le=10_000)] = _LIMITS.max_expand_nodes
    """The largest `max_nodes` of a walk or a search for paths."""

    default_top_k: Annotated[int, Field(ge=1)] = Field(default_factory=_default_top_k)
    """How many matches a query without `top_k` returns: 5, or `max_top_k` if that is less, unless given."""
    default_alpha: Share = _DEFAULTS.alpha
    """The weight of the dense retriever in a weighted fusion, for queries without `alpha`."""
    default_min_sim: Share = _DEFAULTS.min_sim
    """The least similarity of dense candidates, for queries without `min_sim` that no filter narrows."""
    default_vec_limit: _ListLimit | None = None
    """The most dense candidates, for queries without `vec_limit`: 3 times `top_k` and at least 150 unless given."""
    default_lex_limit: _ListLimit | None = None
    """The same for each other retriever."""
    default_trgm_limit: Share = _DEFAULTS.trgm_limit
    """The least similarity of trigram candidates, for queries without `trgm_limit`."""
    default_diversify_strength: Share = _DEFAULTS.diversify_strength
    """How much matches that are similar to better ones are lowered, for queries without `diversify_strength`."""
    default_freshness_half_life_days: Annotated[float, Field(ge=0, le=MAX_HALF_LIFE_DAYS, allow_inf_nan=False)] = (
        _DEFAULTS.freshness.half_life_days
    )
    """The age in days at which a conversation's freshness is one half, for queries without their own; 0 for off."""
    default_freshness_weight: Share = _DEFAULTS.freshness.weight
    """The share of freshness in a conversation's score, for queries without their own; 0 for off."""

    @property
    def limits(self) -> Limits:
        """The limits that requests are checked against."""
        return Limits(self.max_top_k, self.max_query_chars, self.max_expand_nodes)

    @property
    def query_defaults(self) -> QueryDefaults:
        """The defaults of absent parameters of a query."""
        return QueryDefaults(
            top_k=self.default_top_k,
            alpha=self.default_alpha,
            min_sim=self.default_min_sim,
            vec_limit=self.default_vec_limit,
            lex_limit=self.default_lex_limit,
            trgm_limit=self.default_trgm_limit,
            diversify_strength=self.default_diversify_strength,
            freshness=Freshness(self.default_freshness_half_life_days, self.default_freshness_weight),
        )

    @model_validator(mode="after")
    def _check_top_k(self) -> Self:
        if self.default_top_k > self.max_top_k:
            raise ValueError(
                f"default_top_k: {self.default_top_k}: must be at most max_top_k, which is {self.max_top_k}"
            )
        return self
