"""The tables of an index against plain Python: postings, edges by row, vectors."""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.graph.edges import Edges, EdgeTable, write_edges
from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.vectors.vector_file import VectorTable
from support.index_tables import lexical_table
from support.index_writing import write_vectors

documents = st.lists(st.lists(st.sampled_from(["get", "user", "id", "é", "zz"]), max_size=12), min_size=1, max_size=12)


@given(documents=documents)
def test_postings_count_every_term_of_every_document(documents: list[list[str]]) -> None:
    with TemporaryDirectory() as directory:
        table = lexical_table(Path(directory), documents)
    assert table.lengths.tolist() == [len(document) for document in documents]
    for term in ("get", "user", "id", "é", "zz", "absent", ""):
        held = table.postings(term)
        expected = [(row, Counter(document)[term]) for row, document in enumerate(documents) if term in document]
        assert list(zip(held.rows.tolist(), held.frequencies.tolist(), strict=True)) == expected


class EdgeRow(NamedTuple):
    from_row: int
    to_row: int
    edge_type: int
    confidence: float
    line: int


edge_rows = st.lists(
    st.builds(
        EdgeRow,
        from_row=st.integers(0, 6),
        to_row=st.integers(0, 6),
        edge_type=st.integers(0, 2),
        confidence=st.sampled_from([0.25, 0.5, 1.0]),
        line=st.sampled_from([0, 7, 2**31 - 1]),
    ),
    unique_by=lambda edge: (edge.from_row, edge.to_row, edge.edge_type),
    max_size=40,
)


@given(edges=edge_rows)
def test_edges_stand_in_descending_order_of_type_and_ends(edges: list[EdgeRow]) -> None:
    with TemporaryDirectory() as directory:
        from_rows, to_rows, types, confidences, lines = (np.asarray([edge[i] for edge in edges]) for i in range(5))
        table = EdgeTable(
            ("Calls", "FK", "On"),
            from_rows.astype(np.int32),
            to_rows.astype(np.int32),
            types.astype(np.int32),
            confidences.astype(np.float64),
            lines.astype(np.int32),
        )
        write_edges(Path(directory), table)
        stored = Edges(Path(directory), len(edges))
    columns = (stored.types, stored.from_rows, stored.to_rows, stored.confidences, stored.lines)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == sorted(
        ((edge.edge_type, edge.from_row, edge.to_row, edge.confidence, edge.line) for edge in edges), reverse=True
    )


def unit_rows(count: int, dimension: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    rows = np.random.default_rng(7).standard_normal((count, dimension))
    scaled: np.ndarray[tuple[int, int], np.dtype[np.float32]] = (
        rows / np.linalg.norm(rows, axis=1, keepdims=True)
    ).astype(np.float32)
    return scaled


def test_vectors_are_read_back_bit_for_bit(tmp_path: Path) -> None:
    present = np.arange(50) % 7 != 0
    rows = np.where(present[:, np.newaxis], unit_rows(50, 12), np.float32(0))
    write_vectors(tmp_path, rows, present)
    table = VectorTable(tmp_path, 50, 12)
    assert table.rows.tobytes() == rows.tobytes()
    assert table.present.tolist() == present.tolist()


@pytest.mark.parametrize(("count", "dimension"), [(49, 12), (50, 11)])
def test_vectors_of_another_shape_are_refused(tmp_path: Path, count: int, dimension: int) -> None:
    write_vectors(tmp_path, unit_rows(50, 12), np.ones(50, dtype=np.bool_))
    with pytest.raises(IndexDamagedError, match="does not hold"):
        VectorTable(tmp_path, count, dimension)
