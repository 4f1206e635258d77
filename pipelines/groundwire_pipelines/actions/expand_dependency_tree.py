"""`expand_dependency_tree`: walks the dependency graph from the nodes that a search selected."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated

from pydantic import Field

from groundwire_client import EdgeDirection, ExpandDebug, ExpandDependencyTreeResponse, IndexScope, by_scope, choices
from groundwire_pipelines.actions.definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.actions.rules import OneOf
from groundwire_pipelines.actions.scope import NOTHING_PASSES, narrowed, pin, scopes_of, sending
from groundwire_pipelines.filter_keys import FilterKey
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState

_REASONS = "no_seeds ok depth_reached limit_reached response_limit"


class ExpandSettings(StepSettings):
    """The keys of an `expand_dependency_tree` step."""

    max_depth: Annotated[int, Field(ge=0)]
    """The most edges between a seed and a node."""
    max_nodes: Annotated[int, Field(ge=1)]
    """The most nodes to return, seeds included."""
    edge_allowlist: Annotated[tuple[str, ...], Field(min_length=1)]
    """The edge types to follow; exactly `["*"]` follows all."""
    min_confidence: Annotated[float, Field(ge=0, le=1)] = 0.0
    """The least confidence of an edge that is followed; 0 follows every edge."""
    direction: Annotated[str, OneOf(choices(EdgeDirection), "direction-unknown")] = "outgoing"
    """The direction in which to follow edges."""
    filter: FilterKey = None


async def _expand(step: ExpandSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    scopes_of(state)
    filter = narrowed(state, step.filter)
    if not state.retrieval_seed_nodes or filter is None:
        reason = "no_seeds" if filter else NOTHING_PASSES
        walked = ExpandDependencyTreeResponse(debug=ExpandDebug(reason=reason))
    else:
        walked = await walk(
            state,
            state.retrieval_seed_nodes,
            step.max_nodes,
            lambda scope, seeds: runtime.retrieval.expand(
                scope,
                seeds,
                max_depth=step.max_depth,
                max_nodes=step.max_nodes,
                edge_allowlist=step.edge_allowlist,
                direction=choices(EdgeDirection)[step.direction],
                filter=filter,
                min_confidence=step.min_confidence,
                lifecycle=runtime.settings.wire_lifecycle,
                access=state.retrieval_access,
            ),
        )
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
            "reason": walked.debug.reason,
        }
    )


async def walk(
    state: PipelineState,
    seeds: Sequence[str],
    max_nodes: int,
    expand: Callable[[IndexScope, Sequence[str]], Awaitable[ExpandDependencyTreeResponse]],
) -> ExpandDependencyTreeResponse:
    """A walk from seeds of any scopes of the run, with the nodes of one walk: by depth, then by the seed they are of.

    Raises:
        StepError: What `sending` and `pin` raise, the former also for a node of none of the run's scopes.
    """
    parts: list[ExpandDependencyTreeResponse] = []
    with sending():
        for scope, own in by_scope(scopes_of(state), seeds):
            parts.append(await expand(scope, own))
            pin(state, parts[-1].index)
    if len(parts) == 1:
        return parts[0]
    walked = ExpandDependencyTreeResponse()
    for part in sorted(parts, key=lambda part: _REASONS.find(part.debug.reason)):  # the last reason is kept
        walked.MergeFrom(part)
    places = {seed: place for place, seed in enumerate(seeds)}
    for node in walked.nodes:
        places.setdefault(node.id, places.get(node.parent_id, 0))
    nodes = sorted(walked.nodes, key=lambda node: (node.depth, places[node.id]))[:max_nodes]
    kept = {node.id for node in nodes}
    edges = [edge for edge in walked.edges if {edge.from_id, edge.to_id} <= kept]
    seed_ids = [node.id for node in nodes if not node.depth]
    debug = ExpandDebug(seed_count=len(seed_ids), expanded_count=len(nodes), edges_count=len(edges))
    is_cut = len(nodes) < len(walked.nodes)
    debug.truncated = is_cut or walked.debug.truncated
    debug.reason = "limit_reached" if is_cut else walked.debug.reason
    return ExpandDependencyTreeResponse(seed_ids=seed_ids, nodes=nodes, edges=edges, debug=debug)


ACTION = Action(
    name="expand_dependency_tree",
    summary="Walks the dependency graph from the nodes that a search selected.",
    settings=ExpandSettings,
    run=_expand,
    data_of=lambda _: DataFlow(
        reads=("retrieval_seed_nodes",),
        writes=("graph_seed_nodes", "graph_expanded_nodes", "graph_edges", "graph_debug"),
    ),
)
