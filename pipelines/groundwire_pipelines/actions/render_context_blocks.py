"""`render_context_blocks`: the fetched texts as evidence for a prompt or a reader, as much as fits its budget."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from groundwire_client import DependencyEdge, NodeText
from groundwire_pipelines.actions.definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.actions.rules import one_of
from groundwire_pipelines.rendering.layout import blocks
from groundwire_pipelines.rendering.packing import show_all, show_within
from groundwire_pipelines.rendering.words import stems
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState


class View(StrEnum):
    """What the table tells besides places and names."""

    FLAT = "flat"
    """Nothing."""
    GRAPH = "graph"
    """Every edge among the texts shown, at the text that depends."""


class RenderSettings(StepSettings):
    """The keys of a `render_context_blocks` step."""

    view: Annotated[View, one_of(View, "view-unknown"), Field(description="Whether the edges are shown.")] = View.FLAT


async def _render(step: RenderSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Shows texts in the order of the fetch, none that earlier evidence shows, within `max_context_tokens` if there is.

    Every text is a handle, such as `[1]`, one line in a table of files, and what is shown of it between fences. A text
    that is too long for its share is shown by the parts that share most words with the question.
    """
    texts = _texts(state)
    edges = state.graph_edges if step.view is View.GRAPH else []
    show_texts(state, runtime, edges, runtime.settings.max_context_tokens)
    return Outcome(
        detail={
            "view": step.view.value,
            "texts": len(state.shown),
            "shortened": sum(not one.excerpt.is_whole for one in state.shown),
            "left_out": len(texts) - len(state.shown),
            "text_tokens": sum(one.excerpt.source_tokens for one in state.shown),
            "tokens": runtime.counter.count("\n\n".join(state.context_blocks)),
        }
    )


def show_texts(state: PipelineState, runtime: Runtime, edges: Sequence[DependencyEdge], budget: int | None) -> None:
    """Sets `shown` and `context_blocks` to what of the fetched texts fits a budget in tokens; None is no bound."""
    first_handle = len(state.earlier_shown) + 1
    if budget is None:
        state.shown = show_all(_texts(state), first_handle, runtime.counter)
    else:
        state.shown = show_within(_texts(state), edges, budget, _words(state), first_handle, runtime.counter)
    state.context_blocks = blocks(state.shown, edges)


def _texts(state: PipelineState) -> list[NodeText]:
    """The fetched texts that no earlier evidence shows."""
    earlier = {one.node.id for one in state.earlier_shown}
    return [text for text in state.node_texts if text.id not in earlier]


def _words(state: PipelineState) -> frozenset[str]:
    """What the question is about, and what the model asked to see since."""
    return stems("\n".join((state.user_question_en or state.user_question, *state.data_requests)))


ACTION = Action(
    name="render_context_blocks",
    summary="Renders the fetched texts with a table of their places, as many as fit max_context_tokens.",
    settings=RenderSettings,
    run=_render,
    data_of=lambda step: DataFlow(
        reads=("node_texts", "graph_edges") if step.view is View.GRAPH else ("node_texts",),
        writes=("shown", "context_blocks"),
    ),
)
