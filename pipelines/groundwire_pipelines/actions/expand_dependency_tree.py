"""`expand_dependency_tree`: walks the dependency graph from the nodes that a search selected."""

from typing import Annotated

from pydantic import AfterValidator, Field

from groundwire_client import EdgeDirection, ExpandDebug, ExpandDependencyTreeResponse, choices
from groundwire_pipelines.action_definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.action_parts.key_rules import OneOf
from groundwire_pipelines.action_parts.scope import narrowed, pin, scopes_of, sending
from groundwire_pipelines.filter_keys import FilterKey
from groundwire_pipelines.parsing.filters import why_none_passes
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.settings import all_or_named
from groundwire_pipelines.state import PipelineState


class ExpandSettings(StepSettings):
    """The keys of an `expand_dependency_tree` step."""

    max_depth: Annotated[int, Field(ge=0)]
    """The most edges between a seed and a node."""
    max_nodes: Annotated[int, Field(ge=1)]
    """The most nodes to return, seeds included."""
    edge_allowlist: Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(all_or_named)]
    """The edge types to follow; exactly `["*"]` follows all."""
    min_confidence: Annotated[float, Field(ge=0, le=1)] = 0.0
    """The least confidence of an edge that is followed; 0 follows every edge."""
    direction: Annotated[str, OneOf(choices(EdgeDirection), "direction-unknown")] = "outgoing"
    """The direction in which to follow edges."""
    filter: FilterKey = None


async def _expand(step: ExpandSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    scopes_of(state)
    filter = narrowed(state, step.filter)
    if not state.retrieval_seed_nodes:
        walked = ExpandDependencyTreeResponse(debug=ExpandDebug(reason="no_seeds"))
    else:
        with sending():
            walked = await runtime.retrieval.expand(
                scopes_of(state),
                state.retrieval_seed_nodes,
                max_depth=step.max_depth,
                max_nodes=step.max_nodes,
                edge_allowlist=step.edge_allowlist,
                direction=choices(EdgeDirection)[step.direction],
                filter=filter,
                min_confidence=step.min_confidence,
                lifecycle=runtime.settings.wire_lifecycle,
                access=state.retrieval_access,
            )
        pin(state, walked.index, walked.scopes)
    state.graph_seed_nodes = list(walked.seed_ids)
    state.graph_expanded_nodes = list(walked.nodes)
    state.graph_edges = list(walked.edges)
    state.graph_debug = walked.debug
    return Outcome(
        detail={
            "seeds": walked.debug.seed_count,
            "nodes": walked.debug.expanded_count,
            "edges": walked.debug.edges_count,
            "truncated": walked.debug.truncated,
            "reason": why_none_passes(filter) or walked.debug.reason,
        }
    )


ACTION = Action(
    name="expand_dependency_tree",
    summary="Walks the dependency graph from the nodes that a search selected.",
    settings=ExpandSettings,
    run=_expand,
    from_settings=("max_depth", "max_nodes", "edge_allowlist"),
    data_of=lambda _: DataFlow(
        reads=("retrieval_seed_nodes",),
        writes=("graph_seed_nodes", "graph_expanded_nodes", "graph_edges", "graph_debug"),
    ),
)
