"""The keys of a `query` step, with the bounds of `groundwire.v1.QueryRequest`."""

from typing import Annotated, Self, TypeAlias

from pydantic import Field, model_validator

from groundwire_client import FusionMode, HybridParameters, Retriever, choices
from groundwire_pipelines.action_definition import StepSettings
from groundwire_pipelines.action_parts.key_rules import OneOf, at_least_one, broken, check_rrf_k
from groundwire_pipelines.action_parts.query_input import QueryFrom, QueryParser
from groundwire_pipelines.action_parts.text_budget import BudgetFactor
from groundwire_pipelines.filter_keys import FilterKey

_Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
_ListLimit: TypeAlias = Annotated[int, Field(ge=1, le=10_000)]
_OneRetriever: TypeAlias = Annotated[str, OneOf(choices(Retriever), "retriever-unknown")]


class HybridSettings(StepSettings):
    """The hybrid parameters; the server's defaults where they are absent."""

    top_k: Annotated[Annotated[int, Field(ge=1)] | None, at_least_one("top-k-not-positive")] = None
    """The most matches; the pipeline's top_k when absent."""
    alpha: _Share | None = None
    """The dense retriever's weight in a weighted fusion, which it selects if `fusion` is absent; the server's default
    when absent."""
    min_sim: _Share | None = None
    """The least similarity of a dense candidate; when absent the server's default, or none if a filter narrows the
    query."""
    vec_limit: _ListLimit | None = None
    """The most dense candidates; the server's default when absent."""
    lex_limit: _ListLimit | None = None
    """The most candidates of each other retriever; the server's default when absent."""
    trgm_limit: _Share | None = None
    """The least similarity of a trigram candidate; the server's default when absent."""
    max_candidates: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    """The most candidates after the fusion, at least the `top_k`, `vec_limit` and `lex_limit` that the step gives; all
    when absent."""
    diversify_strength: _Share | None = None
    """How much matches that are similar to better ones are lowered; the server's default when absent."""

    @model_validator(mode="after")
    def _candidates_hold_the_lists(self) -> Self:
        limits = {"top_k": self.top_k, "vec_limit": self.vec_limit, "lex_limit": self.lex_limit}
        for name, limit in limits.items():
            if self.max_candidates is not None and limit is not None and limit > self.max_candidates:
                raise broken(
                    "max-candidates-too-few", f"max_candidates ({self.max_candidates}) is less than {name} ({limit})"
                )
        return self

    def parameters(self, top_k: int) -> HybridParameters:
        """The request's parameters for that many matches; `max_candidates` limits a `top_k` of the pipeline."""
        if self.top_k is None and self.max_candidates is not None:
            top_k = min(top_k, self.max_candidates)
        given = {field.name: getattr(self, field.name) for field in HybridParameters.DESCRIPTOR.fields}
        return HybridParameters(**{**given, "top_k": top_k})


class QuerySettings(HybridSettings):
    """The keys of a `query` step."""

    query_from: QueryFrom = "last_model_response"
    query_parser: QueryParser = None
    retrievers: tuple[_OneRetriever, ...] = ()
    """The retrievers to use; every one that the index has when absent."""
    fusion: Annotated[str, OneOf(choices(FusionMode), "fusion-unknown")] | None = None
    """How the retrievers' lists are fused; when absent, weighted if `alpha` is given, else the server's default."""
    rrf_k: int | None = None
    """The constant of reciprocal rank fusion, 1 or more; ignored with other fusions; 60 when absent."""
    rerank: bool = False
    """True if the server reranks the best candidates."""
    freshness_half_life_days: Annotated[float, Field(ge=0, le=36_500)] | None = None
    """The age in days at which a conversation's freshness is one half; 0 for no freshness; the server's default when
    absent."""
    freshness_weight: _Share | None = None
    """The share of freshness in a conversation's score; 0 for no freshness; the server's default when absent."""
    include_parents: bool = True
    """True to return the nodes that contain a match as well, after the matches, as the budget allows."""
    include_neighbors: bool = False
    """True to return the chunks before and after a match as well."""
    cap_top_k: bool = False
    """True if a top_k above the server's maximum is lowered to it; else the server refuses it."""
    budget_tokens: Annotated[Annotated[int, Field(ge=1)] | None, at_least_one("budget-not-positive")] = None
    """The most tokens in all; 70 % of max_context_tokens, rounded down, when absent."""
    history: bool = False
    """True if older definitions of an object follow the current one by their own scores; else these are halved."""
    expand_graph: bool = False
    """True to return the services around the matches as well; a render step lists them below the texts."""
    not_found_when_empty: bool = False
    """True if the step fails with `server-no-matches` when nothing matches, instead of going on without matches."""
    process: str = ""
    """The process that asks; may select one of the server's routing rules."""
    doc_class: str = ""
    """The class of documents that the query is about; see `process`."""
    workflow_id: str = ""
    """The workflow that asks; see `process`."""
    filter: FilterKey = None
    budget_factor: BudgetFactor = None

    @model_validator(mode="after")
    def _rrf_k_within_bounds(self) -> Self:
        check_rrf_k(self.rrf_k)
        return self

    @model_validator(mode="after")
    def _one_budget(self) -> Self:
        if self.budget_tokens is not None and self.budget_factor is not None:
            raise broken("budget-exclusive", "budget_tokens and budget_factor exclude each other: keep one")
        return self

    @model_validator(mode="after")
    def _each_retriever_once(self) -> Self:
        if len(set(self.retrievers)) < len(self.retrievers):
            raise broken("retriever-repeated", f"retrievers names one twice: {', '.join(self.retrievers)}")
        return self
