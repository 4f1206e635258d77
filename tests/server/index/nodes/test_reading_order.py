"""Reading order and edges between services against plain Python."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.files.durable_files import write_array
from groundwire_index.graph.edges import ServiceEdges, write_service_edges
from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.nodes.categories import write_categories
from groundwire_index.nodes.node import CONTAINS, Node
from groundwire_index.nodes.node_table import NodeTable, write_node_table
from groundwire_index.nodes.reading_order import NO_DOCUMENT, ReadingOrder, write_reading_order
from groundwire_index.scope import Scope
from groundwire_index.store.rows import segments_of
from support.index_tables import edge_table

Scratch = Callable[[], AbstractContextManager[Path]]

columns = st.fixed_dictionaries(
    {
        "document_id": st.sampled_from(["", "", "guide", "log"]),
        "path": st.sampled_from(["", "a.md", "guide"]),
        "repo_name": st.sampled_from(["", "shop"]),
        "document_version_id": st.sampled_from(["", "v2"]),
        "chunk_index": st.integers(0, 2),
        "start_line": st.integers(0, 2),
    }
)


def node_table(directory: Path, nodes: list[Node]) -> NodeTable:
    """The table of nodes, of an index that has nothing else yet."""
    segments = list(segments_of(((node, {}) for node in nodes), (), directory))
    write_node_table(directory, Scope("shop", "main"), segments)
    write_categories(directory, segments)
    return NodeTable(directory, len(nodes))


def document_of(node: Node) -> tuple[str, str, str] | None:
    document = node.document_id or node.location.path
    return (document, node.repo_name, node.document_version_id) if document else None


@given(rows=st.lists(columns, min_size=1, max_size=10))
def test_before_and_after_are_the_other_chunks_of_the_document(
    rows: list[dict[str, object]], make_node: Callable[..., Node], scratch: Scratch
) -> None:
    nodes = [make_node(f"N{number}", **row) for number, row in enumerate(rows)]
    with scratch() as directory:
        write_reading_order(directory, node_table(directory, nodes))
        reading = ReadingOrder(directory, len(nodes))
    assert reading.order[reading.place].tolist() == list(range(len(nodes)))
    for row, node in enumerate(nodes):
        document = document_of(node)
        chunks = sorted(
            (other.chunk_index, other.location.start_line, number)
            for number, other in enumerate(nodes)
            if document is not None and document_of(other) == document
        )
        numbers = [number for _, _, number in chunks]
        place = numbers.index(row) if document else 0
        assert reading.before(row).tolist() == numbers[:place][::-1]
        assert reading.after(row).tolist() == numbers[place + 1 :]
        for number, other in enumerate(nodes):
            together = bool(reading.document[row] == reading.document[number] != NO_DOCUMENT)
            assert together == (document is not None and document_of(other) == document)


@pytest.mark.parametrize(
    ("order", "place", "document"),
    [([0, 2], [0, 1], [0, 0]), ([0, 1], [0, -1], [0, 0]), ([0, 1], [0, 1], [0, 1]), ([0, 1], [0, 1], [-2, 0])],
    ids=["row beyond", "place before", "document beyond", "document before"],
)
def test_a_misshapen_reading_order_is_refused(
    tmp_path: Path, order: list[int], place: list[int], document: list[int]
) -> None:
    write_array(tmp_path / "reading_order.bin", np.asarray([order, place, document], dtype=np.int32))
    write_array(tmp_path / "reading_order.starts.bin", np.asarray([0, 2], dtype=np.int64))
    with pytest.raises(IndexDamagedError, match=r"reading_order\.bin: names rows or documents that do not exist"):
        ReadingOrder(tmp_path, 2)


@st.composite
def services_and_edges(draw: st.DrawFn) -> tuple[list[str], list[tuple[int, int, str]]]:
    services = draw(st.lists(st.sampled_from(["", "auth", "orders"]), min_size=1, max_size=6))
    ends = st.integers(0, len(services) - 1)
    edges = draw(st.sets(st.tuples(ends, ends, st.sampled_from(["Calls", CONTAINS, "contains", "Zips"])), max_size=20))
    return services, draw(st.permutations(sorted(edges)))


@given(drawn=services_and_edges())
def test_edges_between_services_are_listed_in_order(
    drawn: tuple[list[str], list[tuple[int, int, str]]], make_node: Callable[..., Node], scratch: Scratch
) -> None:
    services, edges = drawn
    nodes = [make_node(f"N{number}", service_name=service) for number, service in enumerate(services)]
    edge_types = ("Calls", CONTAINS, "Zips", "contains")
    stated = edge_table(edge_types, [(start, end, edge_types.index(edge_type)) for start, end, edge_type in edges])
    with scratch() as directory:
        write_service_edges(directory, node_table(directory, nodes).categories["service_name"], stated)
        listed = ServiceEdges(directory)
    types = [edge_types[code] for code in listed.types.tolist()]
    expected = [
        (start, end, edge_type)
        for start, end, edge_type in edges
        if edge_type != "Contains" and services[start] and services[end] and services[start] != services[end]
    ]
    actual = list(zip(listed.from_rows.tolist(), listed.to_rows.tolist(), types, strict=True))
    assert actual == sorted(expected, key=lambda edge: (services[edge[0]], edge))
