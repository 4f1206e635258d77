"""What Milvus gives of a graph against what the embedded backend gives of the same index.

The graph has circles, self loops, edges in parallel and both ways, doubtful ones, hidden and deleted nodes, and a hub
of several chunks of edges.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_index.nodes.node import CONTAINS, Edge, Node, NodeAccess
from groundwire_index.scope import Scope
from groundwire_milvus.catalogue import Catalogue
from groundwire_milvus.client import Client
from groundwire_milvus.connection import Result
from groundwire_milvus.document import VersionDocument
from groundwire_milvus.packing import EDGES_A_CHUNK
from groundwire_milvus.schema import VersionCollections
from groundwire_milvus.serving.graph.adjacency import Adjacency
from groundwire_milvus.serving.graph.reading import GraphReading, Judge
from groundwire_milvus.serving.graph.related_nodes import (
    adjacent_to,
    parents_of,
    selected_service_contexts,
    visible_neighbourhood,
)
from groundwire_milvus.store import MilvusStore, among
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.backends.embedded.snapshot import EmbeddedSnapshot
from groundwire_server.backends.interface import PathSearch, Walk
from groundwire_server.backends.shared.graph.expansion import expand
from groundwire_server.backends.shared.graph.paths import find_paths
from groundwire_server.domain.access.access import AccessContext, may_see
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.graph.expansion import Direction, ExpandReason, Expansion
from groundwire_server.domain.graph.paths import Paths
from groundwire_server.domain.search.search import Filter
from support.calls import never_stop
from support.milvus_builds import copy_to_milvus
from support.milvus_server import MilvusServer
from support.properties import costly

SCOPE = Scope("shop", "main", "v1")
PREFIX = "shop::main::cs::"
SMALL = 40
LAYERS, WIDTH = 6, 2
TYPES = ["Calls", CONTAINS, "FK"]
HUB_TYPES = [*TYPES, *(f"T{number}" for number in range(9))]
SPOKES = 8 * EDGES_A_CHUNK // len(HUB_TYPES) + 30
"""So that of the hubs' edges eight chunks are full."""
CALLERS = [AccessContext(), AccessContext(acl_tags_any=frozenset({"finance"}))]
AMPLE = 1 << 22
Caller = tuple[AccessContext, Lifecycle, bool | None]
"""Who asks, for which nodes, and whether for tests, for all but tests, or for both."""

MakeNode = Callable[..., Node]
OpenBackend = Callable[..., AbstractContextManager[EmbeddedBackend]]


def few(number: int) -> str:
    """The id of one of the nodes between which most of the edges are; the first two are hubs."""
    return f"{PREFIX}A{number:02}"


def layered(number: int) -> str:
    """The id of one of the nodes that stand in layers, with an edge from each to all of the next layer."""
    return f"{PREFIX}L{number}"


def drawn_nodes(chance: Random, make_node: MakeNode) -> list[Node]:
    few_nodes = [
        make_node(
            f"A{number:02}",
            document_id=chance.choice(["", "a", "b"]),
            chunk_index=chance.randint(0, 50),
            service_name=chance.choice(["", "orders", "billing", "mail"]),
            access=NodeAccess(acl_tags=("finance",)) if number > 5 and chance.random() < 0.25 else NodeAccess(),
            deleted=number > 5 and chance.random() < 0.1,
            is_test=chance.random() < 0.4,
        )
        for number in range(SMALL)
    ]
    spokes = [
        make_node(
            f"S{number:03}",
            document_id="s",
            chunk_index=number,
            access=NodeAccess(acl_tags=("finance",)) if number % 3 == 0 else NodeAccess(),
            is_test=number % 200 != 7,
        )
        for number in range(SPOKES)
    ]
    layered = [make_node(f"L{number}", is_test=True) for number in range(LAYERS * WIDTH)]
    return few_nodes + spokes + layered


def drawn_edges(chance: Random) -> list[Edge]:
    ends = {(chance.randrange(SMALL), chance.randrange(SMALL), chance.choice(TYPES)) for _ in range(110)}
    edges = [Edge(few(a), few(b), kind, chance.choice([1.0, 0.9, 0.8, 0.7, 0.3]), a + b) for a, b, kind in sorted(ends)]
    spokes = [f"{PREFIX}S{number:03}" for number in range(SPOKES)]
    for kind in HUB_TYPES:
        edges += [Edge(few(0), spoke, kind) for spoke in spokes] + [Edge(spoke, few(1), kind, 0.85) for spoke in spokes]
    edges += [Edge(spoke, few(2), "Calls") for spoke in spokes[7::200]] + [Edge(spokes[-1], few(0), "T8")]
    layers = [range(first, first + WIDTH) for first in range(0, LAYERS * WIDTH, WIDTH)]
    edges += [
        Edge(layered(a), layered(b), "Calls", 0.7)
        for layer, next_layer in pairwise(layers)
        for a in layer
        for b in next_layer
    ]
    return edges


class CountingStore(MilvusStore):
    """A store that notes which collections it queried."""

    queried: tuple[str, ...] = ()

    def ask_loaded(
        self, collection: str, request: Callable[[Client, float], Result], seconds: float | None = None
    ) -> Result:
        """Notes the collection, and asks."""
        self.queried = (*self.queried, collection)
        return super().ask_loaded(collection, request, seconds)


@dataclass(frozen=True)
class Both:
    """An index in both backends."""

    embedded: EmbeddedBackend
    store: CountingStore
    collections: VersionCollections
    document: VersionDocument

    def opened(self, access: AccessContext, lifecycle: Lifecycle, is_test: bool | None) -> "Opened":
        """It as one caller sees it, with a filter for tests, or for all but tests, or without one."""
        snapshot = self.embedded.open(SCOPE, access, lifecycle, Filter(is_test=is_test))
        document = self.document
        classes = np.asarray(
            [
                may_see(document.policies[node_class.policy], access)
                and (lifecycle is Lifecycle.ALL or node_class.deleted is (lifecycle is Lifecycle.DELETED))
                for node_class in document.classes
            ]
        )

        def passing(rows: NDArray[np.int64]) -> NDArray[np.int64]:
            condition = f"is_test == {str(is_test).lower()} and {among('row', rows.tolist())}"
            return self.store.query(self.collections.nodes, condition, ["row"]).integers("row")

        visible = Judge(classes, None)
        selected = visible if is_test is None else Judge(classes, passing)
        manifest = document.manifest
        reading = GraphReading(
            scope=snapshot.scope,
            store=self.store,
            collections=self.collections,
            edge_types=manifest.edge_types,
            node_count=manifest.node_count,
            adjacency=Adjacency(self.store, self.collections.edges),
            selected=selected,
            visible=visible,
        )
        return Opened(snapshot, reading)

    def newly_queried(self) -> tuple[str, ...]:
        """Which collections were queried since this was called last."""
        queried, self.store.queried = self.store.queried, ()
        return queried


@dataclass(frozen=True)
class Opened:
    """One index version as one caller sees it, in both backends."""

    embedded: EmbeddedSnapshot
    reading: GraphReading

    def expand(self, walk: Walk) -> Expansion:
        """As Milvus tells it."""
        return expand(self.embedded, self._anew(), walk, never_stop)

    def find_paths(self, search: PathSearch) -> Paths:
        """As Milvus tells it."""
        return find_paths(self.embedded, self._anew(), search, never_stop)

    def _anew(self) -> GraphReading:
        """With no edge read yet, as each call has it."""
        return replace(self.reading, adjacency=Adjacency(self.reading.store, self.reading.collections.edges))


@pytest.fixture(scope="module")
def both(make_node: MakeNode, open_backend: OpenBackend, milvus: MilvusServer) -> Iterator[Both]:
    chance = Random(7)
    nodes, edges = drawn_nodes(chance, make_node), drawn_edges(chance)
    catalogue = Catalogue(MilvusStore(milvus.address(milvus.new_database())))
    with open_backend(nodes, edges, lexical=False) as backend:
        copy_to_milvus(backend.open(SCOPE, CALLERS[1], Lifecycle.ALL).view.index, catalogue)
        entry = catalogue.require(SCOPE)
        store = CountingStore(catalogue.store.address)
        yield Both(backend, store, entry.collections, catalogue.document(entry))
    store.close()
    catalogue.store.close()


callers = st.tuples(
    st.sampled_from(CALLERS),
    st.sampled_from([Lifecycle.ACTIVE, Lifecycle.ACTIVE, Lifecycle.ALL, Lifecycle.DELETED]),
    st.sampled_from([None, None, False, True]),
)
ids = st.lists(
    st.integers(0, SMALL - 1).map(few) | st.sampled_from([few(0), few(1), f"{PREFIX}S007", "absent"]),
    min_size=1,
    max_size=4,
).map(tuple)
edge_types = st.none() | st.sets(st.sampled_from(["calls", "contains", "fk", "t8", "absent"]), min_size=1).map(
    frozenset
)
confidences = st.sampled_from([0.0, 0.0, 0.7, 0.70001, 0.85])
walks = st.builds(
    Walk,
    seed_ids=ids,
    max_depth=st.integers(0, 4),
    max_nodes=st.sampled_from([1, 3, 20, 200, 2_000]),
    edge_types=edge_types,
    direction=st.sampled_from(Direction),
    max_bytes=st.sampled_from([AMPLE, AMPLE, AMPLE, 3_000]),
    min_confidence=confidences,
)
searches = st.builds(
    PathSearch,
    from_ids=ids,
    to_ids=ids,
    max_hops=st.integers(1, 6),
    max_paths=st.sampled_from([1, 5, 30]),
    max_nodes=st.sampled_from([2, 20, 200, 2_000]),
    edge_types=edge_types,
    direction=st.sampled_from(Direction),
    max_bytes=st.sampled_from([AMPLE, AMPLE, 2_000]),
    min_confidence=confidences,
)


@costly()
@given(caller=callers, walk=walks)
def test_a_walk_is_the_same(both: Both, caller: Caller, walk: Walk) -> None:
    opened = both.opened(*caller)
    expansion = opened.expand(walk)
    event(expansion.reason.value)
    assert expansion == opened.embedded.expand(walk, never_stop)


@costly()
@given(caller=callers, search=searches)
def test_paths_are_the_same(both: Both, caller: Caller, search: PathSearch) -> None:
    opened = both.opened(*caller)
    answer = opened.find_paths(search)
    event(f"{answer.reason.value}, {min(len(answer.paths), 2)} paths or more")
    assert answer == opened.embedded.find_paths(search, never_stop)


@costly()
@given(caller=callers, chosen_rows=st.sets(st.integers(0, SMALL + SPOKES - 1), max_size=12), services=st.data())
def test_what_stands_around_rows_is_the_same(
    both: Both, caller: Caller, chosen_rows: set[int], services: st.DataObject
) -> None:
    opened = both.opened(*caller)
    snapshot, reading = opened.embedded, opened.reading
    seen = snapshot.rows([few(number) for number in range(SMALL)]).values()
    known = set(seen) | {row for row in chosen_rows if snapshot.selection.mask[row]}
    rows = np.asarray(sorted(row for row in known if row in chosen_rows or row < 6), dtype=np.int64)
    if len(rows):
        neighbourhood, wanted = visible_neighbourhood(reading, rows), snapshot.neighbourhood(rows)
        for column in ("ends", "confidences", "degrees"):
            np.testing.assert_array_equal(getattr(neighbourhood, column), getattr(wanted, column), strict=True)
    for read, wanted_of in ((parents_of, snapshot.parents), (adjacent_to, snapshot.adjacent)):
        related = [positions.tolist() for positions in read(reading, rows)]
        event(f"{read.__name__}: {'some' if any(related) else 'none'}")
        assert related == [positions.tolist() for positions in wanted_of(rows)]
    names = services.draw(st.lists(st.sampled_from(["", "orders", "billing", "mail", "absent"]), max_size=4))
    assert selected_service_contexts(reading, names) == snapshot.service_contexts(names)


@pytest.mark.parametrize(("is_test", "trips_a_level"), [(None, 1), (True, 2)], ids=["by class", "by a filter"])
@pytest.mark.parametrize("direction", Direction)
def test_a_level_of_a_walk_takes_one_round_trip_and_one_to_judge_it(
    both: Both, is_test: bool | None, trips_a_level: int, direction: Direction
) -> None:
    """From the middle, so that edges lead on; that they do takes a level more to tell."""
    opened = both.opened(CALLERS[0], Lifecycle.ACTIVE, is_test)
    both.newly_queried()
    walk = Walk((layered(4), layered(6)), 2, 1_000, None, direction, AMPLE, min_confidence=0.7)
    expansion = opened.expand(walk)
    assert len({node.depth for node in expansion.nodes}) == 3
    assert expansion.edges
    queried = both.newly_queried()
    assert queried.count(both.collections.edges) == 3
    assert len(queried) <= 3 * trips_a_level
    assert opened.expand(walk) == expansion
    assert set(both.newly_queried()) == {both.collections.edges}, "who was judged once is not judged again"


@pytest.mark.parametrize("direction", [Direction.OUTGOING, Direction.BOTH])
def test_a_hop_of_a_search_for_paths_takes_two_round_trips(both: Both, direction: Direction) -> None:
    """A level from one side, and the links that lead on from what was reached last."""
    opened = both.opened(CALLERS[0], Lifecycle.ACTIVE, None)
    both.newly_queried()
    last = layered(LAYERS * WIDTH - 1)
    answer = opened.find_paths(PathSearch((layered(0),), (last,), LAYERS, 100, 1_000, None, direction, AMPLE))
    assert [len(path.hops) for path in answer.paths][:1] == [LAYERS - 1]
    assert len(both.newly_queried()) <= 2 * LAYERS


def test_of_a_hub_no_more_is_read_than_a_walk_needs(both: Both) -> None:
    """The first chunk of the hub's edges fills the walk; which of them lead back is read from the other ends."""
    opened = both.opened(CALLERS[1], Lifecycle.ALL, None)
    both.newly_queried()
    walk = Walk((few(0),), 2, 100, frozenset({"calls"}), Direction.OUTGOING, AMPLE)
    expansion = opened.expand(walk)
    assert expansion == opened.embedded.expand(walk, never_stop)
    assert expansion.reason is ExpandReason.LIMIT_REACHED
    assert len(both.newly_queried()) == 4


def test_hubs_between_which_edges_are_sought_are_read_whole(both: Both) -> None:
    """The last spoke has an edge of each type from one hub and to another, some in the last chunks, and one back."""
    opened = both.opened(CALLERS[1], Lifecycle.ALL, None)
    last = f"{PREFIX}S{SPOKES - 1:03}"
    walk = Walk((few(0), few(1), last), 1, 3, None, Direction.BOTH, AMPLE)
    expansion = opened.expand(walk)
    assert sum(last in (edge.from_id, edge.to_id) for edge in expansion.edges) == 2 * len(HUB_TYPES) + 1
    assert expansion == opened.embedded.expand(walk, never_stop)


def test_an_edge_far_back_among_those_of_a_hub_is_read_from_its_other_end(both: Both) -> None:
    opened = both.opened(CALLERS[1], Lifecycle.ALL, None)
    both.newly_queried()
    last = f"{PREFIX}S{SPOKES - 1:03}"
    search = PathSearch((few(0),), (last,), 1, 10, 10, frozenset({"t8"}), Direction.OUTGOING, AMPLE)
    answer = opened.find_paths(search)
    assert [path.node_ids for path in answer.paths] == [(few(0), last)]
    assert answer == opened.embedded.find_paths(search, never_stop)
    assert len(both.newly_queried()) == 3


def test_a_level_from_a_hub_is_read_to_its_end(both: Both) -> None:
    """The edges of the last type stand in the last chunks."""
    opened = both.opened(CALLERS[1], Lifecycle.ALL, None)
    search = PathSearch((few(0),), (few(1),), 2, 100, 2_000, frozenset({"t8"}), Direction.OUTGOING, AMPLE)
    answer = opened.find_paths(search)
    assert len(answer.paths) == 100
    assert answer.reached_count == SPOKES
    assert answer == opened.embedded.find_paths(search, never_stop)
    walk = Walk((few(0),), 1, 2_000, frozenset({"t8"}), Direction.OUTGOING, AMPLE)
    assert len(opened.expand(walk).nodes) == 1 + SPOKES
    assert opened.expand(walk) == opened.embedded.expand(walk, never_stop)


def test_of_two_edges_that_are_alike_the_one_that_leaves_comes_first_also_from_a_hub(both: Both) -> None:
    """That edge is read from its other end."""
    opened = both.opened(CALLERS[1], Lifecycle.ALL, None)
    last = f"{PREFIX}S{SPOKES - 1:03}"
    walk = Walk((few(0), last), 1, 2, frozenset({"t8"}), Direction.BOTH, AMPLE)
    expansion = opened.expand(walk)
    assert [edge.from_id for edge in expansion.edges] == [few(0), last]
    assert expansion == opened.embedded.expand(walk, never_stop)


def test_the_chunk_beside_another_is_found_however_many_hidden_ones_lie_between(both: Both) -> None:
    """Of the spokes number 7 and number 407 pass; asked is from as far as is looked at a time, and more."""
    opened = both.opened(CALLERS[0], Lifecycle.ACTIVE, False)
    whole = both.opened(CALLERS[1], Lifecycle.ALL, None)
    spokes = [f"{PREFIX}S{number:03}" for number in (8, 11, 12, 23, 24, 390, 391, 402, 403, 406, SPOKES - 1)]
    for row in whole.embedded.rows(spokes).values():
        rows = np.asarray([row], dtype=np.int64)
        (actual,), (wanted,) = adjacent_to(opened.reading, rows), opened.embedded.adjacent(rows)
        assert actual.tolist() == wanted.tolist()
