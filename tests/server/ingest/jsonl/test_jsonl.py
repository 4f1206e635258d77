"""The JSONL source: every field of a line, and every rule with its place."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from groundwire_index.scope import MAX_ID_LENGTH
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.jsonl.jsonl import JsonlSource
from groundwire_ingest.records import SourceEdge, SourceNode, SourceRecord, StatedAccess

NODE = {"type": "node", "kind": "cs", "local_id": "A.B", "text": "void B() {}"}
EDGE = {"type": "edge", "from": "cs::A.B", "to": "sql::dbo.T|TABLE", "edge_type": "ReadsFrom"}

Reader = Callable[[str | bytes], list[SourceRecord]]


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    def read_content(content: str | bytes) -> list[SourceRecord]:
        path = tmp_path / "nodes.jsonl"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return list(JsonlSource(path).read())

    return read_content


def test_a_full_node_and_edge(read: Reader, tmp_path: Path) -> None:
    node = {
        **NODE,
        "path": "src/A.cs",
        "start_line": 10,
        "end_line": 42,
        "symbol": "A.B",
        "signature": "void B()",
        "language": "csharp",
        "data_type": "regular_code",
        "corpus_type": "CODE_LOGIC",
        "collection_id": "shop",
        "case_id": "C-7",
        "document_id": "A.cs",
        "document_version_id": "3",
        "chunk_index": 4,
        "is_latest": False,
        "deleted": True,
        "service_name": "billing",
        "repo_name": "shop",
        "section_path": "Setup > Keys",
        "author": "Ada",
        "channel": "general",
        "timestamp": "2025-01-01T12:00:00.25+02:00",
        "source_uri": "https://x.y/A.cs",
        "context_prefix": "A.cs > Setup",
        "is_test": True,
        "is_generated": True,
        "acl_tags": ["finance"],
        "classification_labels": [],
        "clearance_level": 2,
        "tenant_id": "acme",
        "vector": [1, 0.5],
        "metadata": {"owner": {"team": "x"}, "tags": [1, None, True]},
    }
    records = read(json.dumps(node) + "\n" + json.dumps({**EDGE, "confidence": 0.25, "line": 12}))
    assert records == [
        SourceNode(
            kind="cs",
            local_id="A.B",
            text="void B() {}",
            origin=f"{tmp_path / 'nodes.jsonl'}:1",
            path="src/A.cs",
            start_line=10,
            end_line=42,
            symbol="A.B",
            signature="void B()",
            language="csharp",
            data_type="regular_code",
            corpus_type="CODE_LOGIC",
            collection_id="shop",
            case_id="C-7",
            document_id="A.cs",
            document_version_id="3",
            chunk_index=4,
            is_latest=False,
            deleted=True,
            service_name="billing",
            repo_name="shop",
            section_path="Setup > Keys",
            author="Ada",
            channel="general",
            timestamp=datetime(2025, 1, 1, 10, 0, 0, 250_000, tzinfo=UTC),
            source_uri="https://x.y/A.cs",
            context_prefix="A.cs > Setup",
            is_test=True,
            is_generated=True,
            access=StatedAccess("acme", ("finance",), (), 2),
            vector=(1.0, 0.5),
            metadata={"owner": {"team": "x"}, "tags": [1, None, True]},
        ),
        SourceEdge("cs::A.B", "sql::dbo.T|TABLE", "ReadsFrom", f"{tmp_path / 'nodes.jsonl'}:2", 0.25, 12),
    ]


def test_a_minimal_node_has_every_default_and_states_no_access(read: Reader) -> None:
    (node,) = read(json.dumps(NODE))
    assert isinstance(node, SourceNode)
    assert node == SourceNode("cs", "A.B", "void B() {}", node.origin)
    assert node.access == StatedAccess()
    assert node.vector is None


def test_a_null_clearance_level_is_stated_as_none(read: Reader) -> None:
    (node,) = read(json.dumps({**NODE, "clearance_level": None, "tenant_id": "", "acl_tags": []}))
    assert isinstance(node, SourceNode)
    assert node.access == StatedAccess(tenant_id="", acl_tags=(), clearance_level=0)


def test_blank_lines_marks_and_carriage_returns_are_allowed(read: Reader) -> None:
    content = b"\xef\xbb\xbf\n" + json.dumps(NODE).encode() + b"\r\n\r\n  \n" + json.dumps(EDGE).encode()
    node, edge = read(content)
    assert isinstance(node, SourceNode)
    assert isinstance(edge, SourceEdge)
    assert (node.origin[-2:], edge.origin[-2:]) == (":2", ":5")


def test_only_a_line_feed_ends_a_line(read: Reader) -> None:
    (node,) = read(json.dumps({**NODE, "text": "a\u2028b\x0bc\x85d"}, ensure_ascii=False))
    assert isinstance(node, SourceNode)
    assert node.text == "a\u2028b\x0bc\x85d"


BAD_NODES: list[tuple[dict[str, object], str]] = [
    ({"kind": 7}, "field 'kind' is 7; it must be a string"),
    ({"kind": "C#"}, "field 'kind' is 'C#'; it must be 1 to 32 of a-z"),
    ({"local_id": ""}, f"field 'local_id' is \"\"; it must hold 1 to {MAX_ID_LENGTH} characters"),
    ({"local_id": "x" * (MAX_ID_LENGTH + 1)}, "field 'local_id' is"),
    ({"text": None}, "field 'text' is null; it must be a string"),
    ({"path": 1.5}, "field 'path' is 1.5; it must be a string"),
    ({"start_line": True, "end_line": True}, "field 'start_line' is true; it must be a whole number"),
    ({"start_line": 1.0, "end_line": 1}, "field 'start_line' is 1.0; it must be a whole number"),
    ({"start_line": -1, "end_line": 1}, "field 'start_line' is -1; it must be a whole number"),
    ({"start_line": 1, "end_line": 2**31}, "field 'end_line' is 2147483648; it must be a whole number"),
    ({"start_line": 5, "end_line": 4}, "field 'end_line' is 4; it must not come before start_line"),
    ({"start_line": 0, "end_line": 4}, "field 'end_line' is 4; it must not come before start_line"),
    ({"acl_tags": "finance"}, "field 'acl_tags' is \"finance\"; it must be a list of strings"),
    ({"acl_tags": None}, "field 'acl_tags' is null; it must be a list of strings"),
    ({"acl_tags": ["a", 1]}, "field 'acl_tags' is"),
    ({"classification_labels": [""]}, "field 'classification_labels' is"),
    ({"classification_labels": ["x" * 257]}, "field 'classification_labels' is"),
    ({"clearance_level": -1}, "field 'clearance_level' is -1"),
    ({"clearance_level": True}, "field 'clearance_level' is true"),
    ({"clearance_level": "2"}, "field 'clearance_level' is \"2\""),
    ({"tenant_id": None}, "field 'tenant_id' is null"),
    ({"tenant_id": "x" * 257}, "field 'tenant_id' is"),
    ({"vector": []}, "field 'vector' is []; it must be a list of numbers"),
    ({"vector": [0, 0.0]}, "field 'vector' is [0, 0.0]; it must be a list of numbers"),
    ({"vector": [True]}, "field 'vector' is [true]; it must be a list of numbers"),
    ({"vector": ["1"]}, "field 'vector' is"),
    ({"vector": {"0": 1}}, "field 'vector' is"),
    ({"vector": [1e39]}, "field 'vector' is [1e+39]; it must be a list of numbers that fit a 32-bit float"),
    ({"vector": [10**400]}, "field 'vector' is"),
    ({"vector": [1e-60]}, "field 'vector' is"),
    ({"chunk_index": -1}, "field 'chunk_index' is -1; it must be a whole number from 0"),
    ({"chunk_index": "1"}, "field 'chunk_index' is \"1\"; it must be a whole number"),
    ({"is_latest": 1}, "field 'is_latest' is 1; it must be true or false"),
    ({"deleted": None}, "field 'deleted' is null; it must be true or false"),
    ({"is_test": "yes"}, "field 'is_test' is \"yes\"; it must be true or false"),
    ({"is_generated": 0}, "field 'is_generated' is 0; it must be true or false"),
    ({"line": 1}, "unknown field 'line'"),
    ({"timestamp": 0}, "field 'timestamp' is 0; it must be a string"),
    ({"timestamp": ""}, "field 'timestamp' is \"\"; it must be a time as RFC 3339 writes it"),
    ({"timestamp": "2025-01-01T10:00:00"}, "field 'timestamp' is \"2025-01-01T10:00:00\"; it must be a time"),
    ({"case_id": 1}, "field 'case_id' is 1; it must be a string"),
    ({"document_version_id": 2}, "field 'document_version_id' is 2; it must be a string"),
    ({"service_name": []}, "field 'service_name' is []; it must be a string"),
    ({"repo_name": None}, "field 'repo_name' is null; it must be a string"),
    ({"section_path": ["A"]}, "field 'section_path' is [\"A\"]; it must be a string"),
    ({"author": {}}, "field 'author' is {}; it must be a string"),
    ({"channel": 1}, "field 'channel' is 1; it must be a string"),
    ({"source_uri": True}, "field 'source_uri' is true; it must be a string"),
    ({"context_prefix": None}, "field 'context_prefix' is null; it must be a string"),
    ({"metadata": []}, "field 'metadata' is []; it must be an object"),
    ({"acl": []}, "unknown field 'acl'; the fields are acl_tags"),
    ({"confidence": 1}, "unknown field 'confidence'"),
]

BAD_EDGES: list[tuple[dict[str, object], str]] = [
    ({"from": "A.B"}, "field 'from' is \"A.B\"; it must name a node as <kind>::<local_id>"),
    ({"to": "cs::"}, "field 'to' is \"cs::\"; it must name a node"),
    ({"to": "C#::x"}, "field 'to' is"),
    ({"to": ["cs::x"]}, "field 'to' is"),
    ({"edge_type": ""}, "field 'edge_type' is \"\"; it must hold 1 to 256 characters"),
    ({"line": -1}, "field 'line' is -1; it must be a whole number from 0"),
    ({"line": 1.0}, "field 'line' is 1.0; it must be a whole number"),
    ({"is_test": True}, "unknown field 'is_test'"),
    ({"edge_type": "*"}, "field 'edge_type' is \"*\"; it must be a name"),
    ({"confidence": 0}, "field 'confidence' is 0; it must be a number above 0"),
    ({"confidence": 1.01}, "field 'confidence' is 1.01"),
    ({"confidence": True}, "field 'confidence' is true"),
    ({"confidence": "1"}, "field 'confidence' is"),
    ({"kind": "cs"}, "unknown field 'kind'; the fields are confidence, edge_type, from, line, to, type"),
]


@pytest.mark.parametrize(
    ("line", "message"),
    [(json.dumps({**NODE, **change}), message) for change, message in BAD_NODES]
    + [(json.dumps({**EDGE, **change}), message) for change, message in BAD_EDGES]
    + [
        (
            json.dumps({name: value for name, value in record.items() if name != missing}),
            f"field {missing!r} is missing",
        )
        for record in (NODE, EDGE)
        for missing in record
    ]
    + [
        (json.dumps({**NODE, "type": "Node"}), "field 'type' is \"Node\"; it must be 'node' or 'edge'"),
        ("[1]", "is no JSON object"),
        ('"node"', "is no JSON object"),
        ("{'type': 'node'}", "is not valid JSON"),
        ('{"type": "node"', "is not valid JSON"),
        ('{"vector": [NaN]}', "is not valid JSON (NaN is no JSON number)"),
        ('{"vector": [-Infinity]}', "is not valid JSON (-Infinity is no JSON number)"),
        ('{"metadata": {"a": 1e999}}', "is not valid JSON (1e999 is beyond"),
        ('{"acl_tags": ["a"], "acl_tags": []}', "is not valid JSON (key 'acl_tags' is given twice)"),
        ('{"text": "\\ud800"}', "holds half of a surrogate pair"),
        ('{"metadata": {"\\udfff": 1}}', "holds half of a surrogate pair"),
        ('{"metadata": ' + "[" * 100_000, "is nested too deeply"),
        ('{"metadata": {"a": ' + "[" * 500 + "]" * 500 + "}}", "is nested too deeply"),
        ("1" * 5000, "is not valid JSON"),
    ],
)
def test_a_broken_rule_names_line_field_and_rule(read: Reader, tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(IngestError) as caught:
        read(json.dumps({**NODE, "local_id": "first"}) + "\n\n" + line + "\n")
    assert str(caught.value).startswith(f"{tmp_path / 'nodes.jsonl'}:3: {message}")


def test_bad_utf8_names_its_line(read: Reader) -> None:
    with pytest.raises(IngestError, match=r"nodes.jsonl:2: is not UTF-8 \(byte 0xff at 9\)"):
        read(json.dumps(NODE).encode() + b'\n{"type": \xff}')


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([[1.0, 2.0], None], ":2: the vector has 0 numbers where the first node, "),
        ([None, [1.0]], ":2: the vector has 1 numbers where the first node, "),
        ([[1.0], [1.0], [1.0, 2.0]], ":3: the vector has 2 numbers where the first node, "),
    ],
)
def test_vectors_stand_on_all_nodes_and_are_of_one_length(
    read: Reader, vectors: list[list[float] | None], message: str
) -> None:
    lines = [json.dumps({**NODE, **({} if vector is None else {"vector": vector})}) for vector in vectors]
    with pytest.raises(IngestError, match=message):
        read("\n".join(lines))


def test_a_missing_file_is_an_ingest_error(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match="cannot be read"):
        list(JsonlSource(tmp_path / "none.jsonl").read())


def test_reading_is_streamed(tmp_path: Path) -> None:
    path = tmp_path / "nodes.jsonl"
    path.write_text(json.dumps(NODE) + "\nnonsense\n")
    records = JsonlSource(path).read()
    assert isinstance(next(records), SourceNode)
    with pytest.raises(IngestError, match=":2: is not valid JSON"):
        next(records)
