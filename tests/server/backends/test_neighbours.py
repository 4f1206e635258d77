"""A hub of 100,000 neighbours: what a walk reads of it, and how its edges into few rows are found."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_server.backends.embedded.neighbours import Neighbours
from groundwire_server.backends.embedded.traversal import Walker
from groundwire_server.domain.checkpoint import never_stop
from groundwire_server.index.adjacency import Adjacency, write_adjacency
from support.index_tables import edge_table


class CountedReads:
    """A column that notes how many of its values are gathered; a slice is only another view of it."""

    def __init__(self, values: NDArray[Any], log: list[int]) -> None:
        self._values = values
        self._log = log

    def __getitem__(self, key: slice) -> NDArray[Any]:
        return self._values[key]

    def take(self, positions: NDArray[np.int64]) -> NDArray[Any]:
        self._log.append(positions.size)
        return self._values.take(positions)


HUB_DEGREE = 100_000


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Adjacency:
    """Row 0 has edges of two types to 100,000 rows, half of each type."""
    directory = tmp_path_factory.mktemp("hub")
    edges = [(0, row, row % 2) for row in range(1, HUB_DEGREE + 1)]
    edges += [(row, 0, 0) for row in range(1, 20)]
    write_adjacency(Path(directory), HUB_DEGREE + 1, edge_table(("Calls", "Inherits"), edges))
    return Adjacency(Path(directory), "outgoing", HUB_DEGREE + 1, len(edges))


def counted_reads(hub: Adjacency, log: list[int]) -> Adjacency:
    counted = Adjacency.__new__(Adjacency)
    counted.starts = hub.starts
    counted.ends = CountedReads(hub.ends, log)  # type: ignore[assignment]
    counted.types = CountedReads(hub.types, log)  # type: ignore[assignment]
    counted.confidences = CountedReads(hub.confidences, log)  # type: ignore[assignment]
    counted.lines = hub.lines
    return counted


@pytest.mark.parametrize("seen", [[1], range(1, 10), range(1, 2_000)], ids=len)
def test_that_a_hub_at_the_greatest_depth_leads_on_is_known_from_its_first_edges(
    hub: Adjacency, seen: Sequence[int]
) -> None:
    log: list[int] = []
    both, every_row = np.ones(2, dtype=np.bool_), np.ones(HUB_DEGREE + 1, dtype=np.bool_)
    neighbours = Neighbours(counted_reads(hub, log), both, every_row.take, 0.0)
    walker = Walker(neighbours, None, max_depth=0, max_nodes=2_000, checkpoint=never_stop)
    walker.walk([0, *seen])
    assert walker.leads_on()
    # Two columns, in pieces that double until they hold more than the rows that were reached.
    assert sum(log) <= 2 * (2 * 256 + 4 * len(seen))


def test_a_hub_whose_neighbours_were_all_reached_or_are_hidden_does_not_lead_on(hub: Adjacency) -> None:
    few = np.zeros(HUB_DEGREE + 1, dtype=np.bool_)
    few[[0, 7, HUB_DEGREE]] = True
    neighbours = Neighbours(hub, np.ones(2, dtype=np.bool_), few.take, 0.0)

    def leads_on(*seeds: int) -> bool:
        walker = Walker(neighbours, None, max_depth=0, max_nodes=2_000, checkpoint=never_stop)
        walker.walk(seeds)
        return walker.leads_on()

    assert leads_on(0, 7)
    assert not leads_on(0, 7, HUB_DEGREE)


@pytest.mark.parametrize("max_nodes", [10, 200, 2_000])
def test_a_hub_costs_what_the_limit_admits(hub: Adjacency, max_nodes: int) -> None:
    log: list[int] = []
    counted = counted_reads(hub, log)
    both, every_row = np.ones(2, dtype=np.bool_), np.ones(HUB_DEGREE + 1, dtype=np.bool_)
    walker = Walker(
        Neighbours(counted, both, every_row.take, 0.0), None, max_depth=3, max_nodes=max_nodes, checkpoint=never_stop
    )
    reached = walker.walk([0])
    assert [node.row for node in reached] == [0, *range(2, 2 * max_nodes, 2)]
    assert walker.limit_reached
    edges = list(walker.edges())
    back = [row for row in range(2, 20, 2) if row < 2 * max_nodes]
    assert len(edges) == max_nodes - 1 + len(back)
    # Three columns, read in pieces that double: at most 256 and twice what is needed, for the nodes and for the edges.
    assert sum(log) <= 3 * (256 + 4 * max_nodes) + 3 * 2 * max_nodes
    assert sum(log) < HUB_DEGREE


def test_a_hubs_edges_into_few_rows_are_found_by_either_way_of_looking(hub: Adjacency) -> None:
    visible = np.ones(HUB_DEGREE + 1, dtype=np.bool_)
    visible[500] = False
    neighbours = Neighbours(hub, np.asarray([True, True]), visible.take, 0.0)
    chosen = np.asarray([0, 1, 2, 499, 500, 501, HUB_DEGREE], dtype=np.int32)
    wanted = set(chosen.tolist())
    rows = np.asarray([7, 0], dtype=np.int32)
    assert told(neighbours, rows, chosen) == [
        (0, 0, 0),
        *((1, near.edge_type, near.row) for near in neighbours.of(0) if near.row in wanted),
    ]
    assert told(neighbours, rows, chosen)[1:] == [(1, 0, 2), (1, 0, HUB_DEGREE), (1, 1, 1), (1, 1, 499), (1, 1, 501)]
    only_second = Neighbours(hub, np.asarray([False, True]), visible.take, 0.0)
    assert told(only_second, rows, chosen) == [(1, 1, 1), (1, 1, 499), (1, 1, 501)]


def told(neighbours: Neighbours, rows: NDArray[np.int32], chosen: NDArray[np.int32]) -> list[tuple[int, int, int]]:
    """The edges among them as (place, edge type, far end)."""
    found = neighbours.among(rows, chosen)
    return sorted(zip(found.places.tolist(), found.types.tolist(), found.ends.tolist(), strict=True))


def test_rows_read_together_give_what_each_gives_alone(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    edges = {(int(a), int(b), int(t)) for a, b, t in zip(*rng.integers(0, (30, 30, 3), (200, 3)).T, strict=True)}
    write_adjacency(tmp_path, 30, edge_table(("Calls", "Inherits", "ReadsFrom"), edges))
    adjacency = Adjacency(tmp_path, "incoming", 30, len(edges))
    visible = rng.random(30) < 0.7
    neighbours = Neighbours(adjacency, np.asarray([True, False, True]), visible.take, 0.0)
    rows = np.asarray([4, 9, 3, 29], dtype=np.int32)
    alone = [(near.edge_type, near.row, place) for place, row in enumerate(rows) for near in neighbours.of(int(row))]
    together = [(near.edge_type, near.row, place) for place, near in neighbours.of_all(rows)]
    assert together == sorted(alone)
    assert together
