"""`render_context_blocks`: the fetched texts as blocks for a prompt or a reader, flat or indented by the graph."""

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from groundwire_client import DependencyEdge, Location, NodeText
from groundwire_pipelines.actions.definition import Action, Outcome, StepSettings
from groundwire_pipelines.actions.rules import one_of
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState

LEVELS: Final = 3
"""Levels of the graph view; deeper nodes stand on the last."""
_INDENT: Final = "  "


class View(StrEnum):
    """How blocks are arranged."""

    FLAT = "flat"
    """In the order of the fetch, without the graph."""
    GRAPH = "graph"
    """Each node below the one it was reached from, indented."""


class RenderSettings(StepSettings):
    """The keys of a `render_context_blocks` step."""

    view: Annotated[View, one_of(View, "view-unknown"), Field(description="How blocks are arranged.")] = View.FLAT


async def _render(step: RenderSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    if step.view is View.FLAT:
        state.context_blocks = [_block(text) for text in state.node_texts]
    else:
        state.context_blocks = list(_graph_blocks(state))
    tokens = sum(map(runtime.counter.count, state.context_blocks))
    return Outcome(detail={"view": step.view.value, "blocks": len(state.context_blocks), "tokens": tokens})


def _graph_blocks(state: PipelineState) -> Iterator[str]:
    """Depth first; the nodes below one keep the order of the fetch."""
    parents = {node.id: node.parent_id for node in state.graph_expanded_nodes}
    depths = {text.id: text.depth for text in state.node_texts}
    below: dict[str, list[NodeText]] = {}
    for text in state.node_texts:
        below.setdefault(_shown_ancestor(text, parents, depths), []).append(text)
    edge_types = _edge_types(state.graph_edges)
    pending = [(text, 0) for text in reversed(below.get("", ()))]
    while pending:
        text, level = pending.pop()
        yield _indented(_block(text, _origin(text, edge_types)), level)
        deeper = min(level + 1, LEVELS - 1)
        pending += [(child, deeper) for child in reversed(below.get(text.id, ()))]


def _shown_ancestor(text: NodeText, parents: Mapping[str, str], depths: Mapping[str, int]) -> str:
    """The nearest node up the chain whose text was fetched as well; empty for a seed, or when there is none."""
    ancestor = text.parent_id
    for _ in range(text.depth):
        if depths.get(ancestor, text.depth) < text.depth:
            return ancestor
        ancestor = parents.get(ancestor, "")
    return ""


def _edge_types(edges: Iterable[DependencyEdge]) -> Mapping[frozenset[str], tuple[str, ...]]:
    """The types of the edges between two nodes, either way, sorted."""
    types: dict[frozenset[str], set[str]] = {}
    for edge in edges:
        types.setdefault(frozenset((edge.from_id, edge.to_id)), set()).add(edge.edge_type)
    return {ends: tuple(sorted(names)) for ends, names in types.items()}


def _origin(text: NodeText, edge_types: Mapping[frozenset[str], tuple[str, ...]]) -> str:
    if not text.parent_id:
        return "seed"
    names = ", ".join(edge_types.get(frozenset((text.id, text.parent_id)), ()))
    return f"depth {text.depth}, from {text.parent_id}{f' ({names})' if names else ''}"


def _block(text: NodeText, origin: str = "") -> str:
    """Id, place and symbol, a line each where known, and the text inside a fence that it cannot close."""
    facts = (("node", text.id), ("at", place(text.location)), ("symbol", text.symbol), ("graph", origin))
    head = [f"{name}: {fact}" for name, fact in facts if fact]
    longest = max((len(run) for run in re.findall("`+", text.text)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([*head, fence, text.text.removesuffix("\n"), fence])


def place(location: Location) -> str:
    """Path and lines, such as `src/a.py:3-9`, as far as they are known."""
    if not location.path or not location.start_line:
        return location.path
    lines = str(location.start_line)
    if location.end_line > location.start_line:
        lines += f"-{location.end_line}"
    return f"{location.path}:{lines}"


def _indented(block: str, level: int) -> str:
    return "\n".join(_INDENT * level + line if line else line for line in block.split("\n"))


ACTION = Action(
    name="render_context_blocks",
    summary="Renders the fetched texts as blocks with their ids and places.",
    settings=RenderSettings,
    run=_render,
)
