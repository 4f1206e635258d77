"""`query`: the whole retrieval in one call, which leaves the texts of its matches as evidence."""

from collections.abc import Sequence

from groundwire_client import Hit, NodeText, ParentContext, QueryMatch, QueryResult
from groundwire_pipelines.actions.definition import Action, DataFlow, Outcome
from groundwire_pipelines.actions.query_input import effective_top_k, parsed_query, read_by
from groundwire_pipelines.actions.query_settings import QuerySettings
from groundwire_pipelines.actions.scope import NOTHING_PASSES, narrowed, pin, scope_of, sending
from groundwire_pipelines.actions.text_budget import budget_of_context
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import RETRIEVED, PipelineState


async def _query(step: QuerySettings, state: PipelineState, runtime: Runtime) -> Outcome:
    state.clear_retrieval()
    scope = scope_of(state)
    top_k = effective_top_k(step.top_k, runtime.settings)
    budget = step.budget_tokens or budget_of_context(runtime.settings, step.budget_factor)
    parsed = parsed_query(step.query_from, step.query_parser, state)
    filter = narrowed(state, step.filter, parsed.filter)
    detail: dict[str, str | int | float | bool] = {"top_k": top_k, "budget": budget}
    if parsed.dropped:
        detail["dropped_filters"] = ", ".join(parsed.dropped)
    if filter is None:
        return Outcome(detail={**detail, "matches": 0, "reason": NOTHING_PASSES})
    with sending():
        found = await runtime.retrieval.query(
            scope,
            parsed.query,
            hybrid=step.parameters(top_k),
            filter=filter,
            visibility=step.visibility,
            sources=step.sources,
            fusion=step.fusion,
            rrf_k=step.rrf_k,
            rerank=step.rerank,
            ranking=step.ranking.parameters,
            freshness_half_life_days=step.freshness_half_life_days,
            freshness_weight=step.freshness_weight,
            include_parents=step.include_parents,
            include_neighbors=step.include_neighbors,
            expand_graph=step.expand_graph,
            not_found_when_empty=step.not_found_when_empty,
            process=step.process,
            doc_class=step.doc_class,
            workflow_id=step.workflow_id,
            budget_tokens=budget,
            access=state.retrieval_access,
        )
    pin(state, found.index)
    state.retrieval_seed_nodes = list(found.ids)
    state.retrieval_hits = [Hit(match.id, match.score, match.rank) for match in found.matches if match.rank]
    state.node_texts = _texts(found.matches)
    state.services = list(found.service_context)
    return Outcome(detail={**detail, **_told(step, found), **_counts(found, state.node_texts)})


def _texts(matches: Sequence[QueryMatch]) -> list[NodeText]:
    """What the budget held, none twice: matches, what contains them, what is beside them."""
    hits = [match for match in matches if not match.meta.neighbor]
    beside = [match for match in matches if match.meta.neighbor]
    texts = [
        *(_match_text(match) for match in hits if not match.text_omitted),
        *(_parent_text(parent, hit.id) for hit in hits for parent in hit.meta.parents if not parent.text_omitted),
        *(_match_text(match) for match in beside if not match.text_omitted),
    ]
    first: dict[str, NodeText] = {}
    for text in texts:
        first.setdefault(text.id, text)
    return list(first.values())


def _match_text(match: QueryMatch) -> NodeText:
    """A match as the seed that it is, a neighbour as a node one step away from its match."""
    return NodeText(
        id=match.id,
        text=match.text,
        is_seed=not match.meta.neighbor,
        depth=1 if match.meta.neighbor else 0,
        parent_id=match.meta.neighbor_of,
        token_count=match.token_count,
        location=match.citation,
        symbol=match.symbol_name or match.section_path,
    )


def _parent_text(parent: ParentContext, match_id: str) -> NodeText:
    """What contains a match, as a node one step away from it."""
    return NodeText(
        id=parent.id,
        text=parent.text,
        is_seed=False,
        depth=1,
        parent_id=match_id,
        token_count=parent.token_count,
        location=parent.citation,
        symbol=parent.symbol,
    )


def _told(step: QuerySettings, found: QueryResult) -> dict[str, str | int | float | bool]:
    return {
        "fusion": step.fusion.value,
        "query_class": found.meta.query_class.value,
        "matches": len(found.ids),
        "exact": found.meta.exact,
    }


def _counts(found: QueryResult, kept: Sequence[NodeText]) -> dict[str, str | int | float | bool]:
    parents = {parent.id for match in found.matches for parent in match.meta.parents}
    offered = parents | {match.id for match in found.matches}
    tokens = sum(text.token_count for text in kept)
    return {"texts": len(kept), "tokens": tokens, "skipped": len(offered) - len(kept)}


ACTION = Action(
    name="query",
    summary="Finds what answers a question in one call and keeps its texts; starts a retrieval afresh.",
    settings=QuerySettings,
    run=_query,
    settings_needed=lambda step: (
        *(() if step.top_k is not None else ("top_k",)),
        *(() if step.budget_tokens is not None else ("max_context_tokens",)),
    ),
    data_of=lambda step: DataFlow(
        reads=read_by(step.query_from),
        clears=RETRIEVED,
        writes=("retrieval_seed_nodes", "retrieval_hits", "node_texts"),
    ),
)
