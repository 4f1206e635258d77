"""A plain breadth-first search over dictionaries, as the contract of `ExpandDependencyTree` states it."""

from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from groundwire_index.nodes.node import Edge, Location, content_hash
from groundwire_server.backends.interface import Walk
from groundwire_server.domain.graph.expansion import Direction, ExpandedNode, ExpandReason, Expansion

TYPES = ["Calls", "FK", "cs_dep"]
TypedEdge = tuple[str, str, str]
AMPLE = 1 << 22


@dataclass(frozen=True)
class Graph:
    """A small graph; ids are single letters, the visible ones are those that the public may see.

    `tests` are marked as tests. Edges in `doubtful` have the confidence 0.7, others 1.
    """

    ids: list[str]
    visible: set[str]
    edges: list[TypedEdge]
    tests: set[str] = field(default_factory=set)
    doubtful: set[TypedEdge] = field(default_factory=set)

    def edge(self, edge: TypedEdge, prefix: str = "") -> Edge:
        """The edge between ids with this prefix, as it is ingested; its line is told by its ends."""
        from_id, to_id, edge_type = edge
        confidence = 0.7 if edge in self.doubtful else 1.0
        return Edge(f"{prefix}{from_id}", f"{prefix}{to_id}", edge_type, confidence, ord(from_id) * ord(to_id))

    def passing(self, is_test: bool | None) -> "Graph":
        """The graph as a filter for tests, or for all but tests, leaves it."""
        return replace(self, visible={id_ for id_ in self.visible if is_test in (None, id_ in self.tests)})


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Up to ten nodes, with circles, self loops, edges in parallel, hidden nodes, tests and doubtful edges.

    At least one node is visible.
    """
    ids = [chr(ord("A") + number) for number in range(draw(st.integers(1, 10)))]
    hidden = draw(st.sets(st.sampled_from(ids), max_size=len(ids) - 1) | st.just(set()))
    ends = st.sampled_from(ids)
    edges = draw(st.lists(st.tuples(ends, ends, st.sampled_from(TYPES)), unique=True, max_size=30))
    tests = draw(st.sets(st.sampled_from(ids)))
    doubtful = draw(st.sets(st.sampled_from(edges))) if edges else set()
    return Graph(ids, set(ids) - hidden, edges, tests, doubtful)


@st.composite
def walks(draw: st.DrawFn, ids: list[str]) -> Walk:
    """A walk from seeds that may be repeated, hidden or absent."""
    allowed = draw(st.none() | st.lists(st.sampled_from([*TYPES, "absent"]), min_size=1, max_size=3))
    return Walk(
        seed_ids=tuple(draw(st.lists(st.sampled_from([*ids, "absent"]), min_size=1, max_size=5))),
        max_depth=draw(st.integers(0, 5)),
        max_nodes=draw(st.integers(1, 12)),
        edge_types=None if allowed is None else frozenset(name.casefold() for name in allowed),
        direction=draw(st.sampled_from(Direction)),
        max_bytes=AMPLE,
        min_confidence=draw(st.sampled_from([0.0, 0.0, 0.3, 0.7, 0.70001, 1.0])),
    )


def steps_from(graph: Graph, walk: Walk, node: str) -> list[tuple[str, str, TypedEdge]]:
    """(edge type, other end, edge) of every edge that is sure enough and leads from a visible node to a visible one."""
    steps = []
    for edge in graph.edges:
        from_id, to_id, edge_type = edge
        if not {from_id, to_id} <= graph.visible:
            continue
        if walk.edge_types is not None and edge_type.casefold() not in walk.edge_types:
            continue
        if walk.min_confidence > (0.7 if edge in graph.doubtful else 1.0):
            continue
        if from_id == node and walk.direction is not Direction.INCOMING:
            steps.append((edge_type, to_id, edge))
        if to_id == node and walk.direction is not Direction.OUTGOING:
            steps.append((edge_type, from_id, edge))
    return steps


@dataclass
class Reached:
    """What the oracle knows of a reached node."""

    id: str
    depth: int
    parent: str
    seed: int


def oracle_nodes(graph: Graph, walk: Walk) -> tuple[list[Reached], bool]:
    """Level by level; a level is sorted by (seed, edge type, id), the first way to a node counts. And: truncated?"""
    seeds = [id_ for id_ in dict.fromkeys(walk.seed_ids) if id_ in graph.visible]
    level = [Reached(id_, 0, "", position) for position, id_ in enumerate(seeds)]
    nodes = list(level)
    for depth in range(1, walk.max_depth + 1):
        ways = sorted(
            (parent.seed, edge_type, other, place)
            for place, parent in enumerate(level)
            for edge_type, other, _ in steps_from(graph, walk, parent.id)
        )
        parents, level = level, []
        for seed, _, other, place in ways:
            if other not in {node.id for node in nodes}:
                level.append(Reached(other, depth, parents[place].id, seed))
                nodes.append(level[-1])
        # Only what is returned is walked on from; but the places beyond the limit are taken by nothing deeper.
        if len(nodes) > walk.max_nodes:
            break
    return nodes[: walk.max_nodes], len(nodes) > walk.max_nodes


def oracle_edges(graph: Graph, walk: Walk, nodes: list[Reached]) -> list[TypedEdge]:
    """The edges that the proto states, once each, by the place of the node that they leave, edge type and other end.

    Every admitted edge that leaves, in the direction asked, a node of less than max_depth and ends at a returned node.
    """
    returned = {node.id for node in nodes}
    edges: list[TypedEdge] = []
    for node in nodes:
        if node.depth >= walk.max_depth:
            continue
        steps = steps_from(graph, walk, node.id)
        # Two nodes that depend on each other by one type: the edge in the first one's own direction first.
        for _, other, edge in sorted(steps, key=lambda step: (step[0], step[1], step[2][0] != node.id)):
            if other in returned and edge not in edges:
                edges.append(edge)
    return edges


def expanded_node(id_: str, depth: int, parent: str, is_test: bool = False) -> ExpandedNode:
    """A node as a walk tells it, with its symbol and place."""
    return ExpandedNode(id_, depth, parent, id_, Location(f"src/{id_}.cs", 1, 2, content_hash("")), is_test)


def expected(graph: Graph, walk: Walk) -> Expansion:
    nodes, truncated = oracle_nodes(graph, walk)
    if not nodes:
        return Expansion((), (), (), ExpandReason.NO_SEEDS, "v1")
    return Expansion(
        seed_ids=tuple(node.id for node in nodes if node.depth == 0),
        nodes=tuple(expanded_node(node.id, node.depth, node.parent, node.id in graph.tests) for node in nodes),
        edges=tuple(graph.edge(edge) for edge in oracle_edges(graph, walk, nodes)),
        reason=oracle_reason(graph, walk, nodes, truncated=truncated),
        index="v1",
        seed_count=len(set(walk.seed_ids) & graph.visible),
    )


def oracle_reason(graph: Graph, walk: Walk, nodes: list[Reached], *, truncated: bool) -> ExpandReason:
    """As the proto states: the depth is named when nothing was cut and an edge leads on from there to elsewhere."""
    if truncated:
        return ExpandReason.LIMIT_REACHED
    returned = {node.id for node in nodes}
    last = [node.id for node in nodes if node.depth == walk.max_depth]
    leads_on = any(other not in returned for id_ in last for _, other, _ in steps_from(graph, walk, id_))
    return ExpandReason.DEPTH_REACHED if leads_on else ExpandReason.OK
