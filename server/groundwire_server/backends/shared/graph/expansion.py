"""A bounded breadth-first walk: from ids to rows, through the graph, back to ids.

Nodes of one depth are in the order (seed that reached them, edge type, id); a node reached in several ways counts for
the first. The node limit acts inside the walk: of a hub little more is read than it allows. Nodes that are hidden or do
not pass the filter are never stepped on, so nothing behind them is reached through them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat, takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from groundwire_index.nodes.node import Edge
from groundwire_server.backends.interface import Snapshot, Walk
from groundwire_server.backends.selected_graph import Neighbours, Rows, SelectedGraph, neighbours_along
from groundwire_server.domain.graph.expansion import ExpandedNode, ExpandReason, Expansion
from groundwire_server.domain.response_size import Room, of_edge, of_expanded_node
from groundwire_server.domain.search.search import NodeLabel
from groundwire_server.execution.call import Checkpoint


class ReachedRow(NamedTuple):
    """A row of the walk: its depth, and the row it was reached from (-1 for a seed)."""

    row: int
    depth: int
    parent: int


class _Level(NamedTuple):
    """The rows of one depth in order, with the position of the seed that reached each; arrays [m]."""

    rows: Rows
    seeds: NDArray[np.int64]


@dataclass(slots=True)
class Walker:
    """One walk along `neighbours`."""

    neighbours: Neighbours
    max_depth: int
    max_nodes: int
    checkpoint: Checkpoint
    limit_reached: bool = False
    _reached: list[ReachedRow] = field(default_factory=list)

    def walk(self, seeds: Sequence[int]) -> list[ReachedRow]:
        """The reached rows in order, distinct `seeds` first; sets `limit_reached` when a row had no place."""
        self.limit_reached = len(seeds) > self.max_nodes
        first = np.asarray(seeds[: self.max_nodes], dtype=np.int64)
        level = _Level(first, np.arange(len(first)))
        self._reached = [ReachedRow(row, 0, -1) for row in first.tolist()]
        for depth in range(1, self.max_depth + 1):
            self.checkpoint()
            level = self._next_level(level, depth)
            if not len(level.rows) or self.limit_reached:
                break
        return self._reached

    def keep(self, count: int) -> None:
        """Gives up all but the first `count` reached rows."""
        self._reached = self._reached[:count]

    def edges(self) -> list[int]:
        """The positions of the edges between reached rows that leave one of less than the greatest depth.

        They leave it in the directions asked. Each is there once, ordered by (that row's place, edge type, other end).
        """
        near = np.asarray([reached.row for reached in self._reached if reached.depth < self.max_depth], dtype=np.int64)
        chosen = np.asarray(sorted(reached.row for reached in self._reached), dtype=np.int64)
        followed = self.neighbours.among(near, chosen)
        # The sort keeps outgoing edges before incoming ones that are alike. One found from both its ends comes twice.
        order = np.lexsort((followed.ends, followed.types, followed.places))
        return list(dict.fromkeys(followed.positions[order].tolist()))

    def leads_on(self) -> bool:
        """True if an edge that may be walked leads from a row of the greatest depth to one that was not reached.

        Ends at the first such edge: of a hub no more is judged than leads to rows that were reached.
        """
        last = np.asarray([reached.row for reached in self._reached if reached.depth == self.max_depth], dtype=np.int64)
        known = {reached.row for reached in self._reached}
        for ends in self.neighbours.ends_of(last):
            self.checkpoint()
            if not known.issuperset(ends.tolist()):
                return True
        return False

    def _next_level(self, level: _Level, depth: int) -> _Level:
        known = {reached.row for reached in self._reached}
        room = self.max_nodes - len(known)
        followed = self.neighbours.of(level.rows, known, room)
        seeds = level.seeds.take(followed.places)
        order = np.lexsort((followed.places, followed.ends, followed.types, seeds))
        fresh: list[int] = []
        for place, row in zip(order.tolist(), followed.ends[order].tolist(), strict=True):
            if row not in known:
                if len(fresh) == room:
                    self.limit_reached = True
                    break
                known.add(row)
                fresh.append(place)
        chosen = np.asarray(fresh, dtype=np.int64)
        next_level = _Level(followed.ends[chosen], seeds[chosen])
        parents = level.rows.take(followed.places[chosen])
        self._reached += map(ReachedRow, next_level.rows.tolist(), repeat(depth), parents.tolist())
        return next_level


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
        seed_count=len(seeds),
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
