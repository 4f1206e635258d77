"""All simple paths of small graphs, enumerated and sorted as the contract of `FindPaths` states."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from groundwire_index.nodes.node import Edge
from groundwire_server.backends.interface import PathSearch
from groundwire_server.domain.graph.expansion import Direction
from groundwire_server.domain.graph.paths import DependencyPath

TYPES = ["Calls", "Imports", "References", "cs_dep"]
MENTIONS = ["Imports", "References"]
CONFIDENCES = [1.0, 1.0, 0.7, 0.5, 0.25, 1e-45]
AMPLE = 1 << 22


@dataclass(frozen=True)
class Graph:
    """A small graph of nodes with one letter; the public sees the `visible` ones. `tests` are marked as such."""

    ids: str
    visible: frozenset[str]
    edges: tuple[Edge, ...]
    tests: frozenset[str] = frozenset()


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Up to eight nodes, with circles, self loops, edges in parallel and both ways, hidden nodes, and tests."""
    ids = "ABCDEFGH"[: draw(st.integers(1, 8))]
    nodes = st.sampled_from(ids)
    ends = draw(st.lists(st.tuples(nodes, nodes, st.sampled_from(TYPES)), unique=True, max_size=24))
    edges = (Edge(*end, draw(st.sampled_from(CONFIDENCES)), place) for place, end in enumerate(ends))
    # An index of which the caller sees nothing does not exist.
    hidden = draw(st.sets(nodes, max_size=len(ids) - 1) | st.just(set[str]()))
    return Graph(ids, frozenset(ids) - hidden, tuple(edges), frozenset(draw(st.sets(nodes))))


@st.composite
def searches(draw: st.DrawFn, ids: str) -> PathSearch:
    """A search between nodes that may be repeated, hidden, absent, or on both sides."""
    allowed = draw(st.none() | st.lists(st.sampled_from([*TYPES, "absent"]), min_size=1, max_size=3))
    ends = st.lists(st.sampled_from([*ids, "absent"]), min_size=1, max_size=3)
    return PathSearch(
        from_ids=tuple(draw(ends)),
        to_ids=tuple(draw(ends)),
        max_hops=draw(st.integers(1, 8)),
        max_paths=draw(st.sampled_from([1, 2, 5, 100])),
        max_nodes=draw(st.sampled_from([1, 2, 4, 100, 100])),
        edge_types=None if allowed is None else frozenset(name.casefold() for name in allowed),
        direction=draw(st.sampled_from(Direction)),
        max_bytes=AMPLE,
        min_confidence=draw(st.sampled_from([0.0, 0.0, 0.5, 0.7, 0.70001])),
    )


def stored(confidence: float) -> float:
    """In single precision."""
    return float(np.float32(confidence))


def steps_from(graph: Graph, search: PathSearch, node: str) -> dict[str, Edge]:
    """The edge to each other visible node: no mention, then by confidence, the one that points there, by type."""
    best_edges: dict[str, tuple[tuple[bool, float, bool, str], Edge]] = {}
    for edge in graph.edges:
        if not {edge.from_id, edge.to_id} <= graph.visible or edge.from_id == edge.to_id:
            continue
        if search.edge_types is not None and edge.edge_type.casefold() not in search.edge_types:
            continue
        if stored(edge.confidence) < stored(search.min_confidence):
            continue
        for near, far, against in ((edge.from_id, edge.to_id, False), (edge.to_id, edge.from_id, True)):
            if near != node or search.direction is (Direction.OUTGOING if against else Direction.INCOMING):
                continue
            rank = (edge.edge_type in MENTIONS, -stored(edge.confidence), against, edge.edge_type)
            if far not in best_edges or rank < best_edges[far][0]:
                best_edges[far] = (rank, edge)
    return {far: edge for far, (_, edge) in best_edges.items()}


def simple_paths(graph: Graph, search: PathSearch) -> Iterator[tuple[str, tuple[Edge, ...]]]:
    """Every path that the contract admits, whatever its length."""
    starts, ends = set(search.from_ids) & graph.visible, set(search.to_ids) & graph.visible
    pending: list[tuple[str, tuple[Edge, ...]]] = [(start, ()) for start in starts]
    while pending:
        nodes, edges = pending.pop()
        for far, edge in steps_from(graph, search, nodes[-1]).items():
            if far in nodes:
                continue
            if far in ends:
                yield nodes + far, (*edges, edge)
            elif far not in starts:
                pending.append((nodes + far, (*edges, edge)))


def mentions_among(edges: tuple[Edge, ...]) -> int:
    """How many edges of a path only name something."""
    return sum(edge.edge_type in MENTIONS for edge in edges)


def product(edges: tuple[Edge, ...]) -> Fraction:
    """The confidence of a path, exactly."""
    exact = Fraction(1)
    for edge in edges:
        exact *= Fraction(stored(edge.confidence))
    return exact


def sorted_paths(graph: Graph, search: PathSearch, max_hops: int) -> list[DependencyPath]:
    """All paths of at most so many hops in the order of the contract."""
    admitted = [path for path in simple_paths(graph, search) if len(path[1]) <= max_hops]
    admitted.sort(key=lambda path: (len(path[1]), mentions_among(path[1]), -product(path[1]), path[0]))
    return [
        DependencyPath(
            tuple(nodes),
            tuple(replace(edge, confidence=stored(edge.confidence)) for edge in edges),
            max(float(product(edges)), 5e-324),
        )
        for nodes, edges in admitted
    ]
