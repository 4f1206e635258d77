"""The keys of a `query` step, with the bounds of `groundwire.v1.QueryRequest`."""

from typing import Annotated, Self, TypeAlias

from pydantic import Field, model_validator

from groundwire_client import FusionMode, HybridParameters, RankingParameters, Retriever
from groundwire_pipelines.actions.definition import KeyGroup, StepSettings
from groundwire_pipelines.actions.query_input import QueryFrom, QueryParser
from groundwire_pipelines.actions.rules import NameIn, at_least_one, broken, check_rrf_k, one_of
from groundwire_pipelines.actions.text_budget import BudgetFactor
from groundwire_pipelines.filter_keys import FilterKey

_Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
_ListLimit: TypeAlias = Annotated[int, Field(ge=1, le=10_000)]
_OneRetriever: TypeAlias = Annotated[str, NameIn(Retriever, "retriever-unknown")]


class HybridSettings(StepSettings):
    """The hybrid parameters; the server's defaults where they are absent."""

    top_k: Annotated[
        Annotated[int, Field(ge=1)] | None,
        at_least_one("top-k-not-positive"),
        Field(description="The most matches; the pipeline's top_k when absent."),
    ] = None
    alpha: Annotated[
        _Share | None,
        Field(
            description=(
                "The dense retriever's weight in a weighted fusion, which it asks for where `fusion` is absent; the "
                "server's default when absent."
            )
        ),
    ] = None
    min_sim: Annotated[
        _Share | None,
        Field(
            description=(
                "The least similarity of a dense candidate; when absent the server's default, and none where a filter "
                "narrows the query."
            )
        ),
    ] = None
    vec_limit: Annotated[
        _ListLimit | None,
        Field(description="The most dense candidates; the server's default when absent."),
    ] = None
    lex_limit: Annotated[
        _ListLimit | None,
        Field(description="The most candidates of each other retriever; the server's default when absent."),
    ] = None
    trgm_limit: Annotated[
        _Share | None,
        Field(description=("The least similarity of a trigram candidate; the server's default when absent.")),
    ] = None
    max_candidates: Annotated[
        Annotated[int, Field(ge=1, le=100_000)] | None,
        Field(
            description=(
                "The most candidates after the fusion, no less than `top_k`, `vec_limit` and `lex_limit` that the step "
                "gives; all when absent."
            )
        ),
    ] = None
    diversify_strength: Annotated[
        _Share | None,
        Field(
            description=("How much matches that resemble better ones are held back; the server's default when absent.")
        ),
    ] = None

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
        """The parameters of a request for that many matches; a pipeline's `top_k` gives way to `max_candidates`."""
        if self.top_k is None and self.max_candidates is not None:
            top_k = min(top_k, self.max_candidates)
        given = {name: getattr(self, name) for name in HybridSettings.model_fields}
        return HybridParameters(**{**given, "top_k": top_k})


class RankingSettings(KeyGroup):
    """The ranking parameters; the server's defaults where they are absent."""

    file_weight: Annotated[_Share | None, Field(description="How much a match gains by its whole file.")] = None
    test_factor: Annotated[_Share | None, Field(description="What a test's score is multiplied by.")] = None
    generated_factor: Annotated[
        _Share | None, Field(description="What the score of generated code is multiplied by.")
    ] = None
    prose_factor: Annotated[_Share | None, Field(description="What the score of prose is multiplied by.")] = None
    fragment_factor: Annotated[
        _Share | None, Field(description="What the score of a text below 80 characters is multiplied by.")
    ] = None
    graph_weight: Annotated[
        _Share | None, Field(description="How much a match gains by neighbours that match too.")
    ] = None
    repeat_factor: Annotated[
        _Share | None, Field(description="What a score is multiplied by for each better match of its file.")
    ] = None

    @property
    def parameters(self) -> RankingParameters:
        """The ranking parameters of a request."""
        return RankingParameters(**self.model_dump())


class QuerySettings(HybridSettings):
    """The keys of a `query` step."""

    query_from: QueryFrom = "last_model_response"
    query_parser: Annotated[
        QueryParser | None,
        one_of(QueryParser, "query-parser-unknown"),
        Field(description="Reads filters out of the query; without it the query is plain text."),
    ] = None
    retrievers: Annotated[
        tuple[_OneRetriever, ...], Field(description="The retrievers to ask; every one that the index has when absent.")
    ] = ()
    fusion: Annotated[
        Annotated[str, NameIn(FusionMode, "fusion-unknown")] | None,
        Field(
            description=(
                "How the retrievers' lists become one; when absent, weighted where `alpha` is given, else the server's "
                "choice."
            )
        ),
    ] = None
    rrf_k: Annotated[
        int | None,
        Field(description="The constant of a fusion by reciprocal rank, 1 to 1,000,000, else ignored; 60 when absent."),
    ] = None
    rerank: Annotated[bool, Field(description="Has the server rerank the best candidates.")] = False
    ranking: Annotated[
        RankingSettings, Field(description="How files, kinds of text and the graph change the order.")
    ] = RankingSettings()
    freshness_half_life_days: Annotated[
        Annotated[float, Field(ge=0, le=36_500)] | None,
        Field(
            description=(
                "Days until what a conversation gains by being recent is halved, 0 for no freshness; the server's "
                "default when absent."
            )
        ),
    ] = None
    freshness_weight: Annotated[
        _Share | None,
        Field(
            description=(
                "The share of being recent in a conversation's score, 0 for no freshness; the server's default "
                "when absent."
            )
        ),
    ] = None
    include_parents: Annotated[
        bool, Field(description="Also brings the nodes that contain a match, after the matches, as the budget allows.")
    ] = True
    include_neighbors: Annotated[bool, Field(description="Also brings the chunks before and after a match.")] = False
    budget_tokens: Annotated[
        int | None,
        at_least_one("budget-not-positive"),
        Field(ge=1, description="The most tokens in all; 70 % of max_context_tokens, rounded down, when absent."),
    ] = None
    expand_graph: Annotated[
        bool,
        Field(
            description="Also brings the services around the matches, which a render step then tells below the texts."
        ),
    ] = False
    not_found_when_empty: Annotated[
        bool,
        Field(description="Fails with `server-no-matches` when nothing matches, instead of going on with nothing."),
    ] = False
    process: Annotated[
        str, Field(description="The process that asks: chooses a rule of the server's routing, if it has any.")
    ] = ""
    doc_class: Annotated[str, Field(description="The class of documents that is meant; see `process`.")] = ""
    workflow_id: Annotated[str, Field(description="The workflow that asks; see `process`.")] = ""
    filter: FilterKey = None
    budget_factor: BudgetFactor = None

    @model_validator(mode="after")
    def _rrf_k_within_bounds(self) -> Self:
        if self.fusion == "rrf":
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
