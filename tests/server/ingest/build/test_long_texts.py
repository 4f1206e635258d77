"""Texts that no response could hold: cut into parts that all are returned, or refused where their producer cut them."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.limits import MAX_TEXT_BYTES, RESPONSE_BYTES
from groundwire_index.nodes.node import CONTAINS, JsonValue
from groundwire_index.scope import Scope, canonical_id
from groundwire_ingest.build.long_texts import MAX_REPEATED_BYTES, in_parts, text_bytes
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.jsonl.jsonl import jsonl_record
from groundwire_ingest.records import SourceNode
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.texts.texts import FetchRequest
from support.builds import build, edge, node
from support.calls import never_stop
from support.engines import engine_over

SCOPE = Scope("shop", "main", "v1")


@given(
    text=st.lists(st.sampled_from(["a", "\n", "é\n", "\U0001f600", "word word"]), max_size=40).map("".join),
    most=st.integers(20, 60),
    start_line=st.sampled_from([0, 7]),
)
def test_parts_hold_the_whole_text_in_order_and_each_can_be_returned(text: str, most: int, start_line: int) -> None:
    lines = text.count("\n") + (not text.endswith("\n"))
    whole = SourceNode("cs", "a", text, "f", path="p", start_line=start_line, end_line=max(0, start_line + lines - 1))
    parts = in_parts(replace(whole, end_line=0) if start_line == 0 else whole, most)
    assert "".join(part.text for part in parts) == text
    assert all(text_bytes(part) <= most for part in parts)
    assert [part.local_id for part in parts] == ["a", *(f"a@part{number}" for number in range(2, len(parts) + 1))]
    if start_line == 0:
        assert {(part.start_line, part.end_line) for part in parts} == {(0, 0)}
        return
    # Each part stands where its text does, and is cut inside of a line only when that line is longer than a part.
    before = 0
    for part, following in zip(parts, (*parts[1:], None), strict=True):
        assert part.start_line == 7 + text[:before].count("\n")
        before += len(part.text)
        if following is not None and not part.text.endswith("\n"):
            assert "\n" not in part.text


def test_a_text_at_the_limit_stays_whole() -> None:
    whole = node("a", "x" * (MAX_TEXT_BYTES - 4), path="p", symbol="s")
    assert in_parts(replace(whole, text=whole.text + "x")) == (replace(whole, text=whole.text + "x"),)
    assert len(in_parts(replace(whole, text=whole.text + "xx"))) == 2


def test_parts_are_like_their_whole_in_all_that_says_who_may_see_them() -> None:
    whole = node("a", "x" * 5_000_000, case_id="7", collection_id="c", metadata={"workflow_id": "w"})
    assert {(part.case_id, part.collection_id, part.metadata["workflow_id"]) for part in in_parts(whole)} == {
        ("7", "c", "w")
    }


def test_what_every_part_would_repeat_is_bounded() -> None:
    """Or a hostile bundle of half a gigabyte would take a hundred times that on disk."""
    long = node("a", "x" * 5_000_000, metadata={"note": "m" * MAX_REPEATED_BYTES})
    with pytest.raises(IngestError, match=r"^file:a: node 'cs::a' has a text that must be cut to be returned"):
        in_parts(long)
    assert in_parts(replace(long, text="short")) == (replace(long, text="short"),)


def test_the_format_states_the_limit() -> None:
    document = Path(__file__).parents[4] / "docs" / "jsonl.md"
    assert f"at most {MAX_TEXT_BYTES:,} UTF-8 bytes" in document.read_text(encoding="utf-8")


@pytest.mark.parametrize("extra", [0, 1])
def test_a_producer_of_jsonl_is_told_its_line(extra: int) -> None:
    text = "é" * (MAX_TEXT_BYTES // 2 - 1)
    record: dict[str, JsonValue] = {"type": "node", "kind": "cs", "local_id": "a", "text": text, "path": "p"}
    if not extra:
        assert isinstance(jsonl_record(record, "f:3"), SourceNode)
        return
    with pytest.raises(
        IngestError, match=rf"^f:3: field 'text' takes {MAX_TEXT_BYTES + 1} bytes with its symbol and twice"
    ):
        jsonl_record({**record, "symbol": "s"}, "f:3")


def test_every_text_of_an_index_is_returned_when_it_is_asked_for(tmp_path: Path) -> None:
    text = "line of words here\n" * 225_000
    assert len(text) > RESPONSE_BYTES
    report = build(tmp_path, [node("giant", text, path="big.cs"), node("b"), edge("b", "giant"), edge("giant", "b")])
    assert dict(report.edge_types) == {"Calls": 2, CONTAINS: 1}
    engine = engine_over(EmbeddedBackend(tmp_path))

    def fetched(local_id: str) -> str:
        request = FetchRequest(
            SCOPE, AccessContext(), (canonical_id(SCOPE, "cs", local_id),), (), budget_tokens=10_000_000
        )
        return engine.fetch(request, never_stop).texts[0].stored.text

    assert fetched("giant") + fetched("giant@part2") == text
