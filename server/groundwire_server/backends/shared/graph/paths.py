"""A search for paths: from ids to rows, through what lies between them, back to ids."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from groundwire_index.nodes.node import Edge
from groundwire_server.backends.interface import PathSearch, Snapshot
from groundwire_server.backends.selected_graph import Rows, SelectedGraph, neighbours_along
from groundwire_server.backends.shared.graph.between import Between, Links, links_between
from groundwire_server.backends.shared.graph.shortest_paths import PathGraph, Route, confidence_of
from groundwire_server.domain.graph.expansion import Direction
from groundwire_server.domain.graph.paths import DependencyPath, Paths, PathsReason
from groundwire_server.domain.limits import MAX_PATH_LINKS
from groundwire_server.domain.response_size import Room, of_path, of_path_node
from groundwire_server.domain.search.search import NodeLabel
from groundwire_server.execution.call import Checkpoint

_BACKWARD = {
    Direction.OUTGOING: Direction.INCOMING,
    Direction.INCOMING: Direction.OUTGOING,
    Direction.BOTH: Direction.BOTH,
}


def find_paths(snapshot: Snapshot, graph: SelectedGraph, search: PathSearch, checkpoint: Checkpoint) -> Paths:
    """The shortest paths between the ends in the snapshot, whose `graph` it is, within the search's limits."""
    known = snapshot.rows(search.from_ids + search.to_ids)
    starts, ends = _rows(known, search.from_ids), _rows(known, search.to_ids)
    if not len(starts) or not len(ends):
        return Paths((), (), len(starts), len(ends), 0, search.max_hops, PathsReason.NO_ENDS, snapshot.index)
    return _Finder(snapshot, graph, search, starts, ends, checkpoint).run()


class _Finder:
    """One search: looks for paths of a hop more until there are enough, or no more hops to take, or no room."""

    def __init__(
        self,
        snapshot: Snapshot,
        graph: SelectedGraph,
        search: PathSearch,
        starts: Rows,
        ends: Rows,
        checkpoint: Checkpoint,
    ) -> None:
        self._snapshot = snapshot
        self._graph = graph
        self._search = search
        self._checkpoint = checkpoint
        self._onward, backward = (
            neighbours_along(graph, direction, search.edge_types, search.min_confidence)
            for direction in (search.direction, _BACKWARD[search.direction])
        )
        self._between = Between(starts, ends, self._onward, backward, search.max_nodes, checkpoint)
        self._searched_hops = 0
        self._links: Links
        self._routes: Sequence[Route] = ()

    def run(self) -> Paths:
        """Searches, and reports how it went."""
        reason = None
        while reason is None:
            reason = self._look(self._searched_hops + 1)
        paths, nodes = self._fitting()
        return Paths(
            paths=paths,
            nodes=nodes,
            from_count=len(self._between.starts),
            to_count=len(self._between.ends),
            reached_count=len(self._between.inner),
            searched_hops=self._searched_hops,
            reason=reason if len(paths) == len(self._routes) else PathsReason.RESPONSE_LIMIT,
            index=self._snapshot.index,
        )

    def _look(self, hops: int) -> PathsReason | None:
        """Finds the paths of at most `hops` hops; None when paths of one more hop must be searched."""
        while self._between.hops < hops:
            if not self._between.widen():
                return PathsReason.LIMIT_REACHED
        self._checkpoint()
        links = links_between(self._between, self._graph, self._onward, hops)
        if len(links.near) > MAX_PATH_LINKS:
            return PathsReason.LIMIT_REACHED
        path_graph = PathGraph(links, self._between.starts, self._between.ends)
        self._routes = path_graph.best(hops, self._search.max_paths, self._checkpoint)
        self._links, self._searched_hops = links, hops
        if len(self._routes) == self._search.max_paths:
            return PathsReason.PATH_LIMIT
        return PathsReason.OK if hops == self._search.max_hops else None

    def _fitting(self) -> tuple[tuple[DependencyPath, ...], tuple[NodeLabel, ...]]:
        """The first paths that fit the response with their nodes."""
        room = Room(self._search.max_bytes)
        rows = sorted({row for route in self._routes for row in route.rows})
        labels = dict(zip(rows, self._snapshot.labels(np.asarray(rows, dtype=np.int64)), strict=True))
        paths: list[DependencyPath] = []
        nodes: dict[int, NodeLabel] = {}
        for route in self._routes:
            named = {row: labels[row] for row in route.rows if row not in nodes}
            path = self._path(route, [labels[row].id for row in route.rows])
            if not room.take(of_path(path) + sum(map(of_path_node, named.values()))):
                break
            paths.append(path)
            nodes |= named
        return tuple(paths), tuple(nodes.values())

    def _path(self, route: Route, ids: Sequence[str]) -> DependencyPath:
        hops = tuple(self._edge(link, *ends) for link, ends in zip(route.links, pairwise(ids), strict=True))
        return DependencyPath(tuple(ids), hops, confidence_of(self._links, route))

    def _edge(self, link: int, near: str, far: str) -> Edge:
        from_id, to_id = (near, far) if self._links.is_onward[link] else (far, near)
        edge_type = self._graph.edge_types[self._links.types[link]]
        return Edge(from_id, to_id, edge_type, self._links.confidences[link].item(), self._links.lines[link].item())


def _rows(known: Mapping[str, int], ids: Sequence[str]) -> Rows:
    return np.unique(np.asarray([known[id_] for id_ in ids if id_ in known], dtype=np.int64))
