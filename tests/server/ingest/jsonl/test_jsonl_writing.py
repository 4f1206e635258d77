"""Lines of JSONL: one way to write a record, and a round trip that loses nothing."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_ingest.jsonl.export import jsonl_line
from groundwire_ingest.jsonl.jsonl import JsonlSource
from groundwire_ingest.records import SourceEdge, SourceNode, SourceRecord, StatedAccess

Scratch = Callable[[], AbstractContextManager[Path]]


def test_the_canonical_line() -> None:
    node = SourceNode("py", "a#b", "def b():\n  ü", "x", access=StatedAccess(acl_tags=()), metadata={"z": 1, "a": {}})
    assert jsonl_line(node) == (
        '{"type": "node", "kind": "py", "local_id": "a#b", "text": "def b():\\n  ü", "acl_tags": [], '
        '"metadata": {"a": {}, "z": 1}}'
    )
    edge = SourceEdge("py::a#b", "py::c", "Calls", "x")
    plain = '"type": "edge", "from": "py::a#b", "to": "py::c", "edge_type": "Calls"'
    assert jsonl_line(edge) == f"{{{plain}}}"
    assert jsonl_line(replace(edge, confidence=0.5, line=3)) == f'{{{plain}, "confidence": 0.5, "line": 3}}'


def test_the_order_of_fields() -> None:
    node = SourceNode(
        "slack",
        "general/1.000000",
        "",
        "x",
        "p",
        1,
        2,
        "s",
        "g",
        "l",
        "d",
        "c",
        "i",
        case_id="C-7",
        document_id="D",
        document_version_id="3",
        chunk_index=4,
        is_latest=False,
        deleted=True,
        service_name="billing",
        repo_name="shop",
        section_path="A > B",
        author="Ada",
        channel="general",
        timestamp=datetime(2025, 1, 1, 12, tzinfo=timezone(timedelta(hours=2))),
        source_uri="u",
        context_prefix="f",
        is_test=True,
        is_generated=True,
    )
    assert list(json.loads(jsonl_line(node)).items()) == [
        *(("type", "node"), ("kind", "slack"), ("local_id", "general/1.000000"), ("text", "")),
        *(("path", "p"), ("start_line", 1), ("end_line", 2), ("symbol", "s"), ("signature", "g"), ("language", "l")),
        *(("data_type", "d"), ("corpus_type", "c"), ("collection_id", "i"), ("case_id", "C-7"), ("document_id", "D")),
        *(("document_version_id", "3"), ("chunk_index", 4), ("is_latest", False), ("deleted", True)),
        *(("service_name", "billing"), ("repo_name", "shop"), ("section_path", "A > B"), ("author", "Ada")),
        *(("channel", "general"), ("timestamp", "2025-01-01T10:00:00Z"), ("source_uri", "u"), ("context_prefix", "f")),
        *(("is_test", True), ("is_generated", True)),
    ]


TEXTS = st.text(max_size=12)
NAMES = st.lists(st.text(min_size=1, max_size=6), max_size=3).map(tuple)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(TEXTS, children, max_size=3),
    max_leaves=6,
)
NUMBERS = st.floats(-1e30, 1e30).filter(lambda number: number == 0 or abs(number) > 1e-30)
WHOLE_NUMBERS = st.integers(0, 2**31 - 1)
SPANS = st.tuples(st.integers(1, 2**31 - 1), st.integers(1, 2**31 - 1)).map(sorted) | st.just([0, 0])
KINDS = st.from_regex(r"[a-z][a-z0-9_]{0,31}", fullmatch=True)
IDS = st.text(min_size=1, max_size=20)

FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "kind": KINDS,
    "local_id": IDS,
    "chunk_index": WHOLE_NUMBERS,
    "is_latest": st.booleans(),
    "deleted": st.booleans(),
    "is_test": st.booleans(),
    "is_generated": st.booleans(),
    "timestamp": st.none() | st.datetimes(timezones=st.just(UTC)),
    "access": st.builds(
        StatedAccess, st.none() | TEXTS, st.none() | NAMES, st.none() | NAMES, st.none() | WHOLE_NUMBERS
    ),
    "metadata": st.dictionaries(TEXTS, JSON_VALUES, max_size=3),
}
TEXT_FIELDS = [field.name for field in fields(SourceNode) if field.type is str and field.name not in FIELDS]


@st.composite
def nodes(draw: st.DrawFn, dimension: int) -> SourceNode:
    """A node whose every field varies: those of no other type are texts."""
    start_line, end_line = draw(SPANS)
    vector = draw(st.lists(NUMBERS, min_size=dimension, max_size=dimension).filter(any)) if dimension else None
    values = {
        **{name: draw(TEXTS) for name in TEXT_FIELDS},
        **{name: draw(strategy) for name, strategy in FIELDS.items()},
        "origin": "here",
        "start_line": start_line,
        "end_line": end_line,
        "vector": None if vector is None else tuple(vector),
    }
    assert values.keys() == {field.name for field in fields(SourceNode)}
    return SourceNode(**values)


EDGES = st.builds(
    SourceEdge,
    from_key=st.builds("{}::{}".format, KINDS, IDS),
    to_key=st.builds("{}::{}".format, KINDS, IDS),
    edge_type=st.text(min_size=1, max_size=8).filter(lambda name: name != "*"),
    origin=st.just("here"),
    confidence=st.floats(0, 1, exclude_min=True),
    line=WHOLE_NUMBERS,
)


def read_back(folder: Path, lines: list[str]) -> list[SourceRecord]:
    path = folder / "round.jsonl"
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="")
    return list(JsonlSource(path).read())


@given(records=st.sampled_from([0, 3]).flatmap(lambda size: st.lists(nodes(size) | EDGES, max_size=4)))
def test_what_is_written_is_read_again(records: list[SourceNode | SourceEdge], scratch: Scratch) -> None:
    lines = [jsonl_line(record) for record in records]
    with scratch() as folder:
        again = [item for item in read_back(folder, lines) if isinstance(item, SourceNode | SourceEdge)]
    assert [replace(record, origin="here") for record in again] == records
    assert [jsonl_line(record) for record in again] == lines


@pytest.mark.parametrize("name", [name for name in TEXT_FIELDS if name not in ("text", "origin")])
def test_an_empty_text_is_left_out_and_any_other_written(name: str) -> None:
    node = SourceNode("cs", "a", "", "x")
    assert name not in json.loads(jsonl_line(node))
    changed: dict[str, Any] = {name: " "}
    assert json.loads(jsonl_line(replace(node, **changed)))[name] == " "
