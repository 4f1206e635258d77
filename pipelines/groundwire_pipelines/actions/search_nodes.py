"""`search_nodes` (seed 000): selects the nodes that match a query best, as ids. Reads no text."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from groundwire_client import Rerank, SearchType
from groundwire_pipelines.actions.definition import Action, Outcome, StepSettings
from groundwire_pipelines.actions.query_input import QueryParser, QuerySource, effective_top_k, parsed_query
from groundwire_pipelines.actions.rules import at_least_one, broken, check_rrf_k, one_of
from groundwire_pipelines.actions.scope import pin, scope_of, sending
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.parsing.filters import merged
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState


class SearchSettings(StepSettings):
    """The keys of a `search_nodes` step."""

    search_type: Annotated[
        SearchType, one_of(SearchType, "search-type-unknown"), Field(description="How to look for nodes.")
    ]
    top_k: Annotated[
        Annotated[int, Field(ge=1)] | None,
        at_least_one("top-k-not-positive"),
        Field(description="The most nodes to select; the pipeline's top_k when absent."),
    ] = None
    rerank: Annotated[
        Rerank, one_of(Rerank, "rerank-unknown"), Field(description="Reorders a semantic search; none when absent.")
    ] = Rerank.NONE
    rrf_k: Annotated[
        int | None,
        Field(description="The constant of a hybrid search's fusion, 1 to 1,000,000, else ignored; 60 when absent."),
    ] = None
    query_parser: Annotated[
        QueryParser | None,
        one_of(QueryParser, "query-parser-unknown"),
        Field(description="Reads filters out of the query; without it the query is plain text."),
    ] = None
    query_from: Annotated[
        QuerySource, one_of(QuerySource, "query-from-unknown"), Field(description="Where the query comes from.")
    ] = QuerySource.LAST_MODEL_RESPONSE

    @model_validator(mode="after")
    def _rerank_is_of_semantic(self) -> Self:
        if self.rerank is not Rerank.NONE and self.search_type is not SearchType.SEMANTIC:
            raise broken(
                "rerank-not-semantic",
                f"rerank {self.rerank!s} goes with search_type semantic alone, not with {self.search_type!s}",
            )
        return self

    @model_validator(mode="after")
    def _rrf_k_within_bounds(self) -> Self:
        if self.search_type is SearchType.HYBRID:
            check_rrf_k(self.rrf_k)
        return self

    @property
    def mode(self) -> str:
        """The step's name among the pipeline's `retrieval_modes`."""
        return self.search_type.value if self.rerank is Rerank.NONE else "semantic_rerank"


async def _search(step: SearchSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    state.clear_retrieval()
    scope = scope_of(state)
    if step.mode not in runtime.settings.retrieval_modes:
        modes = ", ".join(runtime.settings.retrieval_modes)
        raise StepError("mode-not-supported", f"the mode {step.mode} is not among retrieval_modes ({modes})")
    top_k = effective_top_k(step.top_k, runtime.settings)
    parsed = parsed_query(step.query_from, step.query_parser, state)
    narrowed = merged(state.retrieval_filter, parsed.filter)
    detail: dict[str, str | int | float | bool] = {"mode": step.mode, "top_k": top_k}
    if parsed.dropped:
        detail["dropped_filters"] = ", ".join(parsed.dropped)
    if narrowed is None:
        # The caller's filter and the query's exclude each other. Dropping either would widen the search.
        return Outcome(detail={**detail, "hits": 0, "reason": "filters_exclude_each_other"})
    with sending():
        found = await runtime.retrieval.search(
            scope,
            parsed.query,
            search_type=step.search_type,
            top_k=top_k,
            filter=narrowed,
            rrf_k=step.rrf_k if step.search_type is SearchType.HYBRID else None,
            rerank=step.rerank,
            access=state.retrieval_access,
        )
    pin(state, found.index)
    state.retrieval_seed_nodes = list(found.ids)
    state.retrieval_hits = list(found.hits)
    return Outcome(detail={**detail, "hits": len(found.hits), "exact": found.exact})


ACTION = Action(
    name="search_nodes",
    summary="Selects the nodes that match a query best, as ids; starts a retrieval afresh.",
    settings=SearchSettings,
    run=_search,
    settings_needed=lambda step: () if step.top_k is not None else ("top_k",),
)
