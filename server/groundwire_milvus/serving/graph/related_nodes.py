"""The nodes around nodes: their parents, the chunks before and after, their neighbourhood, their services."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from groundwire_index.nodes.node import CONTAINS
from groundwire_index.nodes.reading_order import NO_DOCUMENT
from groundwire_milvus.facts import SERVICE, fact_key, read_facts
from groundwire_milvus.packing import SERVICE_EDGE, unpacked_service_edges
from groundwire_milvus.serving.graph.adjacency import near_ends
from groundwire_milvus.serving.graph.reading import GraphReading
from groundwire_milvus.store import among
from groundwire_server.backends.selected_graph import Positions
from groundwire_server.backends.shared.graph.related_nodes import EdgesOfServices, neighbourhood_of, service_contexts
from groundwire_server.domain.graph.expansion import Direction
from groundwire_server.domain.query.neighbourhood import Neighbourhood
from groundwire_server.domain.query.query_result import ServiceContext

_FIRST_REACH = 4
_GROWTH = 4
_BESIDE = -1, 1
_NO_ROWS: Positions = np.empty(0, dtype=np.int64)


def parents_of(reading: GraphReading, rows: Positions) -> list[Positions]:
    """For each row the selected nodes that contain it, ascending."""
    if CONTAINS not in reading.edge_types:
        return [_NO_ROWS] * len(rows)
    adjacency = reading.adjacency
    nears = near_ends(rows.tolist(), Direction.INCOMING)
    adjacency.finish(nears)
    places, edges = adjacency.edges_of(nears)
    contains = edges["type"] == reading.edge_types.index(CONTAINS)
    places, edges = places[contains], edges[contains]
    held = reading.selected.holds(edges["far"], edges["far_class"])
    places, containers = places[held], edges["far"][held].astype(np.int64)
    return np.split(containers, np.searchsorted(places, np.arange(1, len(rows)))) if len(rows) else []


def adjacent_to(reading: GraphReading, rows: Positions) -> list[Positions]:
    """The nearest selected row before each in its document, and the nearest after it."""
    node_rows = reading.store.query(
        reading.collections.nodes, among("row", rows.tolist()), ["row", "document", "place"]
    )
    seats = zip(node_rows.integers("document").tolist(), node_rows.integers("place").tolist(), strict=True)
    seat_of = dict(zip(node_rows.integers("row").tolist(), seats, strict=True))
    documents = _Documents(reading)
    wanted = {(*seat_of[row], step) for row in rows.tolist() for step in _BESIDE if seat_of[row][0] != NO_DOCUMENT}
    nearest = documents.nearest(wanted)
    beside = ([nearest.get((*seat_of[row], step)) for step in _BESIDE] for row in rows.tolist())
    return [np.asarray([row for row in near_rows if row is not None], dtype=np.int64) for near_rows in beside]


_Seat = tuple[int, int, int]
"""A document, a place in the reading order of the index, and which way to look from there: -1 or 1."""


class _Documents:
    """The rows of documents by their place in the reading order, read around the places that are asked for."""

    def __init__(self, reading: GraphReading) -> None:
        self._reading = reading
        self._document_at: dict[int, int] = {}
        self._selected_at: dict[int, int] = {}

    def nearest(self, seats: set[_Seat]) -> dict[_Seat, int]:
        """The nearest selected row from each seat, where there is one in the document.

        Looks four places far at first and four times as far each further time: one round trip each, and one more where
        rows are judged by asking.
        """
        row_of_seat: dict[_Seat, int] = {}
        reach = _FIRST_REACH
        while seats:
            self._read({place for _, at, step in seats for place in range(at + step, at + step * (reach + 1), step)})
            for seat in list(seats):
                row, is_known = self._look(seat, reach)
                if row is not None:
                    row_of_seat[seat] = row
                if is_known:
                    seats = seats - {seat}
            reach *= _GROWTH
        return row_of_seat

    def _look(self, seat: _Seat, reach: int) -> tuple[int | None, bool]:
        """The nearest selected row within reach, and whether a longer one would change nothing."""
        document, at, step = seat
        for place in range(at + step, at + step * (reach + 1), step):
            if self._document_at.get(place) != document:
                return None, True
            if place in self._selected_at:
                return self._selected_at[place], True
        return None, False

    def _read(self, places: set[int]) -> None:
        reading = self._reading
        fresh = sorted(place for place in places if place not in self._document_at and 0 <= place < reading.node_count)
        if not fresh:
            return
        fields = ["row", "class", "document", "place"]
        node_rows = reading.store.query(reading.collections.nodes, among("place", fresh), fields)
        rows = node_rows.integers("row")
        held = reading.selected.holds(rows, node_rows.integers("class")).tolist()
        for place, document, row, is_held in zip(
            node_rows.integers("place").tolist(),
            node_rows.integers("document").tolist(),
            rows.tolist(),
            held,
            strict=True,
        ):
            self._document_at[place] = document
            if is_held:
                self._selected_at[place] = row


def visible_neighbourhood(reading: GraphReading, rows: Positions) -> Neighbourhood:
    """The confident edges of the rows among all nodes that the caller sees; the rows' edges are read whole."""
    adjacency = reading.adjacency
    nears = near_ends(rows.tolist(), Direction.BOTH)
    adjacency.finish(nears)
    places, edges = adjacency.edges_of(nears)
    seen = reading.visible.holds(edges["far"], edges["far_class"])
    places, edges = places[seen] % len(rows), edges[seen]
    return neighbourhood_of(rows, places, edges["far"], edges["confidence"], reading.node_count)


def selected_service_contexts(reading: GraphReading, service_names: Sequence[str]) -> tuple[ServiceContext, ...]:
    """The neighbourhood of each service over edges between selected nodes, sorted by name."""
    keys = [fact_key(SERVICE, name) for name in sorted(set(service_names))]
    edges_of_services = list(
        map(unpacked_service_edges, read_facts(reading.store, reading.collections.facts, keys).values())
    )
    services = sorted({name for names, _ in edges_of_services for name in names})
    place_of = {name: place for place, name in enumerate(services)}
    edges = np.concatenate(
        [np.empty(0, dtype=SERVICE_EDGE), *(_numbered(place_of, *service_edges) for service_edges in edges_of_services)]
    )
    # An edge between two requested services appears in both.
    edges = edges[np.unique(edges["position"], return_index=True)[1]]
    rows = np.concatenate((edges["from_row"], edges["to_row"]))
    held = reading.selected.holds(rows, np.concatenate((edges["from_class"], edges["to_class"])))
    edges = edges[held.reshape(2, -1).all(axis=0)]
    selected_edges = EdgesOfServices(edges["from_service"], edges["to_service"], edges["type"])
    return service_contexts(service_names, services, reading.edge_types, selected_edges)


def _numbered(place_of: Mapping[str, int], names: Sequence[str], edges: NDArray[np.void]) -> NDArray[np.void]:
    """The edges with other places for their services than those among `names`."""
    places = np.asarray([place_of[name] for name in names], dtype=np.int32)
    numbered = edges.copy()
    for end in ("from_service", "to_service"):
        numbered[end] = places.take(edges[end])
    return numbered
