"""A bounded walk: from ids to rows, through the graph, back to ids."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from groundwire_index.nodes.node import Edge
from groundwire_index.nodes.node_table import NodeTable
from groundwire_server.backends.embedded.graph.neighbours import Neighbours
from groundwire_server.backends.embedded.graph.traversal import ReachedRow, Walker
from groundwire_server.backends.embedded.visibility.row_selection import RowSelection
from groundwire_server.backends.interface import Walk
from groundwire_server.domain.graph.expansion import Direction, ExpandedNode, ExpandReason, Expansion
from groundwire_server.execution.checkpoint import Checkpoint

NODE_OVERHEAD_BYTES = 120
EDGE_OVERHEAD_BYTES = 32
"""Upper bounds on what a node or an edge adds to a response besides its strings: tags, lengths, numbers, a hash."""


def expand(selection: RowSelection, walk: Walk, checkpoint: Checkpoint) -> Expansion:
    """The neighbourhood of the selected seeds within the walk's limits."""
    seeds = list(dict.fromkeys(selection.rows_of(walk.seed_ids).values()))
    version = selection.index.manifest.version
    if not seeds:
        return Expansion((), (), (), ExpandReason.NO_SEEDS, version)
    walker = _walker(selection, walk, checkpoint)
    reached = walker.walk(seeds)
    nodes, room = _nodes_within(walk.max_bytes, _named_nodes(selection, reached))
    walker.keep(len(nodes))
    checkpoint()
    names = dict(zip((row.row for row in reached), (node.id for node in nodes), strict=False))
    edges, complete = _edges_within(room, _named_edges(selection, walker.edges(), names))
    return Expansion(
        seed_ids=tuple(node.id for node in nodes if node.depth == 0),
        nodes=nodes,
        edges=edges,
        reason=_reason(walker, complete and len(nodes) == len(reached)),
        index=version,
    )


def neighbours_along(
    selection: RowSelection, edge_types: frozenset[str] | None, least: float
) -> tuple[Neighbours, Neighbours]:
    """The outgoing and the incoming selected neighbours by edges of some types that are sure enough; None is all."""
    names = selection.index.manifest.edge_types
    followed_types = np.asarray([edge_types is None or name.casefold() in edge_types for name in names], dtype=np.bool_)
    outgoing, incoming = (
        Neighbours(side, followed_types, selection.holds, least)
        for side in (selection.graph.outgoing, selection.graph.incoming)
    )
    return outgoing, incoming


def _walker(selection: RowSelection, walk: Walk, checkpoint: Checkpoint) -> Walker:
    outgoing, incoming = neighbours_along(selection, walk.edge_types, walk.min_confidence)
    return Walker(
        outgoing=None if walk.direction is Direction.INCOMING else outgoing,
        incoming=None if walk.direction is Direction.OUTGOING else incoming,
        max_depth=walk.max_depth,
        max_nodes=walk.max_nodes,
        checkpoint=checkpoint,
    )


def _named_nodes(selection: RowSelection, reached: Sequence[ReachedRow]) -> list[ExpandedNode]:
    rows = [row.row for row in reached]
    names = dict(zip(rows, selection.visibility.ids_of(rows), strict=True))
    return [_named_node(selection.index.nodes, row, names) for row in reached]


def _named_node(nodes: NodeTable, reached: ReachedRow, names: Mapping[int, str]) -> ExpandedNode:
    return ExpandedNode(
        id=names[reached.row],
        depth=reached.depth,
        parent_id=names.get(reached.parent, ""),
        symbol=nodes.symbols[reached.row],
        location=nodes.location(reached.row),
        **nodes.origin_flags(reached.row),
    )


def _named_edges(selection: RowSelection, positions: Sequence[int], names: Mapping[int, str]) -> Iterator[Edge]:
    edges, edge_types = selection.index.edges, selection.index.manifest.edge_types
    stored = (edges.from_rows, edges.to_rows, edges.types, edges.confidences, edges.lines)
    columns = (column.take(positions).tolist() for column in stored)
    for from_row, to_row, edge_type, confidence, line in zip(*columns, strict=True):
        yield Edge(names[from_row], names[to_row], edge_types[edge_type], confidence, line)


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
