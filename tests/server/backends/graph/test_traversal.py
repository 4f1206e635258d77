"""The bounded walk against a plain breadth-first search over dictionaries."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from groundwire_index.nodes.node import Edge, Location, Node, NodeAccess
from groundwire_index.scope import Scope
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.backends.interface import Walk
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.errors import DeadlineError
from groundwire_server.domain.graph.expansion import Direction, ExpandedNode, ExpandReason, Expansion
from groundwire_server.domain.response_size import of_edge, of_expanded_node
from groundwire_server.domain.search.search import Filter
from groundwire_server.rpc.conversions.expansion import encode_expansion
from support.calls import never_stop
from support.properties import costly
from support.walk_oracle import AMPLE, Graph, Reached, expanded_node, expected, graphs, oracle_edges, walks

SCOPE = Scope("shop", "main", "v1")
PUBLIC = AccessContext()
HIDDEN = NodeAccess(acl_tags=("finance",))

OpenBackend = Callable[..., AbstractContextManager[EmbeddedBackend]]
MakeNode = Callable[..., Node]


# Long, so that how often a response holds an id outweighs what else it holds of a node.
NAMESPACE = "Long.Winded.Namespace.Of.An.Enterprise." * 3
PREFIX = f"shop::main::cs::{NAMESPACE}"


def full(walk: Walk) -> Walk:
    return replace(walk, seed_ids=tuple(f"{PREFIX}{id_}" for id_ in walk.seed_ids))


def short(expansion: Expansion) -> Expansion:
    """The same with local ids."""

    def local(id_: str) -> str:
        return id_.removeprefix(PREFIX)

    return replace(
        expansion,
        seed_ids=tuple(map(local, expansion.seed_ids)),
        nodes=tuple(replace(n, id=local(n.id), parent_id=local(n.parent_id)) for n in expansion.nodes),
        edges=tuple(
            # Confidences are stored in single precision.
            replace(e, from_id=local(e.from_id), to_id=local(e.to_id), confidence=round(e.confidence, 6))
            for e in expansion.edges
        ),
    )


@pytest.fixture(scope="session")
def opened(
    make_node: MakeNode, open_backend: OpenBackend
) -> Callable[[Graph], AbstractContextManager[EmbeddedBackend]]:
    """`with opened(graph) as backend`."""

    def opener(graph: Graph) -> AbstractContextManager[EmbeddedBackend]:
        nodes = [
            make_node(
                f"{NAMESPACE}{id_}",
                path=f"src/{id_}.cs",
                symbol=id_,
                access=NodeAccess() if id_ in graph.visible else HIDDEN,
                is_test=id_ in graph.tests,
            )
            for id_ in graph.ids
        ]
        return open_backend(nodes, [graph.edge(edge, PREFIX) for edge in graph.edges], lexical=False)

    return opener


Opened = Callable[[Graph], AbstractContextManager[EmbeddedBackend]]


@costly()
@given(graph=graphs(), data=st.data())
def test_a_walk_equals_plain_breadth_first_search(graph: Graph, data: st.DataObject, opened: Opened) -> None:
    with opened(graph) as backend:
        # Several walks a graph: building it costs more than walking it.
        for _ in range(20):
            walk, is_test = data.draw(walks(graph.ids)), data.draw(st.sampled_from([None, None, False, True]))
            expansion = short(
                backend.open(SCOPE, PUBLIC, filter_=Filter(is_test=is_test)).expand(full(walk), never_stop)
            )
            event(expansion.reason.value)
            assert expansion == expected(graph.passing(is_test), walk)
            check_sound(expansion)


def check_sound(expansion: Expansion) -> None:
    """What holds of every expansion, whatever the graph."""
    ids = [node.id for node in expansion.nodes]
    assert len(set(ids)) == len(ids)
    identities = [(edge.from_id, edge.to_id, edge.edge_type) for edge in expansion.edges]
    assert len(set(identities)) == len(identities)
    assert {end for edge in expansion.edges for end in (edge.from_id, edge.to_id)} <= set(ids)
    depths = {node.id: node.depth for node in expansion.nodes}
    assert list(depths.values()) == sorted(depths.values())
    for node in expansion.nodes:
        assert (node.parent_id == "") == (node.depth == 0)
        if node.depth > 0:
            assert depths[node.parent_id] == node.depth - 1


@costly()
@given(graph=graphs(), data=st.data())
def test_the_byte_limit_keeps_a_prefix_of_nodes_and_of_their_edges(
    graph: Graph, data: st.DataObject, opened: Opened
) -> None:
    with opened(graph) as backend:
        for _ in range(4):
            walk = data.draw(walks(graph.ids))
            check_cut(graph, backend, walk, replace(walk, max_bytes=data.draw(st.integers(0, 5_000))))


def check_cut(graph: Graph, backend: EmbeddedBackend, walk: Walk, limited: Walk) -> None:
    snapshot = backend.open(SCOPE, PUBLIC)
    whole = short(snapshot.expand(full(walk), never_stop))
    raw = snapshot.expand(full(limited), never_stop)
    expansion = short(raw)
    check_sound(expansion)
    assert expansion.nodes == whole.nodes[: len(expansion.nodes)]
    kept = [Reached(node.id, node.depth, node.parent_id, 0) for node in expansion.nodes]
    edges_among = tuple(graph.edge(edge) for edge in oracle_edges(graph, walk, kept))
    assert expansion.edges == edges_among[: len(expansion.edges)]
    cut = len(expansion.nodes) < len(whole.nodes) or len(expansion.edges) < len(whole.edges)
    assert expansion.reason is (ExpandReason.RESPONSE_LIMIT if cut else whole.reason)
    event("cut" if cut else "whole")
    encoded = encode_expansion(raw)
    encoded.ClearField("debug")
    encoded.ClearField("index")
    assert encoded.ByteSize() <= limited.max_bytes


def test_no_node_and_no_edge_adds_more_to_a_response_than_is_reckoned() -> None:
    """Strings so long that their lengths take the most bytes they can, and the greatest depth."""
    id_, parent, edge_type = "\U0001f600" * 2_048, "p" * 2_048, "e" * 20_000
    symbol, path = "s" * 20_000, "p" * 20_000
    location = Location(path, 2**31 - 1, 2**31 - 1, "0" * 64)
    empty = Expansion((), (), (), ExpandReason.OK, "")
    debug = encode_expansion(empty).ByteSize() + 20  # its counts, which grow
    seed = replace(empty, seed_ids=(id_,), nodes=(ExpandedNode(id_, 0, "", symbol, location, True, True),))
    assert encode_expansion(seed).ByteSize() - debug <= of_expanded_node(seed.nodes[0])
    node = replace(empty, nodes=(ExpandedNode(id_, 16, parent, symbol, location, True, True),) * 100)
    assert encode_expansion(node).ByteSize() - debug <= 100 * (of_expanded_node(node.nodes[0]) - len(id_.encode()))
    edge = replace(empty, edges=(Edge(id_, parent, edge_type, 0.3, 2**31 - 1),) * 100)
    assert encode_expansion(edge).ByteSize() - debug <= 100 * of_edge(edge.edges[0])


def test_a_hidden_node_is_not_travelled_through(opened: Opened) -> None:
    chain = [("A", "B", "Calls"), ("B", "C", "Calls")]
    walk = Walk(("A",), 5, 10, None, Direction.BOTH, AMPLE)
    with opened(Graph(["A", "B", "C"], {"A", "C"}, chain)) as backend:
        expansion = short(backend.open(SCOPE, PUBLIC).expand(full(walk), never_stop))
    assert expansion == Expansion(("A",), (expanded_node("A", 0, ""),), (), ExpandReason.OK, "v1", seed_count=1)


def test_a_node_that_does_not_pass_the_filter_is_not_travelled_through(opened: Opened) -> None:
    chain = [("A", "B", "Calls"), ("B", "C", "Calls"), ("A", "D", "Calls")]
    walk = Walk(("A", "B"), 5, 10, None, Direction.BOTH, AMPLE)
    graph = Graph(["A", "B", "C", "D"], set("ABCD"), chain, tests={"B"})
    with opened(graph) as backend:
        snapshot = backend.open(SCOPE, PUBLIC, filter_=Filter(is_test=False))
        expansion = short(snapshot.expand(full(walk), never_stop))
    nodes = (expanded_node("A", 0, ""), expanded_node("D", 1, "A"))
    assert expansion == Expansion(("A",), nodes, (graph.edge(chain[2]),), ExpandReason.OK, "v1", seed_count=1)


def test_what_does_not_pass_the_filter_takes_no_place(opened: Opened) -> None:
    """A walk that is full of what passes is not cut short by what does not."""
    edges = [("A", "B", "Calls"), ("A", "C", "Calls")]
    walk = Walk(("A",), 1, 2, None, Direction.OUTGOING, AMPLE)
    with opened(Graph(["A", "B", "C"], set("ABC"), edges, tests={"B"})) as backend:
        snapshot = backend.open(SCOPE, PUBLIC, filter_=Filter(is_test=False))
        expansion = short(snapshot.expand(full(walk), never_stop))
    assert [node.id for node in expansion.nodes] == ["A", "C"]
    assert not expansion.truncated


@pytest.mark.parametrize(("min_confidence", "reached"), [(0.0, "ABC"), (0.7, "ABC"), (0.71, "A"), (1.0, "A")], ids=str)
def test_doubtful_edges_are_followed_from_their_own_confidence_down(
    opened: Opened, min_confidence: float, reached: str
) -> None:
    """0.7 in single precision lies below 0.7 in double precision."""
    chain = [("A", "B", "Calls"), ("B", "C", "Calls")]
    walk = Walk(("A",), 5, 10, None, Direction.OUTGOING, AMPLE, min_confidence)
    with opened(Graph(["A", "B", "C"], set("ABC"), chain, doubtful={chain[0]})) as backend:
        expansion = short(backend.open(SCOPE, PUBLIC).expand(full(walk), never_stop))
    assert "".join(node.id for node in expansion.nodes) == reached
    assert len(expansion.edges) == len(reached) - 1


@pytest.mark.parametrize(("max_nodes", "truncated"), [(2, True), (3, False)])
@pytest.mark.parametrize("hidden_too", [False, True], ids=["all visible", "one more hidden"])
def test_truncated_tells_only_of_visible_nodes_that_had_no_place(
    opened: Opened, max_nodes: int, truncated: bool, hidden_too: bool
) -> None:
    edges = [("A", "B", "Calls"), ("A", "C", "Calls"), *([("A", "D", "Calls")] if hidden_too else [])]
    walk = Walk(("A",), 3, max_nodes, None, Direction.OUTGOING, AMPLE)
    with opened(Graph(["A", "B", "C", "D"], {"A", "B", "C"}, edges)) as backend:
        assert backend.open(SCOPE, PUBLIC).expand(full(walk), never_stop).truncated is truncated


def test_a_full_walk_is_not_truncated_by_edges_back_to_what_it_holds(opened: Opened) -> None:
    edges = [("A", "B", "Calls"), ("B", "A", "Calls"), ("B", "B", "FK")]
    walk = Walk(("A",), 9, 2, None, Direction.OUTGOING, AMPLE)
    with opened(Graph(["A", "B"], {"A", "B"}, edges)) as backend:
        expansion = short(backend.open(SCOPE, PUBLIC).expand(full(walk), never_stop))
    assert expansion.reason is ExpandReason.OK
    assert [(e.from_id, e.to_id, e.edge_type) for e in expansion.edges] == [
        ("A", "B", "Calls"),
        ("B", "A", "Calls"),
        ("B", "B", "FK"),
    ]


def test_an_edges_confidence_and_line_are_told(make_node: MakeNode, open_backend: OpenBackend) -> None:
    a, b = make_node("A"), make_node("B")
    with open_backend([a, b], [Edge(a.id, b.id, "Calls", 0.25, 12)], lexical=False) as backend:
        walk = Walk((a.id,), 1, 9, None, Direction.OUTGOING, AMPLE)
        assert backend.open(SCOPE, PUBLIC).expand(walk, never_stop).edges == (Edge(a.id, b.id, "Calls", 0.25, 12),)


def test_work_stops_between_levels(opened: Opened) -> None:
    chain = [("A", "B", "Calls"), ("B", "C", "Calls"), ("C", "D", "Calls")]
    calls: list[int] = []

    def stop_at_the_second() -> None:
        calls.append(1)
        if len(calls) == 2:
            raise DeadlineError

    with opened(Graph(["A", "B", "C", "D"], set("ABCD"), chain)) as backend, pytest.raises(DeadlineError):
        backend.open(SCOPE, PUBLIC).expand(
            full(Walk(("A",), 9, 9, None, Direction.OUTGOING, AMPLE)), stop_at_the_second
        )
