"""Postings and what is built of them, metadata terms and names, against plain Python."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.files.durable_files import write_array
from groundwire_index.files.segment import HeldSegment
from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.lexical.postings import Postings
from groundwire_index.lexical.term_runs import TermRun, write_merged_postings
from groundwire_index.nodes.metadata_terms import METADATA_TERMS, MetadataTerms, metadata_terms
from groundwire_index.nodes.node import JsonValue

Scratch = Callable[[], AbstractContextManager[Path]]
TERMS = ["", "a", "ab", "é", "\U0001f600", "z\0"]

rows_of_terms = st.lists(st.sets(st.sampled_from(TERMS)), max_size=8)


def write_rows(directory: Path, rows: list[set[str]]) -> None:
    run = TermRun()
    for terms in rows:
        run.add(terms)
    write_merged_postings(directory, "x", [HeldSegment(0, len(rows), run.parts("x"))])


@given(rows=rows_of_terms)
def test_every_term_has_the_rows_that_hold_it(rows: list[set[str]], scratch: Scratch) -> None:
    with scratch() as directory:
        write_rows(directory, rows)
        postings = Postings(directory, "x")
    for term in [*TERMS, "unknown"]:
        assert postings.rows_with(term).tolist() == [row for row, terms in enumerate(rows) if term in terms]


def test_starts_that_do_not_fit_the_rows_are_refused(tmp_path: Path) -> None:
    write_rows(tmp_path, [{"a"}, {"a", "ab"}])
    write_array(tmp_path / "x.starts.bin", np.asarray([0, 2, 4], dtype=np.int64))
    with pytest.raises(IndexDamagedError, match=r"x\.rows\.bin: has 12 bytes"):
        Postings(tmp_path, "x")


SCALARS: list[bool | int | float | str | None] = [
    None, True, False, 0, 1, 1.0, -0.0, 0.5, 10**400, 2**53 + 1, 2.0**53, "", "1", "true", "null", "é", "a\0b",
    "\ud800",
]  # fmt: skip
KEYS = ["", "k", 'k"', "k\0", "é", "\ud800"]

scalars = st.sampled_from(SCALARS)
nested: list[JsonValue] = [["nested"], {"k": 1}]
json_values: st.SearchStrategy[JsonValue] = (
    scalars | st.lists(scalars, max_size=3).map(list[JsonValue]) | st.just(nested) | st.just({"k": 1})
)


def elements(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [value]


def same(value: JsonValue, wanted: bool | float | str | None) -> bool:
    """JSON's equality: numbers by value, and no word is a number."""
    return isinstance(value, bool) == isinstance(wanted, bool) and value == wanted


@given(metadata=st.lists(st.dictionaries(st.sampled_from(KEYS), json_values, max_size=3), max_size=5))
def test_metadata_is_found_by_key_and_scalar(metadata: list[dict[str, JsonValue]], scratch: Scratch) -> None:
    with scratch() as directory:
        run = TermRun()
        for values in metadata:
            run.add(metadata_terms(values))
        segment = HeldSegment(0, len(metadata), run.parts(METADATA_TERMS))
        write_merged_postings(directory, METADATA_TERMS, [segment])
        table = MetadataTerms(directory)
    for key in KEYS:
        for wanted in [*SCALARS, "nested"]:
            expected = [
                row
                for row, values in enumerate(metadata)
                if key in values and any(same(value, wanted) for value in elements(values[key]))
            ]
            assert table.rows_with(key, wanted).tolist() == expected, json.dumps([key, wanted])
