"""`choose_nodes`: chooses the best nodes of those that a search found and a walk reached."""

from collections.abc import Mapping

from groundwire_client import GraphEdge
from groundwire_pipelines.actions.definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState

_SHARE_OF_NEIGHBOR = 0.1
"""The share of the best neighbour's match that a node gains along an edge of confidence 1; Query's scores have such a
gain too."""
_CONTAINS = "Contains"
"""Edges between a whole and its parts are ignored: that a type contains a member says nothing about what the member
does."""


async def _choose(settings: StepSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Keeps the best `node_text_fetch_top_n` nodes, in the order in which their texts will be fetched and shown.

    A hit's match is its score divided by the best score. A node gains 0.1 times the match of its best neighbour, along
    an edge in either direction, times the edge's confidence. A node that is no hit has only this gain, which its own
    neighbours gain from in turn. `Contains` edges are ignored.

    Raises:
        StepError: `settings-key-missing`.
    """
    most = runtime.settings.node_text_fetch_top_n
    if most is None:
        raise StepError("settings-key-missing", "settings.node_text_fetch_top_n is required to choose nodes")
    values = _values(_matches(state), state)
    state.chosen_nodes = sorted(values, key=lambda node_id: -values[node_id])[:most]
    hits = {hit.id for hit in state.retrieval_hits}
    from_graph = sum(node_id not in hits for node_id in state.chosen_nodes)
    return Outcome(detail={"nodes": len(state.chosen_nodes), "from_graph": from_graph})


def _matches(state: PipelineState) -> dict[str, float]:
    """The hits' scores divided by the best, none above an earlier one, since diversification may reorder hits."""
    best = max((hit.score for hit in state.retrieval_hits), default=0.0)
    matches: dict[str, float] = {}
    ceiling = 1.0
    for hit in state.retrieval_hits:
        ceiling = min(ceiling, max(hit.score, 0.0) / best) if best > 0 else ceiling
        matches[hit.id] = ceiling
    return matches


def _values(matches: Mapping[str, float], state: PipelineState) -> dict[str, float]:
    """The values of hits and graph nodes, hits first, then in the order of the walk."""
    neighbors: dict[str, list[GraphEdge]] = {}
    for edge in state.graph_edges:
        if edge.edge_type != _CONTAINS:
            neighbors.setdefault(edge.from_id, []).append(edge)
            neighbors.setdefault(edge.to_id, []).append(edge)
    reached = dict(matches)
    values = dict(matches)
    for node in state.graph_expanded_nodes:  # by depth, so a node comes after its parent
        gain = max((_gain(edge, node.id, reached) for edge in neighbors.get(node.id, ())), default=0.0)
        values[node.id] = matches.get(node.id, 0.0) + gain
        reached.setdefault(node.id, gain)
    return values


def _gain(edge: GraphEdge, node_id: str, reached: Mapping[str, float]) -> float:
    other = edge.to_id if edge.from_id == node_id else edge.from_id
    return _SHARE_OF_NEIGHBOR * edge.confidence * reached.get(other, 0.0) if other != node_id else 0.0


ACTION = Action(
    name="choose_nodes",
    summary="Chooses among hits and graph nodes by match, edge type and confidence.",
    settings=StepSettings,
    run=_choose,
    required_settings=("node_text_fetch_top_n",),
    data_of=lambda _: DataFlow(reads=("retrieval_hits",), writes=("chosen_nodes",)),
)
