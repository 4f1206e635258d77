"""How much a request may ask for, and what a query without a parameter takes."""

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from groundwire_server.config.group import SettingsGroup
from groundwire_server.config.values import Share
from groundwire_server.domain.limits import MAX_TOP_K
from groundwire_server.domain.query.query_parameters import QueryDefaults

_DEFAULTS = QueryDefaults()


def _default_top_k(earlier: dict[str, Any]) -> int:
    max_top_k: int = earlier["max_top_k"]
    return min(_DEFAULTS.top_k, max_top_k)


class QuerySettings(SettingsGroup):
    """The largest `top_k`, and defaults of queries."""

    max_top_k: Annotated[int, Field(ge=1, le=MAX_TOP_K)] = MAX_TOP_K
    """The largest `top_k`."""

    default_top_k: Annotated[int, Field(ge=1)] = Field(default_factory=_default_top_k)
    """How many matches a query without `top_k` returns: 5, or `max_top_k` if that is less, unless given."""
    default_alpha: Share = _DEFAULTS.alpha
    """The weight of the dense retriever in a weighted fusion, for queries without `alpha`."""
    default_min_sim: Share = _DEFAULTS.min_sim
    """The least similarity of dense candidates, for queries without `min_sim` that no filter narrows."""
    default_diversify_strength: Share = _DEFAULTS.diversify_strength
    """How much matches that are similar to better ones are lowered, for queries without `diversify_strength`."""

    @property
    def query_defaults(self) -> QueryDefaults:
        """The defaults of absent parameters of a query."""
        return QueryDefaults(
            top_k=self.default_top_k,
            alpha=self.default_alpha,
            min_sim=self.default_min_sim,
            diversify_strength=self.default_diversify_strength,
        )

    @model_validator(mode="after")
    def _check_top_k(self) -> Self:
        if self.default_top_k > self.max_top_k:
            raise ValueError(
                f"default_top_k: {self.default_top_k}: must be at most max_top_k, which is {self.max_top_k}"
            )
        return self
