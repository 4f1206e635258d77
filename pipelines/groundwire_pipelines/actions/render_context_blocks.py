"""`render_context_blocks`: renders all texts found for a question as evidence, within a budget."""

from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import Field

from groundwire_client import EdgeDirection, GraphEdge
from groundwire_pipelines.actions.definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.actions.evidence import weakness
from groundwire_pipelines.actions.rules import OneOf
from groundwire_pipelines.actions.scope import pin, scopes_of, sending
from groundwire_pipelines.graph import edges_of, nodes_of, services_of, texts_of
from groundwire_pipelines.rendering.layout import blocks, in_one_line, service_line, table
from groundwire_pipelines.rendering.packing import Found, select_all, select_within
from groundwire_pipelines.rendering.shown import distinct
from groundwire_pipelines.rendering.words import stems
from groundwire_pipelines.runtime import Counter, Runtime
from groundwire_pipelines.state import PipelineState

WRITTEN: Final = ("is_rendered", "shown", "handles", "context_blocks", "context_table")
"""The fields of the state that hold rendered evidence."""
_MOST_SEEDS = 1_000
"""The most seeds of one walk."""
_LONGEST_REQUEST = 160
"""The most characters that the evidence quotes of a request that found nothing new."""


class RenderSettings(StepSettings):
    """The keys of a `render_context_blocks` step."""

    view: Annotated[str, OneOf(("flat", "graph"), "view-unknown")] = "flat"
    """`graph` shows edges and nodes without a text; `flat` does not."""
    budget_factor: Annotated[int, Field(ge=1, le=100)] = 1
    """How many times max_context_tokens the evidence may take; more than 1 if a later step summarises it."""


async def _render(step: RenderSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Renders the texts of all retrievals of the question anew, within `max_context_tokens` if that is set.

    The best text of each retrieval comes first, the newest retrieval's before the others', then the second best, and so
    on. Every text has a handle, such as `[1]`, which it keeps for the whole question. It has a row with its path, lines
    and name, and its shown part between fences, with numbers of lines. Of a text that exceeds its share, the parts are
    shown that have most words in common with the question. Below are names of nodes without a text, those first whose
    texts an earlier prompt had, the requests that found nothing new, and the services that a `query` returned.

    Raises:
        StepError: The error of the call that the view `graph` makes for the edges.
    """
    is_graph = step.view == "graph"
    if is_graph:
        await _bring_edges(state, runtime)
    most = runtime.settings.max_context_tokens
    show_texts(
        state,
        runtime,
        None if most is None else most * step.budget_factor,
        edges=edges_of(state) if is_graph else (),
        names_nodes=is_graph,
    )
    return Outcome(
        detail={
            "view": step.view,
            "texts": len(state.shown),
            "shortened": sum(not one.excerpt.is_whole for one in state.shown),
            "left_out": len(texts_of(state)) - len(state.shown),
            "text_tokens": sum(one.excerpt.source_tokens for one in state.shown),
            "tokens": runtime.counter.count("\n\n".join(state.context_blocks)),
        }
    )


def show_texts(
    state: PipelineState,
    runtime: Runtime,
    budget: int | None,
    *,
    edges: Sequence[GraphEdge] = (),
    names_nodes: bool = False,
) -> None:
    """Sets the evidence, which the fields of `WRITTEN` are, to what fits a budget in tokens; None means no limit."""
    question = "\n".join((state.user_question_en or state.user_question, *state.data_requests))
    found = Found(texts_of(state), nodes_of(state), edges, names_nodes, state.handles, stems(question))
    notes = _notes(state, budget, runtime.counter)
    if budget is None:
        selection = select_all(found, runtime.counter)
    else:
        taken = runtime.counter.count(f"\n\n{notes}") if notes else 0
        selection = select_within(found, budget - taken, runtime.counter)
    state.is_rendered = True
    state.shown = list(selection.texts)
    state.handles = {**state.handles, **{one.node.id: one.handle for one in selection.texts}}
    state.context_blocks = blocks(selection, edges)
    state.context_table = [table(selection, edges)] if state.context_blocks else []
    if state.context_blocks and notes:
        state.context_blocks.append(notes)
        state.context_table.append(notes)


async def _bring_edges(state: PipelineState, runtime: Runtime) -> None:
    """Adds every edge among the nodes with texts, and among those chosen, that access, filter and settings allow.

    A walk returns only the edges from nodes above its last level, and a search returns none.
    """
    chosen = [id_ for retrieval in reversed(state.retrievals()) for id_ in retrieval.chosen]
    ids = list(dict.fromkeys([*(text.id for text in texts_of(state)), *chosen]))[:_MOST_SEEDS]
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


def _notes(state: PipelineState, budget: int | None, counter: Counter) -> str:
    """Notes below the evidence, within an eighth of the budget.

    They are weak matches, filters without effect, requests that found nothing new, the newest first, and services.
    """
    requests = (in_one_line(request, _LONGEST_REQUEST) for request in reversed(_fruitless(state)))
    told = (f'The request "{request}" brought nothing new.' for request in requests)
    weak = filter(None, (weakness(state),))
    lines: list[str] = []
    left = None if budget is None else budget // 8
    for line in (*weak, *state.filter_notes, *told, *map(service_line, services_of(state))):
        if left is not None:
            left -= counter.count(f"{line}\n")
            if left < 0:
                break
        lines.append(line)
    return "\n".join(lines)


def _fruitless(state: PipelineState) -> list[str]:
    """The requests whose retrieval found no node and no text that an earlier one had not found, oldest first."""
    known: set[str] = set()
    fruitless: list[str] = []
    for request, retrieval in zip(["", *state.data_requests], state.retrievals(), strict=False):
        ids = {*retrieval.seeds, *(text.id for text in retrieval.texts)}
        if request and ids <= known:
            fruitless.append(request)
        known |= ids
    return fruitless


ACTION = Action(
    name="render_context_blocks",
    summary="Renders the texts found for the question with their paths and lines, within max_context_tokens.",
    settings=RenderSettings,
    run=_render,
    data_of=lambda _: DataFlow(reads=("node_texts",), writes=WRITTEN),
)
