"""The confident edges among some rows and their degrees, against brute force."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.graph.edges import Edges, EdgeTable, write_edges
from groundwire_index.store.loaded import LoadedIndex
from groundwire_server.backends.embedded.graph import Graph
from groundwire_server.backends.embedded.pool import View
from groundwire_server.backends.embedded.snapshot import EmbeddedSnapshot
from groundwire_server.backends.embedded.visibility.row_selection import RowSelection
from groundwire_server.backends.embedded.visibility.visibility import Visibility
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.query.neighbourhood import CONFIDENT

_ROWS = st.integers(0, 6)


def graph_of(edges: Sequence[tuple[int, int, float]], count: int) -> Graph:
    """The graph of edges from, to and of a confidence, each of a type of its own."""
    near, far, confidences = np.asarray(edges, dtype=np.float64).reshape(-1, 3).T
    types = np.arange(len(edges), dtype=np.int32)
    ends = near.astype(np.int32), far.astype(np.int32)
    with TemporaryDirectory() as directory:
        write_edges(Path(directory), EdgeTable((), *ends, types, confidences, np.zeros_like(types)))
        return Graph(Edges(Path(directory), len(edges)), count)


@given(
    st.lists(st.tuples(_ROWS, _ROWS, st.sampled_from([0.5, 0.8, 0.9, 1.0])), max_size=20),
    st.lists(st.booleans(), min_size=7, max_size=7),
    st.data(),
)
def test_of_edges_between_two_rows_the_most_confident_counts_once(
    edges: list[tuple[int, int, float]], visible: list[bool], data: st.DataObject
) -> None:
    seen = [row for row, is_seen in enumerate(visible) if is_seen]
    if not seen:
        return
    rows = sorted(data.draw(st.sets(st.sampled_from(seen), min_size=1)))
    no_index = cast(LoadedIndex, None)
    selection = RowSelection(no_index, graph_of(edges, 7), Visibility(no_index, np.asarray(visible)))
    snapshot = EmbeddedSnapshot(cast(View, None), Lifecycle.ALL, selection)
    neighbourhood = snapshot.neighbourhood(np.asarray(rows, dtype=np.int64))
    best: dict[tuple[int, int], float] = {}
    for start, end, confidence in (*edges, *((end, start, confidence) for start, end, confidence in edges)):
        if start in rows and end in seen and start != end and confidence >= CONFIDENT:
            best[start, end] = max(best.get((start, end), 0.0), confidence)
    among = {(rows.index(start), rows.index(end)): sure for (start, end), sure in best.items() if end in rows}
    assert dict(
        zip(zip(*neighbourhood.ends.tolist(), strict=True), neighbourhood.confidences.tolist(), strict=True)
    ) == {pair: float(np.float32(sure)) for pair, sure in among.items()}
    assert neighbourhood.degrees.tolist() == [sum(start == row for start, _ in best) for row in rows]
