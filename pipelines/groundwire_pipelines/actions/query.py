"""`query`: the whole retrieval in one call, which keeps the texts of its matches for the evidence."""

from collections.abc import Sequence

from groundwire.evidence.question_words import stems
from groundwire_client import (
    FusionMode,
    NodeFilter,
    NodeText,
    OfferedText,
    QueryClass,
    QueryMatch,
    QueryResponse,
    Retriever,
    SearchHit,
    SkippedNode,
    choice,
    choices,
    ids,
    offered_texts,
)
from groundwire_pipelines.action_definition import Action, DataFlow, Outcome
from groundwire_pipelines.action_parts.query_input import effective_top_k, parsed_query, read_by, with_filters
from groundwire_pipelines.action_parts.query_settings import QuerySettings
from groundwire_pipelines.action_parts.scope import narrowed, pin, scopes_of, sending
from groundwire_pipelines.action_parts.text_budget import budget_of_context
from groundwire_pipelines.parsing.filters import why_none_passes
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import RETRIEVED, PipelineState, SearchReport


async def _query(step: QuerySettings, state: PipelineState, runtime: Runtime) -> Outcome:
    state.clear_retrieval()
    scopes = scopes_of(state)
    top_k = effective_top_k(step.top_k, runtime.settings)
    budget = step.budget_tokens or budget_of_context(runtime.settings, step.budget_factor)
    parsed = parsed_query(step.query_from, step.query_parser, state)
    base = narrowed(state, step.filter)
    detail: dict[str, str | int | float | bool] = {"top_k": top_k, "budget": budget}
    filter, without_effect = with_filters(parsed, base, state)
    detail |= without_effect
    if reason := why_none_passes(filter):
        detail["reason"] = reason
    with sending():
        response = await runtime.retrieval.query(
            scopes,
            parsed.text,
            hybrid=step.parameters(top_k),
            filter=filter,
            lifecycle=runtime.settings.wire_lifecycle,
            retrievers=[choices(Retriever)[name] for name in step.retrievers],
            fusion=choices(FusionMode)[step.fusion] if step.fusion else FusionMode.FUSION_MODE_UNSPECIFIED,
            rrf_k=step.rrf_k if step.fusion in ("rrf", None) else None,
            rerank=step.rerank,
            freshness_half_life_days=step.freshness_half_life_days,
            freshness_weight=step.freshness_weight,
            include_parents=step.include_parents,
            history=step.history,
            include_neighbors=step.include_neighbors,
            expand_graph=step.expand_graph,
            not_found_when_empty=step.not_found_when_empty and not reason,
            process=step.process,
            doc_class=step.doc_class,
            workflow_id=step.workflow_id,
            cap_top_k=step.cap_top_k,
            budget_tokens=budget,
            access=state.retrieval_access,
        )
    pin(state, response.index, response.scopes)
    state.retrieval_seed_nodes = ids(response)
    state.retrieval_hits = [
        SearchHit(id=match.id, score=match.score, rank=match.rank) for match in response.matches if match.rank
    ]
    state.node_texts = _texts(response.matches)
    state.services = list(response.service_context)
    state.skipped_texts = _skipped(response.matches)
    state.search_report = SearchReport(
        hits=len(ids(response)),
        reason=reason,
        is_filtered=filter != NodeFilter(),
        similarity=_similarity(response.matches),
        words=_words(parsed.text, response.matches),
        is_cut=response.meta.truncated,
    )
    return Outcome(detail={**detail, **_detail(response, state.node_texts)})


def _texts(matches: Sequence[QueryMatch]) -> list[NodeText]:
    """The texts within the budget, each once: of matches, their parents, their neighbours, and the parents of these."""
    hits = [match for match in matches if not match.meta.neighbor]
    beside = [match for match in matches if match.meta.neighbor]
    first: dict[str, NodeText] = {}
    for offered in (*offered_texts(hits), *offered_texts(beside)):
        if not offered.node.text_omitted:
            first.setdefault(offered.node.id, _text(offered))
    return list(first.values())


def _text(offered: OfferedText) -> NodeText:
    """The text, one edge farther away than its match if it is that of a node which contains the match."""
    node, match = offered.node, offered.match
    depth = int(match.meta.neighbor) + (0 if offered.is_of_match else 1)
    return NodeText(
        id=node.id,
        text=node.text,
        is_seed=depth == 0,
        depth=depth,
        parent_id=match.meta.neighbor_of if offered.is_of_match else match.id,
        token_count=node.token_count,
        location=node.location,
        symbol=match.symbol or match.section_path if offered.is_of_match else node.symbol,
        citation=node.citation,
    )


def _skipped(matches: Sequence[QueryMatch]) -> list[SkippedNode]:
    """The nodes without a text, and why."""
    nodes = [offered.node for offered in offered_texts(matches)]
    omitted = {node.id: node.omit_reason for node in nodes if node.text_omitted}
    return [SkippedNode(id=node_id, reason=reason) for node_id, reason in omitted.items()]


def _similarity(matches: Sequence[QueryMatch]) -> float | None:
    """The best score of the reranker, else the best cosine; None if there is neither.

    Both are comparable between queries, unlike the scores that order the matches.
    """
    scores = [match.scores for match in matches]
    reranked = [score.rerank for score in scores if score.HasField("rerank")]
    return max(reranked or [score.dense for score in scores if score.HasField("dense")], default=None)


def _words(query: str, matches: Sequence[QueryMatch]) -> float | None:
    """The most of the query's words that one match has, as a share; None for a query of words that say nothing.

    A name that is spelt much like one in the query counts by its trigram similarity.
    """
    question_stems = stems(query)
    hits = [match for match in matches if match.rank]
    had = (stems(" ".join((match.symbol, match.location.path, match.text))) for match in hits)
    shares = [len(question_stems & match_stems) / len(question_stems) for match_stems in had] if question_stems else []
    return max([*shares, *(match.scores.trigram for match in hits if match.scores.HasField("trigram"))], default=None)


def _detail(response: QueryResponse, kept: Sequence[NodeText]) -> dict[str, str | int | float | bool]:
    offered = {offered.node.id for offered in offered_texts(response.matches)}
    return {
        "fusion": choice(FusionMode, response.meta.fusion),
        "query_class": choice(QueryClass, response.meta.query_class),
        "matches": len(ids(response)),
        "exact": response.meta.exact,
        "texts": len(kept),
        "tokens": sum(text.token_count for text in kept),
        "skipped": len(offered) - len(kept),
    }


ACTION = Action(
    name="query",
    summary="Runs the whole retrieval in one call and keeps the texts; starts a new retrieval.",
    settings=QuerySettings,
    run=_query,
    settings_needed=lambda step: (
        *(() if step.top_k is not None else ("top_k",)),
        *(() if step.budget_tokens is not None else ("max_context_tokens",)),
    ),
    data_of=lambda step: DataFlow(
        reads=read_by(step.query_from),
        clears=RETRIEVED,
        writes=(
            "retrieval_seed_nodes",
            "retrieval_hits",
            "node_texts",
            "skipped_texts",
            "search_report",
            "filter_notes",
        ),
    ),
)
