"""The confident edges among some rows and their degrees, against brute force."""

from types import SimpleNamespace
from typing import cast

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_server.backends.embedded.neighbourhood import neighbourhood_of
from groundwire_server.backends.embedded.visibility import Visibility
from groundwire_server.domain.neighbourhood import CONFIDENT
from groundwire_server.index.loaded import LoadedIndex

_ROWS = st.integers(0, 6)


def index_of(
    near: NDArray[np.int64], far: NDArray[np.int64], confidences: NDArray[np.float32], count: int
) -> LoadedIndex:
    """An index as far as its edges: those from each row, and those to it."""

    def side(from_: NDArray[np.int64], to: NDArray[np.int64]) -> SimpleNamespace:
        order = np.argsort(from_, kind="stable")
        starts = np.zeros(count + 1, dtype=np.int64)
        np.cumsum(np.bincount(from_, minlength=count), out=starts[1:])
        return SimpleNamespace(starts=starts, ends=to[order].astype(np.int32), confidences=confidences[order])

    return cast(LoadedIndex, SimpleNamespace(outgoing=side(near, far), incoming=side(far, near)))


@given(
    st.lists(st.tuples(_ROWS, _ROWS, st.sampled_from([0.5, 0.8, 0.9, 1.0])), max_size=20),
    st.lists(st.booleans(), min_size=7, max_size=7),
    st.data(),
)
def test_of_edges_between_two_rows_the_most_confident_counts_once(
    edges: list[tuple[int, int, float]], visible: list[bool], data: st.DataObject
) -> None:
    seen = [row for row, one in enumerate(visible) if one]
    if not seen:
        return
    rows = sorted(data.draw(st.sets(st.sampled_from(seen), min_size=1)))
    near, far = (np.asarray([edge[side] for edge in edges], dtype=np.int64) for side in (0, 1))
    index = index_of(near, far, np.asarray([edge[2] for edge in edges], dtype=np.float32), 7)
    found = neighbourhood_of(index, Visibility(index, np.asarray(visible)), np.asarray(rows, dtype=np.int64))
    best: dict[tuple[int, int], float] = {}
    for one, other, confidence in (*edges, *((other, one, confidence) for one, other, confidence in edges)):
        if one in rows and other in seen and one != other and confidence >= CONFIDENT:
            best[one, other] = max(best.get((one, other), 0.0), confidence)
    among = {(rows.index(one), rows.index(other)): sure for (one, other), sure in best.items() if other in rows}
    assert dict(zip(zip(*found.ends.tolist(), strict=True), found.confidences.tolist(), strict=True)) == {
        pair: float(np.float32(sure)) for pair, sure in among.items()
    }
    assert found.degrees.tolist() == [sum(one == row for one, _ in best) for row in rows]
