"""Compressed sparse rows: what several places hold, against looking at each by itself."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.files.spans import positions_of


@given(sizes=st.lists(st.integers(0, 4), max_size=8), data=st.data())
def test_the_positions_of_several_places_stand_one_after_the_other(sizes: list[int], data: st.DataObject) -> None:
    starts = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    places = data.draw(st.lists(st.sampled_from(range(len(sizes))), max_size=9) if sizes else st.just([]))
    positions, counts = positions_of(starts, np.asarray(places, dtype=np.int32))
    assert counts.tolist() == [sizes[place] for place in places]
    expected = [position for place in places for position in range(starts[place], starts[place + 1])]
    assert positions.tolist() == expected
