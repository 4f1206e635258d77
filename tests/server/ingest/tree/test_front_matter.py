"""What the YAML at the top of a document says of it."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_ingest.tree.chunking import MAX_CHUNK_CHARACTERS
from groundwire_ingest.tree.markdown import FrontMatter, read_front_matter
from groundwire_ingest.tree.yaml_tree import MAX_DEPTH, YamlError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("author: Ada", FrontMatter("Ada")),
        ("author: ' Ada L. '", FrontMatter("Ada L.")),
        ("author: [Ada, Bob]", FrontMatter(metadata={"author": ["Ada", "Bob"]})),
        ("author: ' '", FrontMatter(metadata={"author": " "})),
        ("author: 7", FrontMatter(metadata={"author": 7})),
        ("date: 2025-01-02", FrontMatter(timestamp=datetime(2025, 1, 2, tzinfo=UTC))),
        ("date: '2025-01-02'", FrontMatter(timestamp=datetime(2025, 1, 2, tzinfo=UTC))),
        (
            "date: 2025-01-02T10:00:00.5+02:00",
            FrontMatter(timestamp=datetime(2025, 1, 2, 8, 0, 0, 500_000, tzinfo=UTC)),
        ),
        ("date: 2025-01-02 10:00:00Z", FrontMatter(timestamp=datetime(2025, 1, 2, 10, tzinfo=UTC))),
        ("date: 2025-01-02 10:00:00", FrontMatter(metadata={"date": "2025-01-02 10:00:00"})),
        ("date: 2025-02-29", FrontMatter(metadata={"date": "2025-02-29"})),
        ("date: next week", FrontMatter(metadata={"date": "next week"})),
        ("date: 2025", FrontMatter(metadata={"date": 2025})),
        ("updated: 2025-01-02", FrontMatter(timestamp=datetime(2025, 1, 2, tzinfo=UTC))),
        (
            "date: 2024-01-01\nupdated: 2025-01-02",
            FrontMatter(timestamp=datetime(2025, 1, 2, tzinfo=UTC), metadata={"date": "2024-01-01"}),
        ),
        (
            "date: 2024-01-01\nupdated: soon",
            FrontMatter(timestamp=datetime(2024, 1, 1, tzinfo=UTC), metadata={"updated": "soon"}),
        ),
    ],
)
def test_an_author_and_a_time_are_taken_when_they_are_well_formed(text: str, expected: FrontMatter) -> None:
    assert read_front_matter(text) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *(("true", True), ("false", False), ("null", None), ("~", None), ("", None), ("1", 1), ("-2.5e1", -25.0)),
        *(("no", "no"), ("Yes", "Yes"), ("1:30", "1:30"), ("007", "007"), ("0x1f", "0x1f"), ("'1'", "1")),
        *(("1e999", "1e999"), ("9" * 19, "9" * 19), ("!!int '3'", "3"), ('"a\\u00fc"', "aü"), (".nan", ".nan")),
        *(("[a, {b: [1]}]", ["a", {"b": [1]}]), ("{x: }", {"x": None}), ("|\n  a\n  b\n", "a\nb\n")),
    ],
)
def test_values_are_those_of_json_and_all_else_is_text(value: str, expected: object) -> None:
    assert read_front_matter(f"key: {value}").metadata == {"key": expected}


@pytest.mark.parametrize("text", ["", "\n", "# a comment", "just text", "- a\n- b", "7"])
def test_what_is_no_mapping_has_no_keys(text: str) -> None:
    assert read_front_matter(text) == FrontMatter()


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: [", 2, "did not find expected node content"),
        ("x:\na: b: c", 2, "mapping values are not allowed in this context"),
        ("x:\na: \x01", 2, "control characters are not allowed"),
        ('a: "\\UFFFFFFFF"', 1, "found invalid Unicode character escape code"),
        ('a: "\\ud800"', 1, "found invalid Unicode character escape code"),
        ("a: 1\nb: 2\na: 3", 3, "a key is no plain text, or is given twice"),
        ("[a]: 1", 1, "a key is no plain text, or is given twice"),
        ("a: &x [1]\nb: *x", 2, "it uses an alias"),
        ("a: 1\n--- \nb: 2", 2, "it holds more than one YAML document"),
        ("a: " + "[" * MAX_DEPTH + "]" * MAX_DEPTH, 1, f"nested deeper than {MAX_DEPTH} levels"),
        ("#" * (MAX_CHUNK_CHARACTERS + 1), 1, f"it has {MAX_CHUNK_CHARACTERS + 1} characters; at most"),
    ],
)
def test_what_cannot_be_read_says_where_and_why(text: str, line: int, message: str) -> None:
    with pytest.raises(YamlError) as caught:
        read_front_matter(text)
    assert str(caught.value).startswith(message)
    assert caught.value.line == line


def test_the_bounds_themselves_are_within_them() -> None:
    assert read_front_matter("a: " + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1)).metadata.keys() == {"a"}
    assert read_front_matter("#" * MAX_CHUNK_CHARACTERS) == FrontMatter()


TEXTS = st.text(alphabet="ab 1üЖ😀:#'\"{}[],&*!|>%@-?\\", max_size=8)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**17), 10**17) | TEXTS,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(TEXTS, children, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(TEXTS.map("_{}".format), JSON_VALUES, max_size=4))
def test_json_is_front_matter_and_comes_back(keys: dict[str, Any]) -> None:
    assert read_front_matter(json.dumps(keys, ensure_ascii=False)).metadata == keys


@given(st.text(alphabet="ab:-[]{}&*!|>'\"\\u0U%@`,? #~\n\t1.e+", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(YamlError):
        json.dumps(dict(read_front_matter(text).metadata), allow_nan=False).encode()
