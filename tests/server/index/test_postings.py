"""Postings and what is built of them, metadata terms and names, against plain Python."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.domain.nodes import JsonValue
from groundwire_server.index.errors import IndexDamagedError
from groundwire_server.index.files import write_array
from groundwire_server.index.metadata_terms import MetadataTerms, write_metadata_terms
from groundwire_server.index.names import NameTable, write_names
from groundwire_server.index.postings import Postings, PostingsWriter

Scratch = Callable[[], AbstractContextManager[Path]]
TERMS = ["", "a", "ab", "é", "\U0001f600", "z\0"]

rows_of_terms = st.lists(st.sets(st.sampled_from(TERMS)), max_size=8)


def write_rows(directory: Path, rows: list[set[str]]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    writer = PostingsWriter()
    for row, terms in enumerate(rows):
        for term in sorted(terms, reverse=True):
            writer.add(term, row)
    assert writer.terms() == sorted(set().union(*rows))
    count, order = writer.write(directory, "x")
    assert count == len(writer.terms())
    return order


@given(rows=rows_of_terms)
def test_every_term_has_the_rows_that_hold_it(rows: list[set[str]], scratch: Scratch) -> None:
    with scratch() as directory:
        write_rows(directory, rows)
        postings = Postings(directory, "x")
    for term in [*TERMS, "unknown"]:
        assert postings.rows_with(term).tolist() == [row for row, terms in enumerate(rows) if term in terms]


@given(rows=rows_of_terms)
def test_the_order_sorts_what_belongs_to_the_pairs(rows: list[set[str]], scratch: Scratch) -> None:
    added = [(term, row) for row, terms in enumerate(rows) for term in sorted(terms, reverse=True)]
    with scratch() as directory:
        order = write_rows(directory, rows)
        stored = Postings(directory, "x").rows.tolist()
    assert [added[position] for position in order] == sorted(added)
    assert stored == [row for _, row in sorted(added)]


@given(rows=rows_of_terms, data=st.data())
def test_the_rows_of_several_terms_at_once(rows: list[set[str]], data: st.DataObject, scratch: Scratch) -> None:
    terms = sorted(set().union(*rows))
    positions = data.draw(st.lists(st.sampled_from(range(len(terms))), max_size=9) if terms else st.just([]))
    with scratch() as directory:
        write_rows(directory, rows)
        found, owners = Postings(directory, "x").rows_at(np.asarray(positions, dtype=np.int32))
    assert list(zip(owners.tolist(), found.tolist(), strict=True)) == [
        (owner, row)
        for owner, position in enumerate(positions)
        for row, held in enumerate(rows)
        if terms[position] in held
    ]


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
        write_metadata_terms(directory, metadata)
        table = MetadataTerms(directory)
    for key in KEYS:
        for wanted in [*SCALARS, "nested"]:
            expected = [
                row
                for row, values in enumerate(metadata)
                if key in values and any(same(value, wanted) for value in elements(values[key]))
            ]
            assert table.rows_with(key, wanted).tolist() == expected, json.dumps([key, wanted])


names_of_rows = st.lists(
    st.lists(st.text(alphabet="abü1", min_size=1, max_size=7), unique=True, max_size=3).map(tuple), max_size=6
)


@given(rows=names_of_rows)
def test_names_are_found_by_trigram_and_rows_by_name(rows: list[tuple[str, ...]], scratch: Scratch) -> None:
    with scratch() as directory:
        write_names(directory, rows)
        table = NameTable(directory)
    names = sorted({name for names in rows for name in names})
    padded = [f"  {name} " for name in names]
    held = [{name[start : start + 3] for start in range(len(name) - 2)} for name in padded]
    assert [table.names[position] for position in range(len(table.names))] == names
    assert table.sizes.tolist() == [len(trigrams) for trigrams in held]
    for trigram in set().union(*held) | {"zzz", "a"}:
        assert table.holding(trigram).tolist() == [
            position for position, trigrams in enumerate(held) if trigram in trigrams
        ]
    found, owners = table.rows_of(np.arange(len(names))[::-1])
    assert list(zip(owners.tolist(), found.tolist(), strict=True)) == [
        (owner, row)
        for owner, name in enumerate(reversed(names))
        for row, names_of_row in enumerate(rows)
        if name in names_of_row
    ]
