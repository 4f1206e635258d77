"""A bounded walk of one view: from ids to rows, through the graph, back to ids."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from groundwire_server.backends.embedded.neighbours import Neighbours
from groundwire_server.backends.embedded.pool import View
from groundwire_server.backends.embedded.traversal import ReachedRow, Walker
from groundwire_server.backends.interface import Walk
from groundwire_server.domain.checkpoint import Checkpoint
from groundwire_server.domain.expansion import Direction, ExpandedNode, ExpandReason, Expansion
from groundwire_server.domain.nodes import Edge
from groundwire_server.index.adjacency import Adjacency

NODE_OVERHEAD_BYTES = 24
EDGE_OVERHEAD_BYTES = 24
"""Upper bounds on what a node or an edge adds to a response besides its strings: field tags, lengths, numbers."""


def expand_view(view: View, walk: Walk, checkpoint: Checkpoint) -> Expansion:
    """The neighbourhood of the visible seeds within the walk's limits."""
    seeds = list(dict.fromkeys(view.visibility.rows_of(walk.seed_ids).values()))
    version = view.index.manifest.version
    if not seeds:
        return Expansion((), (), (), ExpandReason.NO_SEEDS, version)
    walker = _walker(view, walk, checkpoint)
    reached = walker.walk(seeds)
    nodes, room = _nodes_within(walk.max_bytes, _named_nodes(view, reached))
    walker.keep(len(nodes))
    checkpoint()
    names = dict(zip((row.row for row in reached), (node.id for node in nodes), strict=False))
    edges, complete = _edges_within(room, _named_edges(view, walker, names))
    return Expansion(
        seed_ids=tuple(node.id for node in nodes if node.depth == 0),
        nodes=nodes,
        edges=edges,
        reason=_reason(walker, complete and len(nodes) == len(reached)),
        index=version,
    )


def _walker(view: View, walk: Walk, checkpoint: Checkpoint) -> Walker:
    names = view.index.manifest.edge_types
    admitted = np.asarray(
        [walk.edge_types is None or name.casefold() in walk.edge_types for name in names], dtype=np.bool_
    )

    def follow(adjacency: Adjacency, *directions: Direction) -> Neighbours | None:
        return Neighbours(adjacency, admitted, view.visibility.mask) if walk.direction in directions else None

    return Walker(
        outgoing=follow(view.index.outgoing, Direction.OUTGOING, Direction.BOTH),
        incoming=follow(view.index.incoming, Direction.INCOMING, Direction.BOTH),
        max_depth=walk.max_depth,
        max_nodes=walk.max_nodes,
        checkpoint=checkpoint,
    )


def _named_nodes(view: View, reached: Sequence[ReachedRow]) -> list[ExpandedNode]:
    rows = [row.row for row in reached]
    names = dict(zip(rows, view.visibility.ids_of(rows), strict=True))
    return [ExpandedNode(names[row.row], row.depth, names.get(row.parent, "")) for row in reached]


def _named_edges(view: View, walker: Walker, names: dict[int, str]) -> Iterator[Edge]:
    edge_types = view.index.manifest.edge_types
    for edge in walker.edges():
        yield Edge(names[edge.from_row], names[edge.to_row], edge_types[edge.edge_type], edge.confidence)


def _nodes_within(room: int, nodes: Iterable[ExpandedNode]) -> tuple[tuple[ExpandedNode, ...], int]:
    """The first nodes that fit the response, and the room they leave. A node stands behind its parent always."""
    fitting: list[ExpandedNode] = []
    for node in nodes:
        size = 2 * len(node.id.encode()) + len(node.parent_id.encode()) + NODE_OVERHEAD_BYTES
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
    return ExpandReason.LIMIT_REACHED if walker.limit_reached else ExpandReason.OK
