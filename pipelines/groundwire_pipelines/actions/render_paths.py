"""`render_paths`: the paths between the two ends of a question as one block, and below it the texts of their nodes."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from groundwire_client import DependencyEdge, DependencyPath, NodeText
from groundwire_pipelines.actions.definition import Action, Outcome, StepSettings
from groundwire_pipelines.actions.render_context_blocks import show_texts
from groundwire_pipelines.rendering.layout import place
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState


class RenderPathsSettings(StepSettings):
    """A `render_paths` step has no keys of its own."""


async def _render(step: RenderPathsSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Shows the paths, and below them the fetched texts in what the paths leave of `max_context_tokens`.

    The last paths are left out while all of them take more than half of it.
    """
    budget = runtime.settings.max_context_tokens
    paths = list(state.paths)
    while budget is not None and paths and runtime.counter.count(_block(paths, state)) > budget // 2:
        paths.pop()
    block = _block(paths, state)
    taken = runtime.counter.count(f"{block}\n\n") if block else 0
    show_texts(state, runtime, (), None if budget is None else budget - taken)
    if block:
        state.context_blocks = [block, *state.context_blocks]
    return Outcome(detail={"paths": len(paths), "path_tokens": runtime.counter.count(block), "texts": len(state.shown)})


def _block(paths: Sequence[DependencyPath], state: PipelineState) -> str:
    texts = {text.id: text for text in state.node_texts}
    lines = [line for number, path in enumerate(paths, 1) for line in _path_lines(number, path, texts)]
    if not state.paths and texts:
        lines = ["no path was found between the two ends; what follows are the nodes nearest to each"]
    return "\n".join(lines)


def _path_lines(number: int, path: DependencyPath, texts: Mapping[str, NodeText]) -> Iterator[str]:
    """Its nodes in order, and below each the edge to the next, pointing the way that the edge does."""
    yield f"path {number}, confidence {path.confidence:g}"
    yield f"  {_node(path.node_ids[0], texts)}"
    for (near, far), hop in zip(pairwise(path.node_ids), path.hops, strict=True):
        arrow = "→" if hop.from_id == near else "←"
        yield f"    {arrow} {hop.edge_type} {hop.confidence:g}{_line(hop, texts)}"
        yield f"  {_node(far, texts)}"


def _node(node_id: str, texts: Mapping[str, NodeText]) -> str:
    """Symbol and place, as its block has them with the id; the id of a node whose text did not fit."""
    text = texts.get(node_id)
    return node_id if text is None else f"{text.symbol or node_id} at {place(text.location) or 'an unknown place'}"


def _line(hop: DependencyEdge, texts: Mapping[str, NodeText]) -> str:
    """Where the dependency stands, as far as it is known."""
    path = texts[hop.from_id].location.path if hop.from_id in texts else ""
    if not hop.line:
        return ""
    return f" at {path}:{hop.line}" if path else f" at line {hop.line} of {hop.from_id}"


ACTION = Action(
    name="render_paths",
    summary="Renders the paths between the two ends of a question, and the fetched texts below them.",
    settings=RenderPathsSettings,
    run=_render,
)
