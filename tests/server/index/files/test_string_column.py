"""Columns of strings against Python's own lists, for any Unicode."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.files.durable_files import write_array
from groundwire_index.files.string_column import StringColumn
from groundwire_index.index_errors import IndexDamagedError

# Neighbours in UTF-8, in UTF-16 and as prefixes of each other, so that a wrong order or bound shows.
letters = st.text(alphabet="ab~\x7f\x80é\uffff\U00010000\U0010ffff\x00", max_size=4)


def column_of(values: list[str]) -> StringColumn:
    with TemporaryDirectory() as directory:
        StringColumn.write(Path(directory), "x", values)
        return StringColumn.open(Path(directory), "x", len(values))


@given(values=st.lists(letters, unique=True, max_size=20), sought=letters)
def test_a_sorted_column_is_searched_as_a_sorted_list(values: list[str], sought: str) -> None:
    ordered = sorted(values)
    column = column_of(ordered)
    assert [column[position] for position in range(len(column))] == ordered
    assert column.find(sought) == (ordered.index(sought) if sought in ordered else None)
    assert list(column.prefix_range(sought)) == [
        position for position, value in enumerate(ordered) if value.startswith(sought)
    ]


@given(values=st.lists(letters, max_size=20))
def test_any_column_is_read_back(values: list[str]) -> None:
    column = column_of(values)
    assert len(column) == len(values)
    assert [column.raw(position).decode() for position in range(len(values))] == values
    assert [column.byte_length(position) for position in range(len(values))] == [len(v.encode()) for v in values]


@pytest.mark.parametrize("offsets", [[0, 1, 4], [1, 1, 3], [0, 1, 2]], ids=["beyond the blob", "late start", "short"])
def test_offsets_that_do_not_fit_the_blob_are_refused(tmp_path: Path, offsets: list[int]) -> None:
    StringColumn.write(tmp_path, "x", ["a", "bc"])
    write_array(tmp_path / "x.offsets.bin", np.asarray(offsets, dtype=np.int64))
    with pytest.raises(IndexDamagedError, match=r"x\.utf8: has 3 bytes; its offsets end at"):
        StringColumn.open(tmp_path, "x", 2)
