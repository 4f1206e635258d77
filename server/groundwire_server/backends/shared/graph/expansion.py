"""A bounded walk: from ids to rows, through the graph, back to ids."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from groundwire_index.nodes.node import Edge
from groundwire_server.backends.interface import Walk
from groundwire_server.backends.shared.graph.selected_graph import SelectedGraph, neighbours_along
from groundwire_server.backends.shared.graph.traversal import ReachedRow, Walker
from groundwire_server.domain.graph.expansion import ExpandedNode, ExpandReason, Expansion
from groundwire_server.domain.search.search import NodeLabel
from groundwire_server.execution.checkpoint import Checkpoint

NODE_OVERHEAD_BYTES = 120
EDGE_OVERHEAD_BYTES = 32
"""Upper bounds on what a node or an edge adds to a response besides its strings: tags, lengths, numbers, a hash."""


def expand(graph: SelectedGraph, walk: Walk, checkpoint: Checkpoint) -> Expansion:
    """The neighbourhood of the selected seeds within the walk's limits."""
    seeds = list(dict.fromkeys(graph.rows_of(walk.seed_ids).values()))
    if not seeds:
        return Expansion((), (), (), ExpandReason.NO_SEEDS, graph.version)
    neighbours = neighbours_along(graph, walk.direction, walk.edge_types, walk.min_confidence)
    walker = Walker(neighbours, walk.max_depth, walk.max_nodes, checkpoint)
    reached = walker.walk(seeds)
    nodes, room = _nodes_within(walk.max_bytes, _named_nodes(graph, reached))
    walker.keep(len(nodes))
    checkpoint()
    names = dict(zip((row.row for row in reached), (node.id for node in nodes), strict=False))
    edges, complete = _edges_within(room, _named_edges(graph, walker.edges(), names))
    return Expansion(
        seed_ids=tuple(node.id for node in nodes if node.depth == 0),
        nodes=nodes,
        edges=edges,
        reason=_reason(walker, complete and len(nodes) == len(reached)),
        index=graph.version,
    )


def _named_nodes(graph: SelectedGraph, reached: Sequence[ReachedRow]) -> Iterator[ExpandedNode]:
    rows = [row.row for row in reached]
    labels = dict(zip(rows, graph.labels(rows), strict=True))
    return (_named_node(row, labels) for row in reached)


def _named_node(reached: ReachedRow, labels: Mapping[int, NodeLabel]) -> ExpandedNode:
    label, parent = labels[reached.row], labels.get(reached.parent)
    return ExpandedNode(
        id=label.id,
        depth=reached.depth,
        parent_id=parent.id if parent else "",
        symbol=label.symbol,
        location=label.location,
        is_test=label.is_test,
        is_generated=label.is_generated,
    )


def _named_edges(graph: SelectedGraph, positions: Sequence[int], names: Mapping[int, str]) -> Iterator[Edge]:
    columns = (column.tolist() for column in graph.edges(positions))
    for from_row, to_row, edge_type, confidence, line in zip(*columns, strict=True):
        yield Edge(names[from_row], names[to_row], graph.edge_types[edge_type], confidence, line)


def _nodes_within(room: int, nodes: Iterable[ExpandedNode]) -> tuple[tuple[ExpandedNode, ...], int]:
    """The first nodes that fit the response, and the room they leave. A node stands behind its parent always."""
    fitting: list[ExpandedNode] = []
    for node in nodes:
        strings = f"{node.id}{node.parent_id}{node.symbol}{node.location.path}"
        size = len(node.id.encode()) + len(strings.encode()) + NODE_OVERHEAD_BYTES
        if size > room:
            break
        room -= size
        fitting.append(node)
    return tuple(fitting), room


def _edges_within(room: int, edges: Iterable[Edge]) -> tuple[tuple[Edge, ...], bool]:
    """The first edges that fit the response, and whether these are all."""
    fitting: list[Edge] = []
    for edge in edges:
        room -= len(f"{edge.from_id}{edge.to_id}{edge.edge_type}".encode()) + EDGE_OVERHEAD_BYTES
        if room < 0:
            return tuple(fitting), False
        fitting.append(edge)
    return tuple(fitting), True


def _reason(walker: Walker, complete: bool) -> ExpandReason:
    if not complete:
        return ExpandReason.RESPONSE_LIMIT
    if walker.limit_reached:
        return ExpandReason.LIMIT_REACHED
    return ExpandReason.DEPTH_REACHED if walker.leads_on() else ExpandReason.OK
