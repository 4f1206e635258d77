"""`search_nodes`: selects the nodes that match a query best, as ids. Reads no text."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final, Self

from pydantic import BeforeValidator, Field, model_validator

from groundwire_client import NodeFilter, Rerank, SearchNodesResponse, SearchType, choices, ids
from groundwire_pipelines.actions.definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.actions.query_input import QueryFrom, QueryParser, effective_top_k, parsed_query, read_by
from groundwire_pipelines.actions.rules import NameIn, at_least_one, broken, check_rrf_k, choice_of, one_of
from groundwire_pipelines.actions.scope import NOTHING_PASSES, narrowed, pin, scope_of, sending
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.filter_keys import FilterKey
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import RETRIEVED, PipelineState, SearchReport


class SearchBy(StrEnum):
    """How a step looks for nodes: one of the server's ways, or the router's choice among them."""

    SEMANTIC = "semantic"
    BM25 = "bm25"
    HYBRID = "hybrid"
    FROM_ROUTER = "from_router"


class Mode(StrEnum):
    """The modes of `retrieval_modes`."""

    SEMANTIC = "semantic"
    SEMANTIC_RERANK = "semantic_rerank"
    BM25 = "bm25"
    HYBRID = "hybrid"


def _search_by(value: object) -> SearchBy | tuple[Mode, ...]:
    if isinstance(value, list):
        return tuple(choice_of(Mode, "search-type-unknown", item) for item in value)
    return choice_of(SearchBy, "search-type-unknown", value)


class SearchSettings(StepSettings):
    """The keys of a `search_nodes` step."""

    search_type: Annotated[SearchBy | Annotated[tuple[Mode, ...], Field(min_length=1)], BeforeValidator(_search_by)]
    """How to look for nodes; `from_router` as the router chose; of a list of modes by the first that the pipeline's
    `retrieval_modes` has. The mode semantic_rerank is a semantic search with the rerank keyword."""
    top_k: Annotated[Annotated[int, Field(ge=1)] | None, at_least_one("top-k-not-positive")] = None
    """The most nodes to select; the pipeline's top_k when absent."""
    rerank: Annotated[str, NameIn(Rerank, "rerank-unknown")] = "none"
    """Reorders a semantic search; none when absent."""
    rrf_k: int | None = None
    """The constant of a hybrid search's fusion, 1 to 1,000,000, else ignored; 60 when absent."""
    query_parser: Annotated[QueryParser | None, one_of(QueryParser, "query-parser-unknown")] = None
    """Reads filters out of the query; without it the query is plain text."""
    query_from: QueryFrom = "last_model_response"
    filter: FilterKey = None

    @model_validator(mode="after")
    def _rerank_is_of_semantic(self) -> Self:
        if self.rerank != "none" and self.search_type is not SearchBy.SEMANTIC:
            raise broken(
                "rerank-not-semantic",
                f"rerank {self.rerank!s} goes with search_type semantic alone, not with {self.search_type!s}",
            )
        return self

    @model_validator(mode="after")
    def _rrf_k_within_bounds(self) -> Self:
        if self.search_type is SearchBy.HYBRID:
            check_rrf_k(self.rrf_k)
        return self


@dataclass(frozen=True, slots=True)
class _Way:
    """How to look, and the name of it among the pipeline's `retrieval_modes`."""

    mode: str
    search_type: str
    rerank: str = "none"


_WAYS: Final[Mapping[str, _Way]] = {
    Mode.SEMANTIC: _Way("semantic", "semantic"),
    Mode.SEMANTIC_RERANK: _Way("semantic_rerank", "semantic", "keyword"),
    Mode.BM25: _Way("bm25", "bm25"),
    Mode.HYBRID: _Way("hybrid", "hybrid"),
}


def _way(step: SearchSettings, state: PipelineState, modes: Collection[str]) -> _Way:
    if isinstance(step.search_type, tuple):
        way = _WAYS[next((mode for mode in step.search_type if mode in modes), step.search_type[0])]
    elif step.search_type is not SearchBy.FROM_ROUTER:
        way = _Way(_modes(step)[0], step.search_type.value, step.rerank)
    elif state.retrieval_mode in _WAYS:
        way = _WAYS[state.retrieval_mode]
    else:
        chosen = repr(state.retrieval_mode) if state.retrieval_mode else "none"
        raise StepError("mode-missing", f"from_router takes {', '.join(_WAYS)}, and the router chose {chosen}")
    if way.mode not in modes:
        raise StepError("mode-not-supported", f"the mode {way.mode} is not among retrieval_modes ({', '.join(modes)})")
    return way


async def _search(step: SearchSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    state.clear_retrieval()
    scope = scope_of(state)
    way = _way(step, state, runtime.settings.retrieval_modes)
    top_k = effective_top_k(step.top_k, runtime.settings)
    parsed = parsed_query(step.query_from, step.query_parser, state)
    filter = narrowed(state, step.filter, parsed.filter)
    detail: dict[str, str | int | float | bool] = {"mode": way.mode, "top_k": top_k}
    if parsed.dropped:
        detail["dropped_filters"] = ", ".join(parsed.dropped)
    if filter is None:
        state.search_report = SearchReport(0, reason=NOTHING_PASSES)
        return Outcome(detail={**detail, "hits": 0, "reason": NOTHING_PASSES})
    with sending():
        found = await runtime.retrieval.search(
            scope,
            parsed.query,
            search_type=choices(SearchType)[way.search_type],
            top_k=top_k,
            filter=filter,
            rrf_k=step.rrf_k if way.search_type == "hybrid" else None,
            rerank=choices(Rerank)[way.rerank],
            lifecycle=runtime.settings.wire_lifecycle,
            access=state.retrieval_access,
        )
    pin(state, found.index)
    state.retrieval_seed_nodes = ids(found)
    state.retrieval_hits = list(found.hits)
    state.search_report = SearchReport(
        hits=len(found.hits), is_filtered=filter != NodeFilter(), similarity=_similarity(way, found)
    )
    return Outcome(detail={**detail, "hits": len(found.hits), "exact": found.exact})


def _modes(step: SearchSettings) -> tuple[str, ...]:
    """The modes of which the pipeline must have one; any may be the router's."""
    if isinstance(step.search_type, tuple):
        return step.search_type
    if step.search_type is SearchBy.FROM_ROUTER:
        return ()
    return (step.search_type.value if step.rerank == "none" else "semantic_rerank",)


def _similarity(way: _Way, found: SearchNodesResponse) -> float | None:
    """The best hit's cosine. Scores of other searches mean something only beside those of the same answer."""
    if way.mode != Mode.SEMANTIC:
        return None
    return max((hit.score for hit in found.hits), default=None)


ACTION = Action(
    name="search_nodes",
    summary="Selects the nodes that match a query best, as ids; starts a retrieval afresh.",
    settings=SearchSettings,
    run=_search,
    settings_needed=lambda step: () if step.top_k is not None else ("top_k",),
    modes_of=_modes,
    data_of=lambda step: DataFlow(
        reads=(
            *read_by(step.query_from),
            *(("retrieval_mode",) if step.search_type is SearchBy.FROM_ROUTER else ()),
        ),
        clears=RETRIEVED,
        writes=("retrieval_seed_nodes", "retrieval_hits", "search_report"),
    ),
)
