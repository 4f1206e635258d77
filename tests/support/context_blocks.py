"""Runs `render_context_blocks`, and makes texts for it."""

from dataclasses import replace
from typing import Any

from groundwire.tokens import TokenCounter
from groundwire_client import NodeText, SourceLocation
from groundwire_pipelines.action_definition import Outcome
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


def numbered(count: int, name: str = "value") -> str:
    """A text of so many lines, all different."""
    return "\n".join(f"{name}_{number} = compute({number})" for number in range(count))


def source(
    node_id: str, content: str = "", *, path: str | None = None, start: int = 1, depth: int = 0, parent: str = ""
) -> NodeText:
    """A node's text with its true lines and tokens; of `def <id>(): ...` unless `content` is given."""
    text = content or f"def {node_id}(): ..."
    return NodeText(
        id=node_id,
        text=text,
        is_seed=depth == 0,
        depth=depth,
        parent_id=parent,
        token_count=TokenCounter().count(text),
        location=SourceLocation(
            path=f"src/{node_id}.py" if path is None else path,
            start_line=start,
            end_line=start + text.count("\n"),
            content_hash="00",
        ),
        symbol=f"Symbol.{node_id}",
    )
