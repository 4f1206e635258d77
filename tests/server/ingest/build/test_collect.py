"""The rules that all sources share: what is refused, with its place, and what is put in order."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.limits import MAX_EDGE_TYPES, MAX_TEXT_BYTES
from groundwire_index.nodes.node import Edge, NodeAccess
from groundwire_index.scope import Scope, canonical_id
from groundwire_ingest.build.collect import ACCESS_FIELDS, collect, node_access
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.records import (
    DerivedNames,
    LateFacts,
    SkippedFile,
    SourceEdge,
    SourceNode,
    SourceRecord,
    StatedAccess,
)

SCOPE = Scope("shop", "main", "v1")


SILENT = StatedAccess()


def node(local_id: str, kind: str = "cs", access: StatedAccess = SILENT) -> SourceNode:
    return SourceNode(kind, local_id, f"text of {local_id}", f"file:{local_id}", access=access)


def edge(from_id: str, to_id: str, edge_type: str = "Calls", confidence: float = 1.0, line: int = 0) -> SourceEdge:
    return SourceEdge(f"cs::{from_id}", f"cs::{to_id}", edge_type, f"edge:{from_id}>{to_id}", confidence, line)


@dataclass(frozen=True)
class Held:
    """What was collected, read back into memory."""

    nodes: list[SourceNode]
    edges: tuple[Edge, ...]
    skipped: tuple[SkippedFile, ...]
    dropped_edges: int

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(canonical_id(SCOPE, node.kind, node.local_id) for node in self.nodes)


def collected(records: Iterable[SourceRecord], *, skip_dangling_edges: bool = False) -> Held:
    with TemporaryDirectory() as directory:
        collection = collect(records, SCOPE, Path(directory), skip_dangling_edges=skip_dangling_edges)
        nodes = list(collection.nodes)
    ids = [canonical_id(SCOPE, node.kind, node.local_id) for node in nodes]
    table = collection.edges
    edges = tuple(
        Edge(ids[from_row], ids[to_row], table.edge_types[edge_type], confidence, line)
        for from_row, to_row, edge_type, confidence, line in zip(
            table.from_rows.tolist(),
            table.to_rows.tolist(),
            table.types.tolist(),
            table.confidences.tolist(),
            table.lines.tolist(),
            strict=True,
        )
    )
    return Held(nodes, edges, collection.skipped, collection.dropped_edges)


def refusal(*records: SourceRecord) -> str:
    with pytest.raises(IngestError) as caught:
        collected(records)
    return str(caught.value)


def test_nodes_stand_in_the_order_of_their_canonical_ids() -> None:
    collection = collected([node("b"), node("a|x"), node("B"), node("é"), node("a"), node("a", kind="bs")])
    assert collection.ids == tuple(
        f"shop::main::{key}" for key in ("bs::a", "cs::B", "cs::a", "cs::a|x", "cs::b", "cs::é")
    )
    assert [f"shop::main::{record.key}" for record in collection.nodes] == list(collection.ids)


def test_late_facts_reach_a_node_and_its_parts_and_no_other() -> None:
    long = replace(node("a"), text="x" * (MAX_TEXT_BYTES + 1), context_prefix="module a")
    late = (LateFacts(key, "implements B", is_test=True) for key in ("cs::a", "cs::nowhere"))
    held = collected([long, node("b"), *late])
    assert [(item.local_id, item.context_prefix, item.is_test) for item in held.nodes] == [
        ("a", "module a\nimplements B", True),
        ("a@part2", "module a\nimplements B", True),
        ("b", "", False),
    ]
    assert "".join(item.text for item in held.nodes[:2]) == long.text


def test_a_node_named_twice_is_refused_with_both_places() -> None:
    again = SourceNode("cs", "a", "another text", "file:9")
    assert refusal(node("a"), node("b"), again) == "file:9: node 'cs::a' was already named at file:a; name it once"


def test_the_same_local_id_of_another_kind_is_another_node() -> None:
    assert len(collected([node("a"), node("a", kind="sql")]).nodes) == 2


@pytest.mark.parametrize(
    ("records", "skipped"),
    [
        ([], ""),
        ([edge("a", "b")], ""),
        ([SkippedFile("a.py", "is binary")], ": skipped are a.py is binary"),
        (
            [SkippedFile(f"{number}.py", "is empty") for number in range(7)],
            ": skipped are 0.py is empty, 1.py is empty, 2.py is empty, 3.py is empty, 4.py is empty, and 2 more",
        ),
    ],
)
def test_a_source_without_nodes_is_refused(records: list[SourceRecord], skipped: str) -> None:
    assert refusal(*records) == f"the source holds no nodes; there is nothing to index{skipped}"


@pytest.mark.parametrize("kind", ["", "CS", "c-s", "1c", "c" * 33])
def test_a_malformed_kind_is_refused_with_its_place(kind: str) -> None:
    assert refusal(node("a", kind=kind)).startswith(f"file:a: kind {kind!r} must be")


def test_an_empty_local_id_is_refused() -> None:
    assert refusal(node("")) == "file:: local_id is empty; name the node"


@pytest.mark.parametrize("letter", ["a", "é"])
def test_an_id_is_bounded_in_utf_8_bytes(letter: str) -> None:
    room = 2_048 - len("shop::main::cs::")
    longest = letter * (room // len(letter.encode()))
    assert len(collected([node(longest)]).ids[0].encode()) == 2_048
    message = refusal(node(longest + "x"))
    assert message.startswith(f"file:{longest}x: id 'shop::main::cs::")
    assert message.endswith("has more than 2048 UTF-8 bytes; shorten local_id")


def test_a_node_with_too_long_a_name_that_its_source_did_not_choose_is_skipped_with_its_edges() -> None:
    long = replace(node("x" * 2_040), path="x.py")
    part = replace(node("x" * 2_041), path="x.py")
    edges = [edge("a", "b"), edge("a", long.local_id), edge(part.local_id, "b")]
    collection = collected([DerivedNames(), node("a"), long, part, node("b"), LateFacts(long.key, "context"), *edges])
    assert collection.ids == ("shop::main::cs::a", "shop::main::cs::b")
    assert len(collection.edges) == 1
    why = "the id of a node has more than 2048 bytes; shorten the file's path or the symbol"
    assert (collection.skipped, collection.dropped_edges) == ((SkippedFile("x.py", why),), 0)


def test_types_of_edges_are_bounded() -> None:
    edges = [edge("a", "a", f"T{number}") for number in range(MAX_EDGE_TYPES + 1)]
    assert len(collected([node("a"), *edges[1:]]).edges) == MAX_EDGE_TYPES
    assert refusal(node("a"), *edges).startswith("edge:a>a: edge type 'T1000' is one more than the 1000 that an index")


STATED: dict[str, object] = {
    "tenant_id": "t",
    "acl_tags": ("finance",),
    "classification_labels": ("secret",),
    "clearance_level": 2,
}
STATED_AS_PUBLIC: dict[str, object] = {
    "tenant_id": "",
    "acl_tags": (),
    "classification_labels": (),
    "clearance_level": 0,
}


@pytest.mark.parametrize("name", ACCESS_FIELDS)
@pytest.mark.parametrize("values", [STATED, STATED_AS_PUBLIC], ids=["demanding", "public"])
@pytest.mark.parametrize("stated_first", [True, False])
def test_access_stated_on_some_nodes_only_is_refused(name: str, values: dict[str, object], stated_first: bool) -> None:
    """Also when what is stated is that the node is public: the source carries access data and left it off a node."""
    stating = node("a", access=StatedAccess(**{name: values[name]}))  # type: ignore[arg-type]
    records = [stating, node("b")] if stated_first else [node("b"), stating]
    message = refusal(*records)
    assert message.startswith(f"file:b: node 'cs::b' does not state {name}, but 'cs::a' at file:a does; ")


@pytest.mark.parametrize("name", ACCESS_FIELDS)
def test_a_field_that_every_node_states_is_taken(name: str) -> None:
    records: list[SourceRecord] = [
        node("a", access=StatedAccess(**{name: STATED[name]})),  # type: ignore[arg-type]
        node("b", access=StatedAccess(**{name: STATED_AS_PUBLIC[name]})),  # type: ignore[arg-type]
    ]
    demanding, public = (node_access(record) for record in collected(records).nodes)
    assert public == NodeAccess()
    assert demanding == NodeAccess(**{name: STATED[name]})  # type: ignore[arg-type]


def test_a_source_that_states_nothing_describes_public_nodes() -> None:
    assert node_access(node("a")) == NodeAccess()


@pytest.mark.parametrize(("from_id", "to_id", "missing"), [("a", "x", "x"), ("x", "a", "x"), ("x", "y", "x")])
def test_an_edge_to_a_node_that_is_not_there_is_refused(from_id: str, to_id: str, missing: str) -> None:
    assert refusal(edge(from_id, to_id), node("a")) == (
        f"edge:{from_id}>{to_id}: Calls edge to a node that is not there: 'cs::{missing}'; add the node, or give "
        "--skip-dangling-edges"
    )


def test_dangling_edges_are_counted_and_left_out_when_asked() -> None:
    records: list[SourceRecord] = [node("a"), node("b"), edge("a", "x"), edge("a", "b"), edge("y", "b"), edge("y", "b")]
    collection = collected(records, skip_dangling_edges=True)
    assert collection.edges == (Edge("shop::main::cs::a", "shop::main::cs::b", "Calls"),)
    assert collection.dropped_edges == 3
    assert collected([node("a")], skip_dangling_edges=True).dropped_edges == 0


def test_the_first_edge_that_dangles_is_told_where_several_do() -> None:
    records: list[SourceRecord] = [node("a"), edge("a", "a"), edge("a", "y", "FK"), edge("x", "a")]
    assert refusal(*records).startswith("edge:a>y: FK edge to a node that is not there: 'cs::y'; ")


def test_what_is_told_first_is_what_the_source_breaks_first() -> None:
    """Rules of a single record come before those of several, and all of them after what stops the reading."""
    broken: list[SourceRecord] = [node("b", kind="CS"), node("c", access=StatedAccess(tenant_id="t")), edge("c", "x")]
    assert "was already named" in refusal(*broken, node("c"))
    assert "kind 'CS'" in refusal(*broken)
    assert "does not state tenant_id" in refusal(node("b"), *broken[1:])
    assert "not there" in refusal(*broken[1:])


def test_types_of_edges_that_were_dropped_are_forgotten() -> None:
    collection = collected([node("a"), edge("a", "x", "FK"), edge("a", "a", "On")], skip_dangling_edges=True)
    assert collection.edges == (Edge("shop::main::cs::a", "shop::main::cs::a", "On"),)


def test_a_record_comes_back_as_it_was() -> None:
    record = SourceNode(
        "cs",
        "a",
        "text\ud800",
        "file:1",
        path="p",
        start_line=1,
        end_line=2,
        timestamp=datetime(2025, 5, 31, tzinfo=UTC),
        access=StatedAccess("t", ("a",), (), 3),
        vector=(0.1, -2.0),
        metadata={"z": [1, {"y": None}], "big": 2**70},
    )
    assert collected([record]).nodes == [record]


def test_an_edge_may_stand_before_its_nodes() -> None:
    assert len(collected([edge("a", "b"), node("b"), node("a")]).edges) == 1


@given(
    edges=st.lists(
        st.builds(
            edge,
            st.sampled_from("abc"),
            st.sampled_from("abc"),
            st.sampled_from(["Calls", "calls", "FK"]),
            st.sampled_from([0.25, 0.5, 1.0]),
            st.sampled_from([0, 0, 3, 8]),
        ),
        max_size=20,
    ),
    data=st.data(),
)
def test_of_equal_edges_the_surest_stays_and_then_the_first_line_whatever_their_order(
    edges: list[SourceEdge], data: st.DataObject
) -> None:
    nodes = [node(name) for name in "abc"]
    equal: dict[tuple[str, str, str], list[SourceEdge]] = {}
    for record in edges:
        identity = (f"shop::main::{record.from_key}", f"shop::main::{record.to_key}", record.edge_type)
        equal.setdefault(identity, []).append(record)
    surest = {
        identity: min(records, key=lambda record: (-record.confidence, record.line or 9))
        for identity, records in equal.items()
    }
    expected = tuple(Edge(*identity, surest[identity].confidence, surest[identity].line) for identity in sorted(surest))
    assert collected([*nodes, *edges]).edges == expected
    assert collected(data.draw(st.permutations([*nodes, *edges]))).edges == expected


def test_skipped_files_are_told_in_the_order_of_the_source() -> None:
    skipped = [SkippedFile("b", "is binary"), SkippedFile("a", "is not UTF-8")]
    assert collected([skipped[0], node("a"), skipped[1]]).skipped == tuple(skipped)


def test_a_source_that_fails_on_the_way_is_not_half_collected() -> None:
    def broken() -> Iterable[SourceRecord]:
        yield node("a")
        raise IngestError("file:2: is torn")

    with pytest.raises(IngestError, match="file:2: is torn"):
        collected(broken())
