"""`render_context_blocks`: all texts found for a question as evidence for a prompt or a reader, within a budget."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from groundwire_client import EdgeDirection, GraphEdge
from groundwire_pipelines.actions.definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.actions.rules import OneOf
from groundwire_pipelines.actions.scope import pin, scope_of, sending
from groundwire_pipelines.graph import edges_of, nodes_of, services_of, texts_of
from groundwire_pipelines.messages import distinct
from groundwire_pipelines.rendering.layout import blocks, in_one_line, service_line
from groundwire_pipelines.rendering.packing import Found, select_all, select_within
from groundwire_pipelines.rendering.words import stems
from groundwire_pipelines.runtime import Counter, Runtime
from groundwire_pipelines.state import PipelineState

_MOST_SEEDS = 1_000
"""The most nodes that the server walks from at once."""
_LONGEST_REQUEST = 160
"""Characters of a request that brought nothing new, as the evidence repeats it."""


class RenderSettings(StepSettings):
    """The keys of a `render_context_blocks` step."""

    view: Annotated[str, OneOf(("flat", "graph"), "view-unknown")] = "flat"
    """Whether edges are shown, and nodes without a text."""
    budget_factor: Annotated[int, Field(ge=1, le=100)] = 1
    """How many times max_context_tokens the evidence may take: more than once for a later step to summarise."""


async def _render(step: RenderSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Lays out the texts of all retrievals of the question anew, within `max_context_tokens` if there is.

    The best text of each retrieval comes first, the newest retrieval's before the others', then the second best, and so
    on. Every text is a handle, such as `[1]`, which it keeps as long as the question is worked on, one line in a table
    of files, and what is shown of it between fences. A text that is too long for its share is shown by the parts that
    share most words with the question. Below stand the requests that brought nothing new, and the services that a
    `query` brought.

    Raises:
        StepError: What a call of the server raises, which the view `graph` makes for the edges.
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
    """Sets `shown`, `handles` and `context_blocks` to what fits a budget in tokens; None is no bound."""
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
    if state.context_blocks and notes:
        state.context_blocks.append(notes)


async def _bring_edges(state: PipelineState, runtime: Runtime) -> None:
    """Adds every edge among the nodes with texts, and among those chosen, that access, filter and settings allow.

    A walk has only those that lead on from a node before its last step, and a search has none.
    """
    chosen = [id_ for retrieval in reversed(state.retrievals()) for id_ in retrieval.chosen]
    ids = list(dict.fromkeys([*(text.id for text in texts_of(state)), *chosen]))[:_MOST_SEEDS]
    if len(ids) < 2:  # as many as an edge has ends
        return
    settings = runtime.settings
    with sending():
        walked = await runtime.retrieval.expand(
            scope_of(state),
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
    pin(state, walked.index)
    state.graph_edges = distinct([*state.graph_edges, *walked.edges])


def _notes(state: PipelineState, budget: int | None, counter: Counter) -> str:
    """Requests that brought nothing new, the newest first, then services, as far as an eighth of the budget goes."""
    requests = (in_one_line(request, _LONGEST_REQUEST) for request in reversed(_fruitless(state)))
    told = (f'The request "{request}" brought nothing new.' for request in requests)
    lines: list[str] = []
    left = None if budget is None else budget // 8
    for line in (*told, *map(service_line, services_of(state))):
        if left is not None:
            left -= counter.count(f"{line}\n")
            if left < 0:
                break
        lines.append(line)
    return "\n".join(lines)


def _fruitless(state: PipelineState) -> list[str]:
    """The requests whose retrieval selected no node and brought no text that an earlier one had not, oldest first."""
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
    summary="Renders all texts found for the question with a table of their places, as many as fit max_context_tokens.",
    settings=RenderSettings,
    run=_render,
    data_of=lambda _: DataFlow(reads=("node_texts",), writes=("is_rendered", "shown", "handles", "context_blocks")),
)
