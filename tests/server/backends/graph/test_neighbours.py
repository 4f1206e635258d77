"""A hub of 100,000 neighbours: what a walk reads of it, and how its edges into few rows are found."""

import gc
import weakref
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_index.graph.edges import Edges, write_edges
from groundwire_server.backends.embedded.graph import Graph, SideNeighbours
from groundwire_server.backends.shared.graph.expansion import Walker
from groundwire_server.domain.errors import PreconditionError
from support.calls import never_stop
from support.index_tables import TypedEdge, edge_table

HUB_DEGREE = 100_000
BOTH_TYPES = np.ones(2, dtype=np.bool_)
ANY = np.float32(0)


def loaded(directory: Path, edge_types: tuple[str, ...], edges: list[TypedEdge], node_count: int) -> Graph:
    write_edges(directory, edge_table(edge_types, edges))
    return Graph(Edges(directory, len(edges)), node_count)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    """Row 0 has edges of two types to 100,000 rows, half of each type; 19 of these lead back."""
    edges = [(0, row, row % 2) for row in range(1, HUB_DEGREE + 1)]
    edges += [(row, 0, 0) for row in range(1, 20)]
    return loaded(tmp_path_factory.mktemp("hub"), ("Calls", "Inherits"), edges, HUB_DEGREE + 1)


class Judged:
    """What sees every row, and notes how many it was asked about."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, rows: NDArray[np.integer]) -> NDArray[np.bool_]:
        self.count += len(rows)
        return np.ones(len(rows), dtype=np.bool_)


@pytest.mark.parametrize("seen", [[1], range(1, 10), range(1, 2_000)], ids=len)
def test_that_a_hub_at_the_greatest_depth_leads_on_is_known_from_its_first_edges(
    hub: Graph, seen: Sequence[int]
) -> None:
    judged = Judged()
    walker = Walker(SideNeighbours([hub.outgoing], BOTH_TYPES, judged, ANY), 0, 2_000, never_stop)
    walker.walk([0, *seen])
    assert walker.leads_on()
    # In pieces that double until they hold more than the rows that were reached.
    assert judged.count <= 2 * 256 + 4 * len(seen)


def test_a_hub_whose_neighbours_were_all_reached_or_are_hidden_does_not_lead_on(hub: Graph) -> None:
    few = np.zeros(HUB_DEGREE + 1, dtype=np.bool_)
    few[[0, 7, HUB_DEGREE]] = True
    neighbours = SideNeighbours([hub.outgoing], BOTH_TYPES, few.take, ANY)

    def leads_on(*seeds: int) -> bool:
        walker = Walker(neighbours, max_depth=0, max_nodes=2_000, checkpoint=never_stop)
        walker.walk(seeds)
        return walker.leads_on()

    assert leads_on(0, 7)
    assert not leads_on(0, 7, HUB_DEGREE)


@pytest.mark.parametrize("max_nodes", [10, 200, 2_000])
def test_of_a_hub_no_more_is_judged_than_the_limit_admits(hub: Graph, max_nodes: int) -> None:
    judged = Judged()
    walker = Walker(SideNeighbours([hub.outgoing], BOTH_TYPES, judged, ANY), 3, max_nodes, never_stop)
    assert [reached.row for reached in walker.walk([0])] == [0, *range(2, 2 * max_nodes, 2)]
    assert walker.limit_reached
    back = [row for row in range(2, 20, 2) if row < 2 * max_nodes]
    assert len(walker.edges()) == max_nodes - 1 + len(back)
    # Pieces double: at most 256 and twice what is needed, once to find how much that is and once to walk it.
    assert judged.count <= 2 * (256 + 2 * max_nodes) + 2 * max_nodes


def test_a_hubs_edges_into_few_rows(hub: Graph) -> None:
    visible = np.ones(HUB_DEGREE + 1, dtype=np.bool_)
    visible[500] = False
    chosen = np.asarray([0, 1, 2, 499, 500, 501, HUB_DEGREE], dtype=np.int32)
    rows = np.asarray([7, 0], dtype=np.int32)
    every = SideNeighbours([hub.outgoing], BOTH_TYPES, visible.take, ANY)
    assert edges_among(every, rows, chosen) == [
        *((0, 0, 0), (1, 0, 2), (1, 0, HUB_DEGREE)),
        *((1, 1, 1), (1, 1, 499), (1, 1, 501)),
    ]
    only_second = SideNeighbours([hub.outgoing], np.asarray([False, True]), visible.take, ANY)
    assert edges_among(only_second, rows, chosen) == [(1, 1, 1), (1, 1, 499), (1, 1, 501)]


def edges_among(
    neighbours: SideNeighbours, rows: NDArray[np.int32], chosen: NDArray[np.int32]
) -> list[tuple[int, int, int]]:
    """The edges among them as (place, edge type, far end), in the order in which they come."""
    among = neighbours.among(rows, chosen)
    return list(zip(among.places.tolist(), among.types.tolist(), among.ends.tolist(), strict=True))


def test_edges_come_row_by_row_by_type_and_other_end(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    drawn = zip(*rng.integers(0, (30, 30, 3), (200, 3)).T.tolist(), strict=True)
    edges = sorted({(int(a), int(b), int(t)) for a, b, t in drawn})
    graph = loaded(tmp_path, ("Calls", "Inherits", "ReadsFrom"), edges, 30)
    visible = rng.random(30) < 0.7
    rows = np.asarray([4, 9, 3, 29], dtype=np.int32)
    for side, mine in ((graph.outgoing, edges), (graph.incoming, [(b, a, t) for a, b, t in edges])):
        neighbours = SideNeighbours([side], np.asarray([True, False, True]), visible.take, ANY)
        adjacent = neighbours.of(rows, set(), 30)
        wanted = [
            (place, edge_type, far)
            for place, row in enumerate(rows.tolist())
            for edge_type, far in sorted((t, far) for near, far, t in mine if near == row)
            if edge_type != 1 and visible[far]
        ]
        assert (
            list(zip(adjacent.places.tolist(), adjacent.types.tolist(), adjacent.ends.tolist(), strict=True)) == wanted
        )
        assert wanted


def test_a_graph_that_cannot_be_loaded_is_told_to_all_who_ask(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_edges(tmp_path, edge_table(("Calls",), [(0, 5, 0)]))
    graph = Graph(Edges(tmp_path, 1), node_count=2)
    for _ in range(2):
        with pytest.raises(PreconditionError, match="edges of this index are damaged"):
            graph.outgoing.positions(0)
    assert "the graph of an index cannot be loaded" in caplog.text


def test_a_graph_that_nobody_holds_is_gone_at_once(tmp_path: Path) -> None:
    """Without the collector of cycles, which a server may run rarely: a graph takes megabytes."""
    graph = loaded(tmp_path, ("Calls",), [(0, 1, 0)], 2)
    graph.outgoing.positions(0)
    held = weakref.ref(graph)
    gc.disable()
    try:
        del graph
        assert held() is None
    finally:
        gc.enable()
