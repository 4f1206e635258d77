"""A bounded walk: from ids to rows, through the graph, back to ids."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

import numpy as np

from groundwire_index.nodes.node import Edge
from groundwire_server.backends.interface import Snapshot, Walk
from groundwire_server.backends.shared.graph.selected_graph import SelectedGraph, neighbours_along
from groundwire_server.backends.shared.graph.traversal import ReachedRow, Walker
from groundwire_server.domain.graph.expansion import ExpandedNode, ExpandReason, Expansion
from groundwire_server.domain.response_size import Room, of_edge, of_expanded_node
from groundwire_server.domain.search.search import NodeLabel
from groundwire_server.execution.call import Checkpoint


def expand(snapshot: Snapshot, graph: SelectedGraph, walk: Walk, checkpoint: Checkpoint) -> Expansion:
    """The neighbourhood of the seeds in the snapshot, whose `graph` it is, within the walk's limits."""
    seeds = list(snapshot.rows(walk.seed_ids).values())
    if not seeds:
        return Expansion((), (), (), ExpandReason.NO_SEEDS, snapshot.index)
    neighbours = neighbours_along(graph, walk.direction, walk.edge_types, walk.min_confidence)
    walker = Walker(neighbours, walk.max_depth, walk.max_nodes, checkpoint)
    reached = walker.walk(seeds)
    room = Room(walk.max_bytes)
    nodes = tuple(takewhile(lambda node: room.take(of_expanded_node(node)), _named_nodes(snapshot, reached)))
    walker.keep(len(nodes))
    checkpoint()
    names = dict(zip((row.row for row in reached), (node.id for node in nodes), strict=False))
    positions = walker.edges()
    edges = tuple(takewhile(lambda edge: room.take(of_edge(edge)), _named_edges(graph, positions, names)))
    return Expansion(
        seed_ids=tuple(node.id for node in nodes if node.depth == 0),
        nodes=nodes,
        edges=edges,
        reason=_reason(walker, len(nodes) == len(reached) and len(edges) == len(positions)),
        index=snapshot.index,
    )


def _named_nodes(snapshot: Snapshot, reached: Sequence[ReachedRow]) -> Iterator[ExpandedNode]:
    rows = [row.row for row in reached]
    labels = dict(zip(rows, snapshot.labels(np.asarray(rows, dtype=np.int64)), strict=True))
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


def _reason(walker: Walker, complete: bool) -> ExpandReason:
    if not complete:
        return ExpandReason.RESPONSE_LIMIT
    if walker.limit_reached:
        return ExpandReason.LIMIT_REACHED
    return ExpandReason.DEPTH_REACHED if walker.leads_on() else ExpandReason.OK
