"""`search_nodes`: selects the nodes that match a query best, as ids. Reads no text."""

from collections.abc import Collection
from typing import Annotated, Final, Literal, Self, TypeAlias, get_args

from pydantic import BeforeValidator, Field, model_validator

from groundwire_client import NodeFilter, Rerank, Retriever, SearchNodesResponse, SearchType, choices, ids
from groundwire_pipelines.action_definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.action_parts.key_rules import OneOf, at_least_one, broken, check_rrf_k
from groundwire_pipelines.action_parts.query_input import (
    QueryFrom,
    QueryParser,
    effective_top_k,
    parsed_query,
    read_by,
    with_filters,
)
from groundwire_pipelines.action_parts.scope import narrowed, pin, scopes_of, sending
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.filter_keys import FilterKey
from groundwire_pipelines.parsing.filters import why_none_passes
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.settings import RetrievalMode
from groundwire_pipelines.state import RETRIEVED, PipelineState, SearchReport

_Mode: TypeAlias = Literal["semantic", "bm25", "hybrid"]
SearchBy: TypeAlias = Literal[_Mode, "from_router"]
"""How a step searches: one of the server's modes, or the one that the router chose."""
_ROUTED: Final = get_args(get_args(RetrievalMode)[0])
_MOST_TOKENS: Final = 16
"""The most words of the query that a hit states."""
_OF_MODES: Final = OneOf(get_args(_Mode), "search-type-unknown")
_OF_WAYS: Final = OneOf(get_args(SearchBy), "search-type-unknown")
_RERANKS: Final = {
    **choices(Rerank),
    "keyword_rerank": Rerank.RERANK_KEYWORD,
    "codebert_rerank": Rerank.RERANK_CODEBERT,
}


def _search_by(value: object) -> object:
    return tuple(map(_OF_MODES.checked, value)) if isinstance(value, list) else _OF_WAYS.checked(value)


class SearchSettings(StepSettings):
    """The keys of a `search_nodes` step."""

    search_type: Annotated[SearchBy | Annotated[tuple[_Mode, ...], Field(min_length=1)], BeforeValidator(_search_by)]
    """The mode of the search; `from_router` for the router's choice; of a list, the first mode that is in the
    pipeline's `retrieval_modes`. A router's semantic_rerank is a semantic search with the rerank `keyword_rerank`."""
    top_k: Annotated[Annotated[int, Field(ge=1)] | None, at_least_one("top-k-not-positive")] = None
    """The most nodes to select; the pipeline's top_k when absent."""
    rerank: Annotated[str, OneOf(_RERANKS, "rerank-unknown")] = "none"
    """The rerank of a semantic search, which then needs semantic_rerank among `retrieval_modes`; none when absent.
    `keyword` and `codebert` are short for `keyword_rerank` and `codebert_rerank`."""
    rrf_k: int | None = None
    """The constant of a hybrid search's fusion, 1 or more; ignored by other searches; 60 when absent."""
    query_parser: QueryParser = None
    query_from: QueryFrom = "last_model_response"
    filter: FilterKey = None

    @model_validator(mode="after")
    def _rerank_is_of_semantic(self) -> Self:
        if self.rerank != "none" and self.search_type != "semantic":
            raise broken(
                "rerank-not-semantic", f"rerank {self.rerank!s} needs search_type semantic, not {self.search_type!s}"
            )
        return self

    @model_validator(mode="after")
    def _rrf_k_within_bounds(self) -> Self:
        check_rrf_k(self.rrf_k)
        return self


def _mode(step: SearchSettings, state: PipelineState, modes: Collection[str]) -> str:
    """The mode to search in, one of the pipeline's `retrieval_modes`."""
    if step.search_type != "from_router":
        offered = _modes(step)
        mode = next((mode for mode in offered if mode in modes), offered[0])
    elif state.retrieval_mode in _ROUTED:
        mode = state.retrieval_mode
    else:
        chosen = repr(state.retrieval_mode) if state.retrieval_mode else "none"
        raise StepError("mode-missing", f"from_router takes {', '.join(_ROUTED)}, and the router chose {chosen}")
    if mode not in modes:
        raise StepError("mode-not-supported", f"the mode {mode} is not among retrieval_modes ({', '.join(modes)})")
    return mode


async def _search(step: SearchSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    state.clear_retrieval()
    scopes = scopes_of(state)
    mode = _mode(step, state, runtime.settings.retrieval_modes)
    reranked = mode == "semantic_rerank"
    top_k = effective_top_k(step.top_k, runtime.settings)
    parsed = parsed_query(step.query_from, step.query_parser, state)
    base = narrowed(state, step.filter)
    detail: dict[str, str | int | float | bool] = {"mode": mode, "top_k": top_k}
    filter, without_effect = with_filters(parsed, base, state)
    detail |= without_effect
    if reason := why_none_passes(filter):
        detail["reason"] = reason
    with sending():
        response = await runtime.retrieval.search(
            scopes,
            parsed.text,
            search_type=choices(SearchType)["semantic" if reranked else mode],
            top_k=top_k,
            filter=filter,
            rrf_k=step.rrf_k if mode == "hybrid" else None,
            rerank=_RERANKS["keyword" if reranked and step.rerank == "none" else step.rerank],
            explain=True,
            lifecycle=runtime.settings.wire_lifecycle,
            access=state.retrieval_access,
        )
    pin(state, response.index, response.scopes)
    state.retrieval_seed_nodes = ids(response)
    state.retrieval_hits = list(response.hits)
    state.search_report = SearchReport(
        hits=len(response.hits),
        reason=reason,
        is_filtered=filter != NodeFilter(),
        similarity=_similarity(response),
        words=_words(response),
    )
    return Outcome(detail={**detail, "hits": len(response.hits), "exact": response.exact})


def _similarity(response: SearchNodesResponse) -> float | None:
    """The best cosine; None for a search by words alone. Other scores are comparable only within one response."""
    dense = Retriever.RETRIEVER_DENSE
    return max(
        (
            retriever_score.score
            for hit in response.hits
            for retriever_score in hit.retrievers
            if retriever_score.retriever == dense
        ),
        default=None,
    )


def _words(response: SearchNodesResponse) -> float | None:
    """The most of the query's words that one hit has, as a share; None for a search that does not compare words."""
    words = min(len(response.debug.query_tokens), _MOST_TOKENS)
    return max((len(hit.matched_tokens) / words for hit in response.hits), default=0.0) if words else None


def _modes(step: SearchSettings) -> tuple[str, ...]:
    """The modes; the pipeline must have one of them, and with a router any may be chosen."""
    if isinstance(step.search_type, tuple):
        return step.search_type
    if step.search_type == "from_router":
        return ()
    return (step.search_type if step.rerank == "none" else "semantic_rerank",)


ACTION = Action(
    name="search_nodes",
    summary="Selects the nodes that match a query best, as ids; starts a new retrieval.",
    settings=SearchSettings,
    run=_search,
    settings_needed=lambda step: () if step.top_k is not None else ("top_k",),
    modes_of=_modes,
    data_of=lambda step: DataFlow(
        reads=(*read_by(step.query_from), *(("retrieval_mode",) if step.search_type == "from_router" else ())),
        clears=RETRIEVED,
        writes=("retrieval_seed_nodes", "retrieval_hits", "search_report", "filter_notes"),
    ),
)
