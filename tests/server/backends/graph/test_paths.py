"""The search for paths against all simple paths, enumerated and sorted as the contract states."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_index.nodes.node import Edge, Location, Node, NodeAccess, content_hash
from groundwire_index.scope import Scope
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.backends.embedded.visibility.row_selection import RowSelection
from groundwire_server.backends.interface import PathSearch
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.errors import DeadlineError
from groundwire_server.domain.graph.expansion import Direction
from groundwire_server.domain.graph.paths import DependencyPath, Paths, PathsReason
from groundwire_server.domain.response_size import of_path, of_path_node
from groundwire_server.domain.search.search import Filter, NodeLabel
from groundwire_server.rpc.conversions.expansion import encode_paths
from support.calls import never_stop
from support.path_oracle import AMPLE, Graph, graphs, searches, sorted_paths
from support.properties import costly

SCOPE = Scope("shop", "main", "v1")
PUBLIC = AccessContext()
HIDDEN = NodeAccess(acl_tags=("finance",))
PREFIX = "shop::main::cs::"

OpenBackend = Callable[..., AbstractContextManager[EmbeddedBackend]]
MakeNode = Callable[..., Node]


def chain(ids: str, edge_type: str = "Calls") -> tuple[Edge, ...]:
    """An edge from each to the next."""
    return tuple(Edge(near, far, edge_type) for near, far in pairwise(ids))


def full(search: PathSearch) -> PathSearch:
    return replace(
        search,
        from_ids=tuple(PREFIX + id_ for id_ in search.from_ids),
        to_ids=tuple(PREFIX + id_ for id_ in search.to_ids),
    )


def short(answer: Paths) -> Paths:
    """The same with local ids."""

    def local(id_: str) -> str:
        return id_.removeprefix(PREFIX)

    paths = tuple(
        DependencyPath(
            tuple(map(local, path.node_ids)),
            tuple(replace(hop, from_id=local(hop.from_id), to_id=local(hop.to_id)) for hop in path.hops),
            path.confidence,
        )
        for path in answer.paths
    )
    return replace(answer, paths=paths, nodes=tuple(replace(node, id=local(node.id)) for node in answer.nodes))


@pytest.fixture(scope="session")
def opened(
    make_node: MakeNode, open_backend: OpenBackend
) -> Callable[[Graph], AbstractContextManager[EmbeddedBackend]]:
    """`with opened(graph) as backend`."""

    def opener(graph: Graph) -> AbstractContextManager[EmbeddedBackend]:
        nodes = [
            make_node(
                id_,
                path=f"src/{id_}.cs",
                symbol=f"Shop.{id_}",
                access=NodeAccess() if id_ in graph.visible else HIDDEN,
                is_test=id_ in graph.tests,
            )
            for id_ in graph.ids
        ]
        edges = [replace(edge, from_id=PREFIX + edge.from_id, to_id=PREFIX + edge.to_id) for edge in graph.edges]
        return open_backend(nodes, edges, lexical=False)

    return opener


Opened = Callable[[Graph], AbstractContextManager[EmbeddedBackend]]


def found_in(backend: EmbeddedBackend, search: PathSearch, filter_: Filter | None = None) -> Paths:
    return short(backend.open(SCOPE, PUBLIC, filter_=filter_ or Filter()).find_paths(full(search), never_stop))


def ways(answer: Paths) -> list[str]:
    return ["".join(path.node_ids) for path in answer.paths]


def search_between(from_ids: str, to_ids: str, **changes: object) -> PathSearch:
    """A search along all edges, with ample limits."""
    search = PathSearch(tuple(from_ids), tuple(to_ids), 8, 10, 100, None, Direction.OUTGOING, AMPLE)
    return replace(search, **changes)  # type: ignore[arg-type]


def check_sound(graph: Graph, search: PathSearch, answer: Paths) -> None:
    """What holds of every answer: it is the beginning of all paths, and its reason says how much of it."""
    starts, ends = set(search.from_ids) & graph.visible, set(search.to_ids) & graph.visible
    assert (answer.from_count, answer.to_count) == (len(starts), len(ends))
    every = sorted_paths(graph, search, search.max_hops)
    assert list(answer.paths) == every[: len(answer.paths)]
    named = dict.fromkeys(id_ for path in answer.paths for id_ in path.node_ids)
    assert list(answer.nodes) == [
        NodeLabel(id_, f"Shop.{id_}", Location(f"src/{id_}.cs", 1, 2, content_hash("")), id_ in graph.tests)
        for id_ in named
    ]
    match answer.reason:
        case PathsReason.OK:
            assert len(answer.paths) == len(every) < search.max_paths
            assert answer.searched_hops == search.max_hops
        case PathsReason.NO_ENDS:
            assert not (starts and ends)
        case PathsReason.PATH_LIMIT:
            assert len(answer.paths) == search.max_paths
            assert answer.searched_hops == len(answer.paths[-1].hops)
        case PathsReason.LIMIT_REACHED:
            assert len(answer.paths) == len(sorted_paths(graph, search, answer.searched_hops))
            assert answer.searched_hops < search.max_hops
            assert len(graph.visible - starts - ends) > search.max_nodes
        case PathsReason.RESPONSE_LIMIT:
            raise AssertionError("there is ample room")
    assert answer.reached_count <= search.max_nodes


@pytest.mark.parametrize("mention", ["Imports", "References", "Contains", "DecoratedBy", "PartialOf", "Tests", "tests"])
def test_of_equally_long_paths_those_with_fewer_mentions_come_first(mention: str, opened: Opened) -> None:
    """A surer mention comes after a guessed call, whichever ids the nodes have, and also between the same two nodes."""
    through_mention = (Edge("A", "B", mention), Edge("B", "Z", "Calls"))
    through_call = (Edge("A", "C", "Calls", 0.5, 7), Edge("A", "C", mention), Edge("C", "Z", "WritesTo", 0.5))
    with opened(Graph("ABCZ", frozenset("ABCZ"), (*through_mention, *through_call))) as backend:
        answer = found_in(backend, search_between("A", "Z"))
    assert ways(answer) == ["ACZ", "ABZ"]
    assert [hop.edge_type for hop in answer.paths[0].hops] == ["Calls", "WritesTo"]
    assert answer.paths[0].confidence == 0.25


def test_a_shorter_path_comes_first_even_if_it_is_a_mention(opened: Opened) -> None:
    edges = (Edge("A", "Z", "Imports"), *chain("ABZ"))
    with opened(Graph("ABZ", frozenset("ABZ"), edges)) as backend:
        assert ways(found_in(backend, search_between("A", "Z"))) == ["AZ", "ABZ"]


@costly()
@given(graph=graphs(), data=st.data())
def test_paths_are_the_first_of_all_simple_paths(graph: Graph, data: st.DataObject, opened: Opened) -> None:
    with opened(graph) as backend:
        # Several searches a graph: building it costs more than searching it.
        for _ in range(25):
            search = data.draw(searches(graph.ids))
            is_test = data.draw(st.sampled_from([None, None, False, True]))
            answer = found_in(backend, search, Filter(is_test=is_test))
            event(f"{answer.reason.value}, {min(len(answer.paths), 3)} paths or more")
            passing = frozenset(id_ for id_ in graph.visible if is_test in (None, id_ in graph.tests))
            check_sound(replace(graph, visible=passing), search, answer)


@costly()
@given(graph=graphs(), data=st.data())
def test_hidden_nodes_change_nothing(graph: Graph, data: st.DataObject, opened: Opened) -> None:
    trimmed = Graph(
        "".join(id_ for id_ in graph.ids if id_ in graph.visible),
        graph.visible,
        tuple(edge for edge in graph.edges if {edge.from_id, edge.to_id} <= graph.visible),
        graph.tests,
    )
    with opened(graph) as whole, opened(trimmed) as rest:
        for _ in range(20):
            search = data.draw(searches(graph.ids))
            assert found_in(whole, search) == found_in(rest, search)


@costly()
@given(graph=graphs(), data=st.data())
def test_the_byte_limit_keeps_the_first_paths(graph: Graph, data: st.DataObject, opened: Opened) -> None:
    with opened(graph) as backend:
        for _ in range(4):
            search = data.draw(searches(graph.ids))
            check_cut(backend, search, replace(search, max_bytes=data.draw(st.integers(0, 2_000))))


def check_cut(backend: EmbeddedBackend, search: PathSearch, limited: PathSearch) -> None:
    whole = found_in(backend, search)
    raw = backend.open(SCOPE, PUBLIC).find_paths(full(limited), never_stop)
    answer = short(raw)
    assert answer.paths == whole.paths[: len(answer.paths)]
    cut = len(answer.paths) < len(whole.paths)
    assert answer.reason is (PathsReason.RESPONSE_LIMIT if cut else whole.reason)
    event("cut" if cut else "whole")
    encoded = encode_paths(raw)
    encoded.ClearField("debug")
    encoded.ClearField("index")
    assert encoded.ByteSize() <= limited.max_bytes


def test_no_path_adds_more_to_a_response_than_is_reckoned() -> None:
    """Strings so long that their lengths take the most bytes they can, and the largest numbers."""
    ids = tuple("\U0001f600" * 2_047 + str(place) for place in range(2))
    path = DependencyPath(ids, (Edge(ids[0], ids[1], "e" * 20_000, 0.3, 2**31 - 1),), 0.3)
    nodes = tuple(
        NodeLabel(id_, "s" * 20_000, Location("p" * 20_000, 2**31 - 1, 2**31 - 1, "0" * 64), True, True) for id_ in ids
    )
    answer = Paths((path,) * 50, nodes, 0, 0, 0, 0, PathsReason.OK, "")
    debug = encode_paths(replace(answer, paths=(), nodes=())).ByteSize()
    reckoned = 50 * of_path(path) + sum(map(of_path_node, nodes))
    assert encode_paths(answer).ByteSize() - debug <= reckoned


def test_fewer_hops_come_first_then_greater_confidence_then_ids(opened: Opened) -> None:
    edges = (
        *chain("AXYT"),
        Edge("A", "B", "Calls", 0.5), Edge("B", "T", "Calls", 0.5),
        Edge("A", "D", "Calls", 0.5), Edge("D", "T", "Calls", 0.9),
        Edge("A", "C", "Calls", 0.5), Edge("C", "T", "Calls", 0.5),
        Edge("A", "T", "Calls", 0.01),
    )  # fmt: skip
    with opened(Graph("ABCDTXY", frozenset("ABCDTXY"), edges)) as backend:
        assert ways(found_in(backend, search_between("A", "T"))) == ["AT", "ADT", "ABT", "ACT", "AXYT"]
        assert ways(found_in(backend, search_between("A", "T", max_hops=2))) == ["AT", "ADT", "ABT", "ACT"]
        assert ways(found_in(backend, search_between("A", "T", max_paths=2))) == ["AT", "ADT"]


def test_a_path_goes_on_from_no_end(opened: Opened) -> None:
    with opened(Graph("ABCD", frozenset("ABCD"), chain("ABCD"))) as backend:
        assert ways(found_in(backend, search_between("AB", "CD"))) == ["BC"]
        assert ways(found_in(backend, search_between("AC", "CD"))) == ["CD", "ABC"]
        assert ways(found_in(backend, search_between("A", "A"))) == []


def test_a_circle_is_no_path(opened: Opened) -> None:
    """Also for a node that stands on both sides."""
    with opened(Graph("ABC", frozenset("ABC"), chain("ABCAB"[:4]))) as backend:
        assert ways(found_in(backend, search_between("AC", "A"))) == ["CA"]
        assert ways(found_in(backend, search_between("A", "AB"))) == ["AB"]


def test_edges_are_followed_the_way_asked(opened: Opened) -> None:
    edges = (*chain("AB"), *chain("CB"))
    with opened(Graph("ABC", frozenset("ABC"), edges)) as backend:
        assert ways(found_in(backend, search_between("A", "C"))) == []
        assert ways(found_in(backend, search_between("B", "A", direction=Direction.INCOMING))) == ["BA"]
        (path,) = found_in(backend, search_between("A", "C", direction=Direction.BOTH)).paths
    assert path == DependencyPath(("A", "B", "C"), edges, 1.0)


def test_nothing_leads_through_what_is_hidden_filtered_or_not_sure_enough(opened: Opened) -> None:
    edges = (*chain("AHT"), *chain("AST"), Edge("A", "D", "Calls", 0.4), Edge("D", "T", "Calls", 0.4))
    graph = Graph("ADHST", frozenset("ADST"), edges, frozenset("S"))
    with opened(graph) as backend:
        assert ways(found_in(backend, search_between("A", "T"))) == ["AST", "ADT"]
        assert ways(found_in(backend, search_between("A", "T"), Filter(is_test=False))) == ["ADT"]
        assert ways(found_in(backend, search_between("A", "T", min_confidence=0.5))) == ["AST"]
        hidden, absent = (found_in(backend, search_between("A", end)) for end in ("H", "Z"))
    assert hidden == absent
    assert hidden.reason is PathsReason.NO_ENDS


@pytest.mark.parametrize(("max_nodes", "expected"), [(3, ["ABT", "ACT", "ADT"]), (2, [])])
@pytest.mark.parametrize("hidden_too", [False, True], ids=["all visible", "one more hidden"])
def test_a_level_without_room_counts_for_nothing(
    opened: Opened, max_nodes: int, expected: list[str], hidden_too: bool
) -> None:
    middle = "BCDH" if hidden_too else "BCD"
    edges = tuple(edge for node in middle for edge in chain(f"A{node}T"))
    with opened(Graph("ABCDHT", frozenset("ABCDT"), edges)) as backend:
        answer = found_in(backend, search_between("A", "T", max_nodes=max_nodes))
    assert ways(answer) == expected
    assert answer.reason is (PathsReason.OK if expected else PathsReason.LIMIT_REACHED)
    assert (answer.searched_hops, answer.reached_count) == ((8, 3) if expected else (1, 0))


def test_work_stops_between_levels(opened: Opened) -> None:
    calls: list[int] = []

    def stop_at_the_second() -> None:
        calls.append(1)
        if len(calls) == 2:
            raise DeadlineError

    with opened(Graph("ABCD", frozenset("ABCD"), chain("ABCD"))) as backend, pytest.raises(DeadlineError):
        backend.open(SCOPE, PUBLIC).find_paths(full(search_between("A", "D")), stop_at_the_second)


def numbered(make_node: MakeNode, count: int) -> list[Node]:
    return [make_node(f"N{number:06}") for number in range(count)]


def test_of_a_hub_no_more_is_read_than_the_limit_admits(
    make_node: MakeNode, open_backend: OpenBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a hub of 20,000 there is no room; from the other end there is."""
    nodes = numbered(make_node, 20_003)
    hub, before, target = (node.id for node in nodes[-3:])
    spokes = [Edge(hub, node.id, "Calls") for node in nodes[:-3]]
    edges = [*spokes, Edge(before, hub, "Calls"), Edge(nodes[7].id, target, "Calls")]
    judged: list[int] = []
    holds = RowSelection.holds

    def counted(self: RowSelection, rows: NDArray[np.integer]) -> NDArray[np.bool_]:
        judged.append(len(rows))
        return holds(self, rows)

    with open_backend(nodes, edges, lexical=False) as backend:
        graph = backend.open(SCOPE, PUBLIC)
        monkeypatch.setattr(RowSelection, "holds", counted)
        search = PathSearch((before,), (target,), 6, 10, 50, None, Direction.OUTGOING, AMPLE)
        answer = graph.find_paths(search, never_stop)
    assert [path.node_ids for path in answer.paths] == [(before, hub, nodes[7].id, target)]
    assert answer.reason is PathsReason.OK
    assert sum(judged) < 2_000


def test_exponentially_many_paths_cost_no_more_than_those_returned(
    make_node: MakeNode, open_backend: OpenBackend
) -> None:
    """Sixteen layers of ten, each node with an edge to all of the next layer and back: 10^15 shortest paths alone."""
    layers = [numbered(make_node, 150)[start : start + 10] for start in range(0, 150, 10)]
    first, last = make_node("A"), make_node("T")
    layers = [[first], *layers, [last]]
    edges = [
        Edge(near.id, far.id, "Calls", 0.9)
        for layer, following in pairwise(layers)
        for near in layer
        for far in following
    ]
    nodes = [node for layer in layers for node in layer]
    checks: list[int] = []
    with open_backend(nodes, edges, lexical=False) as backend:
        graph = backend.open(SCOPE, PUBLIC)
        for direction in (Direction.OUTGOING, Direction.BOTH):
            search = PathSearch((first.id,), (last.id,), 16, 100, 2_000, None, direction, AMPLE)
            answer = graph.find_paths(search, lambda: checks.append(1))
            assert len(answer.paths) == 100
            assert {len(path.hops) for path in answer.paths} == {16}
            assert len({path.node_ids for path in answer.paths}) == 100
    assert len(checks) < 500
