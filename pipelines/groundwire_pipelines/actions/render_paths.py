"""`render_paths`: renders the paths between the two ends of a question, and below them the texts of their nodes."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from groundwire.evidence.counter import Counter
from groundwire.evidence.layout import in_one_line
from groundwire_client import DependencyPath, GraphEdge
from groundwire_pipelines.action_definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.action_parts.places import line_start, place, where
from groundwire_pipelines.action_parts.prompt_evidence import WRITTEN
from groundwire_pipelines.actions.render_context_blocks import show_texts
from groundwire_pipelines.evidence_graph import nodes_of, paths_of, texts_of
from groundwire_pipelines.evidence_nodes import EvidenceNode, PathEnd
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState


async def _render(step: StepSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Shows both ends and the paths, and below them the fetched texts within what is left of `max_context_tokens`.

    The ends and the first paths are shown, as many as fit half of it.
    """
    budget = runtime.settings.max_context_tokens
    blocks = list(_blocks(state))
    if budget is not None:
        blocks = blocks[: _fitting(blocks, budget // 2, runtime.counter)]
    block = "\n".join(blocks)
    show_texts(state, runtime, budget, notes=block.split("\n") if block else ())
    paths = max(0, len(blocks) - bool(state.path_ends)) if paths_of(state) else 0
    return Outcome(detail={"paths": paths, "path_tokens": runtime.counter.count(block), "texts": len(state.added)})


def _fitting(blocks: Sequence[str], most_tokens: int, counter: Counter) -> int:
    """How many of the first blocks fit."""
    for count, block in enumerate(blocks):
        most_tokens -= counter.count(f"{block}\n")
        if most_tokens < 0:
            return count
    return len(blocks)


def _blocks(state: PipelineState) -> Iterator[str]:
    """A block for both ends, and one for each path, or one that says that there is none."""
    if state.path_ends:
        yield "\n".join(map(_end_line, ("from", "to"), state.path_ends))
    nodes = {node.id: node for node in nodes_of(state)}
    paths = paths_of(state)
    for number, path in enumerate(paths, 1):
        yield "\n".join(_path_lines(number, path, nodes))
    if not paths and texts_of(state):
        yield "no path was found between the two ends; what follows are the nodes nearest to each"


def _end_line(word: str, end: PathEnd) -> str:
    """The text of an end, and the nodes that it was resolved to."""
    nodes = {node.id: node for node in end.nodes}
    named_nodes = "; ".join(_node(node_id, nodes) for node_id in nodes) or "nothing"
    return f"{word} {in_one_line(end.text)}{'' if end.is_named else ', by search'}: {named_nodes}"


def _path_lines(number: int, path: DependencyPath, nodes: Mapping[str, EvidenceNode]) -> Iterator[str]:
    """The nodes of a path in order, and below each the edge to the next, with an arrow in the edge's direction."""
    yield f"path {number}, confidence {path.confidence:g}"
    yield f"  {_node(path.node_ids[0], nodes)}"
    for (near, far), hop in zip(pairwise(path.node_ids), path.hops, strict=True):
        arrow = "→" if hop.from_id == near else "←"
        yield f"    {arrow} {in_one_line(hop.edge_type)} {hop.confidence:g}{_line(hop, nodes)}"
        yield f"  {_node(far, nodes)}"


def _node(node_id: str, nodes: Mapping[str, EvidenceNode]) -> str:
    """Symbol and location, as far as they are known; else the id."""
    node = nodes.get(node_id, EvidenceNode(node_id))
    known = where(node)
    return f"{line_start(node.symbol or node_id)}{f' at {known}' if known else ''}"


def _line(hop: GraphEdge, nodes: Mapping[str, EvidenceNode]) -> str:
    """The line of the dependency, if it is known."""
    if not hop.line:
        return ""
    node = nodes.get(hop.from_id)
    if node is None or not node.path:
        return f" at line {hop.line} of {line_start(hop.from_id)}"
    return f" at {place(node.path, hop.line, hop.line)}"


ACTION = Action(
    name="render_paths",
    summary="Renders the paths between the two ends of a question, and the fetched texts below them.",
    settings=StepSettings,
    run=_render,
    data_of=lambda _: DataFlow(reads=("paths", "node_texts"), writes=WRITTEN),
)
