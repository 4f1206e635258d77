"""`render_context_blocks`: renders the texts that were found for a question as evidence, within a budget."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from groundwire.evidence import evidence_nodes as made
from groundwire.evidence.choosing import Choice, Match, QuestionNames, choose
from groundwire.evidence.packing import Material, earlier_numbers, pack
from groundwire.evidence.question_words import QuestionWords, identifiers
from groundwire_client import EdgeDirection, NodeText
from groundwire_pipelines.action_definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.action_parts.evidence_text import weakness
from groundwire_pipelines.action_parts.key_rules import OneOf
from groundwire_pipelines.action_parts.prompt_evidence import WRITTEN, budget_for_new, earlier_ids, forget_many, lay_out
from groundwire_pipelines.action_parts.scope import pin, scopes_of, sending
from groundwire_pipelines.evidence_graph import edges_of, nodes_of, texts_of
from groundwire_pipelines.evidence_nodes import EvidenceNode, ShownText, distinct
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState

_MOST_SEEDS = 1_000
"""The most seeds of one walk."""
_SHARE_OF_PARENT = 0.6
"""What a node that a walk reached is worth, as a share of the node that it was reached from."""
_GRAPH_SHARE = 0.25


class RenderSettings(StepSettings):
    """The keys of a `render_context_blocks` step."""

    view: Annotated[str, OneOf(("flat", "graph"), "view-unknown")] = "flat"
    """`graph` shows edges, and texts by them; `flat` does not."""
    budget_factor: Annotated[int, Field(ge=1, le=100)] = 1
    """How many times max_context_tokens the evidence may take; more than 1 if a later step summarises it."""


async def _render(step: RenderSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Renders the texts of this retrieval by the rules of `gather_evidence`, within `max_context_tokens` if it is set.

    Evidence of earlier retrievals is shown beside it as far as it has room, and keeps its numbers.

    Raises:
        StepError: The error of the call that the view `graph` makes for the edges.
    """
    is_graph = step.view == "graph"
    if is_graph:
        await _bring_edges(state, runtime)
    most = runtime.settings.max_context_tokens
    show_texts(state, runtime, None if most is None else most * step.budget_factor, with_edges=is_graph)
    return Outcome(
        detail={
            "view": step.view,
            "texts": len(state.added),
            "shortened": sum(not shown_text.is_whole for shown_text in state.added),
            "left_out": len({text.id for text in state.node_texts}) - len(state.added),
            "tokens": runtime.counter.count("\n\n".join(state.context_blocks)),
        }
    )


def show_texts(
    state: PipelineState, runtime: Runtime, budget: int | None, *, with_edges: bool = False, notes: Sequence[str] = ()
) -> None:
    """Renders the texts of this retrieval below notes, and sets the evidence to what fits a budget in tokens.

    None means no limit.
    """
    forget_many(state)
    question = "\n".join((state.user_question_en or state.user_question, *state.data_requests))
    words = QuestionWords(question, [text.text for text in state.node_texts])
    known = {node.id: _named(node) for node in nodes_of(state)}
    earlier = earlier_numbers(earlier_ids(state))
    material = Material(
        choice=_choice(state, known, QuestionNames(words, identifiers(question)), with_edges=with_edges),
        words=words,
        earlier=earlier,
        earlier_nodes={node_id: known[node_id] for node_id in earlier if node_id in known},
        graph_share=_GRAPH_SHARE if with_edges else 0.0,
        weakness=weakness(state).rstrip("."),
        notes=notes,
    )
    evidence = pack(material, None if budget is None else budget_for_new(state, runtime, budget), runtime.counter)
    state.is_rendered = True
    state.rendered = evidence.rendered if state.node_texts or notes else ""
    state.added = [_shown(passage) for passage in evidence.passages]
    lay_out(state, runtime, budget)


def _choice(
    state: PipelineState, known: Mapping[str, made.EvidenceNode], question: QuestionNames, *, with_edges: bool
) -> Choice:
    """The nodes with texts, best first; with edges also those that can only be named."""
    values = _values(state)
    nodes = {text.id: _node(text, known[text.id].scope) for text in state.node_texts}
    matches = sorted((Match(node, values[node.id]) for node in nodes.values()), key=lambda match: -match.score)
    if not with_edges:
        return choose(matches, (), (), (), question)
    unread = [node for node in known.values() if node.id not in nodes]
    unread_matches = (Match(node, 0.0) for node in unread if node.id in state.retrieval_seed_nodes)
    return choose([*matches, *unread_matches], unread, (), edges_of(state), question)


def _values(state: PipelineState) -> Mapping[str, float]:
    """What each node is worth: a hit by its score, a node that a walk reached less the farther it is."""
    best = max((hit.score for hit in state.retrieval_hits), default=0.0)
    values: dict[str, float] = {}
    ceiling = 1.0
    for hit in state.retrieval_hits:  # diversification may have reordered hits
        ceiling = min(ceiling, max(hit.score, 0.0) / best) if best > 0.0 else ceiling
        values[hit.id] = ceiling
    for node in state.graph_expanded_nodes:  # by depth, so a node comes after its parent
        values.setdefault(node.id, _SHARE_OF_PARENT * values.get(node.parent_id, 1.0) if node.depth else ceiling)
    for text in state.node_texts:
        values.setdefault(text.id, _SHARE_OF_PARENT * values.get(text.parent_id, 1.0) if text.depth else ceiling)
    return values


def _node(text: NodeText, scope: str) -> made.EvidenceNode:
    known = EvidenceNode.of(text)
    return made.EvidenceNode(
        text.id, text.text, text.token_count, known.symbol, "", known.path, known.start_line, known.end_line, scope
    )


def _named(node: EvidenceNode) -> made.EvidenceNode:
    return made.EvidenceNode(
        node.id,
        symbol=node.symbol,
        path=node.path,
        start_line=node.start_line,
        end_line=node.end_line,
        scope=node.scope,
    )


def _shown(passage: made.Passage) -> ShownText:
    node = passage.node
    depth = int(isinstance(passage.reason, made.EdgeReason))
    return ShownText(
        passage.number,
        EvidenceNode(
            node.id, node.symbol, node.path, node.start_line, node.end_line, depth, passage.number, node.scope
        ),
        "\n…\n".join("\n".join(part.lines) for part in passage.excerpt.parts),
        passage.tokens,
        passage.excerpt.form is made.PassageForm.WHOLE,
    )


async def _bring_edges(state: PipelineState, runtime: Runtime) -> None:
    """Adds every edge among the nodes with texts that access, filter and settings allow.

    A walk returns only the edges from nodes above its last level, and a search returns none.
    """
    ids = list(dict.fromkeys(text.id for text in texts_of(state)))[:_MOST_SEEDS]
    if len(ids) < 2:  # an edge joins two nodes
        return
    settings = runtime.settings
    with sending():
        walked = await runtime.retrieval.expand(
            scopes_of(state),
            ids,
            max_depth=1,
            max_nodes=len(ids),
            edge_allowlist=settings.graph_edge_allowlist or ("*",),
            direction=EdgeDirection.EDGE_DIRECTION_OUTGOING,
            filter=state.retrieval_filter,
            min_confidence=settings.graph_min_confidence or 0.0,
            lifecycle=settings.wire_lifecycle,
            access=state.retrieval_access,
        )
    pin(state, walked.index, walked.scopes)
    state.graph_edges = distinct([*state.graph_edges, *walked.edges])


ACTION = Action(
    name="render_context_blocks",
    summary="Renders the texts found for the question with their paths and lines, within max_context_tokens.",
    settings=RenderSettings,
    run=_render,
    data_of=lambda _: DataFlow(reads=("node_texts",), writes=WRITTEN),
)
