"""`gather_evidence`: the evidence for a question, made by the server in one call."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from groundwire.v1.evidence_pb2 import GatherEvidenceResponse, NamedNode, Passage, PassageForm
from groundwire_client import NodeFilter, ReachedNode, Retriever, SearchHit, choices, scope_name
from groundwire_pipelines.action_definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.action_parts.key_rules import OneOf, broken
from groundwire_pipelines.action_parts.prompt_evidence import WRITTEN, budget_for_new, earlier_ids, forget_many, lay_out
from groundwire_pipelines.action_parts.query_input import QueryFrom, QueryParser, parsed_query, read_by, with_filters
from groundwire_pipelines.action_parts.scope import narrowed, pin, scopes_of, sending
from groundwire_pipelines.action_parts.text_budget import max_context_tokens
from groundwire_pipelines.evidence_nodes import EvidenceNode, ShownText
from groundwire_pipelines.filter_keys import FilterKey
from groundwire_pipelines.parsing.filters import why_none_passes
from groundwire_pipelines.parsing.search_query import MAX_QUERY_CHARACTERS, ParsedQuery, fitting_phrasings
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.settings import PipelineSettings
from groundwire_pipelines.state import RETRIEVED, PipelineState, SearchReport

_LEAST_BUDGET, _MOST_BUDGET = 200, 100_000
"""The bounds of the contract."""
_DENSE: Final = Retriever.RETRIEVER_DENSE
_LEXICAL: Final = (Retriever.RETRIEVER_BM25_CODE, Retriever.RETRIEVER_BM25_PROSE, Retriever.RETRIEVER_TRIGRAM)
_BY_MODE: Final = {"semantic": (_DENSE,), "semantic_rerank": (_DENSE,), "bm25": _LEXICAL, "hybrid": (_DENSE, *_LEXICAL)}


class GatherSettings(StepSettings):
    """The keys of a `gather_evidence` step."""

    query_from: QueryFrom = "question"
    query_parser: QueryParser = None
    phrased_from: QueryFrom | None = None
    """The origin of a query, with its own phrasings and filters, that says the same in other words, such as
    `last_model_response` after a router. Both are searched for together."""
    phrasings: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """The question in the words of code: technical terms, and names that the code is likely to use."""
    retrievers: Literal["from_router"] | tuple[Annotated[str, OneOf(choices(Retriever), "retriever-unknown")], ...] = ()
    """The retrievers to use; `from_router` for those of the router's mode. When absent or without such a mode, those of
    the pipeline's `retrieval_modes`."""
    rerank: bool = False
    """True if the server's reranker, which it then must have, orders the matches; with `retrievers: from_router` only
    after a router's choice of semantic_rerank."""
    graph_share: Annotated[float | None, Field(ge=0, le=1)] = None
    """The share of the budget that is open to nodes which edges join to the best matches; the server's default when
    absent, 0 to follow no edge."""
    history: bool = False
    """True to show older definitions of an object after the current one; else they are counted with it."""
    budget_factor: Annotated[int, Field(ge=1, le=100)] = 1
    """How many times max_context_tokens the evidence may take; more than 1 if a later step summarises it."""
    filter: FilterKey = None

    @model_validator(mode="after")
    def _each_retriever_once(self) -> Self:
        if len(set(self.retrievers)) < len(self.retrievers) and self.retrievers != "from_router":
            raise broken("retriever-repeated", f"retrievers names one twice: {', '.join(self.retrievers)}")
        return self


async def _gather(step: GatherSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Gathers evidence for the question, and lays it out with that of earlier retrievals, within `max_context_tokens`.

    Passages that a prompt of the question shows already are not gathered again, and keep their numbers. Of earlier
    evidence as much is shown as has room beside the new one, which may take one half at least.

    Raises:
        StepError: `query-empty`, `output-missing`, `max-context-tokens-missing`.
    """
    state.clear_retrieval()
    forget_many(state)
    scopes = scopes_of(state)
    budget = max_context_tokens(runtime.settings) * step.budget_factor
    parsed = _parsed(step, state)
    filter, without_effect = with_filters(parsed, narrowed(state, step.filter), state)
    reason = why_none_passes(filter)
    with sending():
        gathered = await runtime.retrieval.evidence(
            scopes,
            parsed.query,
            min(max(budget_for_new(state, runtime, budget), _LEAST_BUDGET), _MOST_BUDGET),
            phrasings=parsed.phrasings,
            shown_ids=earlier_ids(state),
            graph_share=step.graph_share,
            history=step.history,
            rerank=_reranks(step, state),
            retrievers=_retrievers(step, state, runtime.settings),
            filter=filter,
            lifecycle=runtime.settings.wire_lifecycle,
            access=state.retrieval_access,
        )
    response = gathered.response
    pin(state, response.index, response.scopes)
    _keep(response, state)
    state.search_report = replace(_report(response), reason=reason, is_filtered=filter != NodeFilter())
    lay_out(state, runtime, budget)
    return Outcome(
        detail={
            "passages": len(response.passages),
            "from_graph": sum(passage.HasField("edge") for passage in response.passages),
            "named": len(response.named),
            "tokens": response.used_tokens,
            "phrasings": len(parsed.phrasings),
            "weak": state.search_report.is_weak,
            **without_effect,
            **({"reason": reason} if reason else {}),
        }
    )


def _parsed(step: GatherSettings, state: PipelineState) -> ParsedQuery:
    """The question with all phrasings and the filters of the query that was written for it."""
    parsed = parsed_query(step.phrased_from or step.query_from, step.query_parser, state)
    query, phrasings = parsed.query, parsed.phrasings
    if step.phrased_from is not None:
        question = parsed_query(step.query_from, None, state).query
        if len(question) <= MAX_QUERY_CHARACTERS:  # else the query alone is searched for
            query, phrasings = question, (parsed.query, *phrasings)
    return replace(parsed, query=query, phrasings=fitting_phrasings(query, (*phrasings, *step.phrasings)))


def _retrievers(
    step: GatherSettings, state: PipelineState, settings: PipelineSettings
) -> Sequence[Retriever.ValueType]:
    """The retrievers of the request; none means every one that the index has data for."""
    if step.retrievers and step.retrievers != "from_router":
        return [choices(Retriever)[name] for name in step.retrievers]
    is_routed = step.retrievers == "from_router" and state.retrieval_mode in _BY_MODE
    modes = (state.retrieval_mode,) if is_routed else settings.retrieval_modes
    chosen = {retriever for mode in modes for retriever in _BY_MODE[mode]}
    return () if len(chosen) == len(_LEXICAL) + 1 else sorted(chosen)


def _reranks(step: GatherSettings, state: PipelineState) -> bool:
    return step.rerank and (step.retrievers != "from_router" or state.retrieval_mode == "semantic_rerank")


def _keep(response: GatherEvidenceResponse, state: PipelineState) -> None:
    """Keeps what the evidence is made of: the matches as hits, and all of its nodes and edges."""
    matching_passages = sorted(
        (passage for passage in response.passages if passage.HasField("match")), key=lambda passage: passage.match.rank
    )
    state.retrieval_hits = [
        SearchHit(
            id=passage.id,
            score=passage.match.score,
            rank=passage.match.rank,
            symbol=passage.symbol,
            location=passage.location,
        )
        for passage in matching_passages
    ]
    named_in_question = [passage.id for passage in response.passages if passage.HasField("name")]
    state.retrieval_seed_nodes = [*(passage.id for passage in matching_passages), *named_in_question]
    if not state.retrieval_seed_nodes:
        state.retrieval_seed_nodes = [named_node.id for named_node in response.named]
    state.graph_seed_nodes = list(state.retrieval_seed_nodes)
    numbers = {passage.number: passage.id for passage in response.passages}
    state.graph_expanded_nodes = [
        *(
            _reached(passage, numbers.get(passage.edge.number, "") if passage.HasField("edge") else "")
            for passage in response.passages
        ),
        *(_reached(named_node, "") for named_node in response.named),
    ]
    state.graph_edges = [
        *response.edges,
        *(passage.edge.edge for passage in response.passages if passage.HasField("edge")),
    ]
    state.is_rendered, state.rendered = True, response.rendered
    state.added = [_shown(passage, state) for passage in response.passages]


def _reached(node: Passage | NamedNode, parent_id: str) -> ReachedNode:
    return ReachedNode(
        id=node.id, depth=1 if parent_id else 0, parent_id=parent_id, symbol=node.symbol, location=node.location
    )


def _shown(passage: Passage, state: PipelineState) -> ShownText:
    at = passage.location
    scope = scope_name(passage.scope.repository, passage.scope.branch) if state.scopes else ""
    depth = int(passage.HasField("edge"))
    return ShownText(
        passage.number,
        EvidenceNode(passage.id, passage.symbol, at.path, at.start_line, at.end_line, depth, passage.number, scope),
        "\n…\n".join(part.text for part in passage.parts),
        passage.token_count,
        passage.form == PassageForm.PASSAGE_FORM_WHOLE,
    )


def _report(response: GatherEvidenceResponse) -> SearchReport:
    is_weak = response.HasField("weak")
    similarities = [passage.match.similarity for passage in response.passages if passage.match.HasField("similarity")]
    if is_weak and response.weak.HasField("similarity"):
        similarities = [response.weak.similarity]
    return SearchReport(
        hits=len(response.passages) + len(response.named) + response.further_matches,
        similarity=max(similarities, default=None),
        words=response.weak.words if is_weak else None,
        is_weak=is_weak,
        weakness=response.weak.reason,
    )


ACTION = Action(
    name="gather_evidence",
    summary="Gathers evidence for a question in one call, within max_context_tokens; starts a new retrieval.",
    settings=GatherSettings,
    run=_gather,
    required_settings=("max_context_tokens",),
    data_of=lambda step: DataFlow(
        reads=(
            *read_by(step.query_from),
            *(read_by(step.phrased_from) if step.phrased_from is not None else ()),
            *(("retrieval_mode",) if step.retrievers == "from_router" else ()),
        ),
        clears=RETRIEVED,
        writes=(
            "retrieval_seed_nodes",
            "retrieval_hits",
            "graph_seed_nodes",
            "graph_expanded_nodes",
            "graph_edges",
            "search_report",
            "filter_notes",
            *WRITTEN,
        ),
    ),
)
