"""Runs `render_context_blocks`, and makes texts for it."""

from dataclasses import replace
from typing import Any

from groundwire.tokens import TokenCounter
from groundwire_pipelines.actions.definition import Outcome
from groundwire_pipelines.actions.render_context_blocks import ACTION
from groundwire_pipelines.state import PipelineState
from support.retrieval import FakeRetrieval, make_runtime, run_action


def render(
    state: PipelineState,
    budget: int | None = 1000,
    view: str = "graph",
    retrieval: FakeRetrieval | None = None,
    **settings: Any,
) -> Outcome:
    """Runs `render_context_blocks` with a budget in tokens, 1,000 unless given; None is no budget."""
    runtime = make_runtime(retrieval or FakeRetrieval(), max_context_tokens=budget, **settings)
    runtime = replace(runtime, counter=TokenCounter())
    return run_action(ACTION, {"view": view}, state, runtime)


def numbered(count: int) -> str:
    """A text of so many lines, all different."""
    return "\n".join(f"value_{number} = compute({number})" for number in range(count))
