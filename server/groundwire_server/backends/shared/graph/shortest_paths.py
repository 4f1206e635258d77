"""The best simple paths along some links, in a total order.

Fewer hops come first, then fewer mentions, then greater confidence, then smaller rows.

All simple paths may be exponentially many, so none is enumerated that is not returned. The paths that begin in a given
way and do not continue to given rows form a set. The best path of a set splits the rest of it into one such set for
each of its hops (Yen's algorithm with Lawler's partition). For the best of a set it is enough to know from each row the
best way to an end, which is found once for all. Only where that way meets the path that it continues is it sought anew
without the rows of the path; the layers come from rustworkx. So the cost is at most (paths * hops) times that of one
search.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
import rustworkx

from groundwire_server.backends.selected_graph import Rows
from groundwire_server.backends.shared.graph.between import Links
from groundwire_server.execution.call import Checkpoint

_SCALE_BITS = 149
"""Every number in single precision is a multiple of 1 / 2^149."""


class Route(NamedTuple):
    """A path: its rows in order, and the positions of the links between them."""

    rows: tuple[int, ...]
    links: tuple[int, ...]


class _Step(NamedTuple):
    """A link as it leaves a vertex: where to, 1 if it is a mention, its scaled confidence and its position."""

    vertex: int
    mentions: int
    confidence: int
    link: int


class _Way(NamedTuple):
    """The best way from a vertex to an end: its hops, their mentions, the product of confidences, the first hop."""

    hops: int
    mentions: int
    confidence: int
    step: _Step | None


@dataclass(frozen=True, slots=True, order=True)
class _Candidate:
    """The best path of a set, which begins with the first `fixed` vertices and takes none of `refused` after them."""

    hops: int
    mentions: int
    loss: int
    rows: tuple[int, ...]
    vertices: tuple[int, ...] = field(compare=False)
    steps: tuple[_Step, ...] = field(compare=False)
    fixed: int = field(compare=False)
    refused: frozenset[int] = field(compare=False)

    @property
    def is_simple(self) -> bool:
        return len(set(self.rows)) == len(self.rows)


class PathGraph:
    """Links as a graph, in which nothing leads on from an end or back to a start.

    A row is a vertex; one that is both a start and an end is two.
    """

    def __init__(self, links: Links, starts: Rows, ends: Rows) -> None:
        self._graph: rustworkx.PyDiGraph[int, None] = rustworkx.PyDiGraph()
        self._rows: list[int] = []
        self._steps: list[list[_Step]] = []
        self._vertices: dict[tuple[int, bool], int] = {}
        confidences = map(_scaled, links.confidences.tolist())
        is_end = np.isin(links.far, ends).tolist()
        mentions = map(int, links.is_mention.tolist())
        rows_of_links = zip(links.near.tolist(), links.far.tolist(), is_end, mentions, confidences, strict=True)
        for position, (near, far, ends_there, mention, confidence) in enumerate(rows_of_links):
            step = _Step(self._vertex(far, ends_there), mention, confidence, position)
            self._steps[self._vertex(near, False)].append(step)
        # Turned round: the ways to the ends are sought from them.
        self._graph.add_nodes_from(self._rows)
        self._graph.add_edges_from_no_data(
            [(step.vertex, vertex) for vertex, steps in enumerate(self._steps) for step in steps]
        )
        self._starts = [self._vertices[row, False] for row in starts.tolist() if (row, False) in self._vertices]
        self._ends = [vertex for (_, ends_there), vertex in self._vertices.items() if ends_there]

    def best(self, max_hops: int, max_paths: int, checkpoint: Checkpoint) -> list[Route]:
        """The first paths of at most `hops` hops."""
        ways = self._ways(frozenset())
        waiting = [
            candidate for start in self._starts for candidate in self._continued((start,), (), frozenset(), ways)
        ]
        heapify(waiting)
        routes: list[Route] = []
        while waiting and len(routes) < max_paths and waiting[0].hops <= max_hops:
            checkpoint()
            first = heappop(waiting)
            if first.is_simple:
                routes.append(Route(first.rows, tuple(step.link for step in first.steps)))
                rest = self._rest(first, ways)
            else:
                rest = self._without_itself(first)
            for candidate in rest:
                heappush(waiting, candidate)
        return routes

    def _vertex(self, row: int, ends_there: bool) -> int:
        vertex = self._vertices.setdefault((row, ends_there), len(self._rows))
        if vertex == len(self._rows):
            self._rows.append(row)
            self._steps.append([])
        return vertex

    def _ways(self, passed: frozenset[int]) -> dict[int, _Way]:
        """The best way to an end from each vertex that has one, past none of some rows."""
        graph, ends = self._graph, self._ends
        if passed:
            graph = graph.copy()
            graph.remove_nodes_from([vertex for vertex, row in enumerate(self._rows) if row in passed])
            ends = [end for end in ends if self._rows[end] not in passed]
        ways = {end: _Way(0, 0, 1, None) for end in ends}
        for hops, layer in enumerate(rustworkx.bfs_layers(graph, ends)[1:] if ends else (), start=1):
            for vertex in layer:
                onward = (step for step in self._steps[vertex] if ways.get(step.vertex, _NOWHERE).hops == hops - 1)
                step = min(onward, key=lambda step: self._rank(step, ways))
                way = ways[step.vertex]
                ways[vertex] = _Way(hops, step.mentions + way.mentions, step.confidence * way.confidence, step)
        return ways

    def _rank(self, step: _Step, ways: dict[int, _Way]) -> tuple[int, int, int, int]:
        """By this the best of several steps from one vertex comes first; no two rank the same."""
        way = ways[step.vertex]
        return way.hops, step.mentions + way.mentions, -step.confidence * way.confidence, self._rows[step.vertex]

    def _continued(
        self, vertices: tuple[int, ...], steps: tuple[_Step, ...], refused: frozenset[int], ways: dict[int, _Way]
    ) -> Iterator[_Candidate]:
        """The best path, if there is any, that begins with some vertices and continues along `ways`."""
        fixed = len(vertices)
        onward = [step for step in self._steps[vertices[-1]] if step.vertex in ways and step.vertex not in refused]
        step = min(onward, key=lambda step: self._rank(step, ways), default=None)
        while step is not None:
            vertices, steps = (*vertices, step.vertex), (*steps, step)
            step = ways[step.vertex].step
        if onward:
            mentions = sum(step.mentions for step in steps)
            loss = -math.prod(step.confidence for step in steps)
            rows = tuple(self._rows[vertex] for vertex in vertices)
            yield _Candidate(len(steps), mentions, loss, rows, vertices, steps, fixed, refused)

    def _rest(self, path: _Candidate, ways: dict[int, _Way]) -> Iterator[_Candidate]:
        """The best path of each set of the rest: one set for each hop where paths leave this one."""
        for fixed in range(path.fixed, len(path.vertices)):
            refused = path.refused if fixed == path.fixed else frozenset[int]()
            refused |= {path.vertices[fixed]}
            yield from self._continued(path.vertices[:fixed], path.steps[: fixed - 1], refused, ways)

    def _without_itself(self, path: _Candidate) -> Iterator[_Candidate]:
        """The best path of the set that passes no row twice, in place of one that does."""
        vertices = path.vertices[: path.fixed]
        ways = self._ways(frozenset(self._rows[vertex] for vertex in vertices))
        return self._continued(vertices, path.steps[: path.fixed - 1], path.refused, ways)


_NOWHERE = _Way(-1, 0, 0, None)


def confidence_of(links: Links, route: Route) -> float:
    """The product of a path's confidences, rounded once; above 0."""
    scaled = math.prod(_scaled(links.confidences[link].item()) for link in route.links)
    return max(scaled / (1 << _SCALE_BITS * len(route.links)), math.ulp(0.0))


def _scaled(confidence: float) -> int:
    """A confidence in single precision as the whole number that it is a part of: products are exact, ties are ties."""
    return int(confidence * 2.0**_SCALE_BITS)
