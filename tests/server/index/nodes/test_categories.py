"""Rows by ranges of a column's values, compared row by row or looked up."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.files.string_column import StringColumn
from groundwire_index.nodes.categories import Category
from groundwire_index.nodes.row_conditions import EVERY_ROW

VALUES = 9
ranges = st.tuples(st.integers(0, VALUES), st.integers(0, VALUES)).map(lambda ends: range(min(ends), max(ends)))


@given(codes=st.lists(st.integers(0, VALUES - 1), max_size=40), wanted=st.lists(ranges, max_size=7))
def test_the_rows_that_hold_are_those_whose_value_stands_in_a_range(codes: list[int], wanted: list[range]) -> None:
    with TemporaryDirectory() as directory:
        StringColumn.write(Path(directory), "values", [f"v{number}" for number in range(VALUES)])
        values = StringColumn.open(Path(directory), "values")
    category = Category(values, np.asarray(codes, dtype=np.int32))
    expected = [any(code in positions for positions in wanted) for code in codes]
    holding = category.holding(wanted)
    assert holding(EVERY_ROW).tolist() == expected
    odd = np.arange(1, len(codes), 2)
    assert holding(odd).tolist() == expected[1::2]
