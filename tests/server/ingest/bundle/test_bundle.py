"""The bundle source: both layouts say the same, every spelling is understood, and nothing is lost or guessed."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from groundwire_index.scope import Scope
from groundwire_ingest.build.collect import collect
from groundwire_ingest.bundle.bundle import BundleSource
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.records import SourceNode, StatedAccess
from support.bundle_records import (
    BODIES,
    CHUNKS,
    DEPENDENCIES,
    EDGES,
    NODES,
    BundleMaker,
    edges_of,
    json_lines,
    nodes_of,
    read_bundle,
)


@pytest.mark.parametrize("top", ["", "Release_1/"])
@pytest.mark.parametrize("zipped", [True, False])
def test_both_layouts_and_packings_say_the_same(
    make_bundle: BundleMaker, both_halves: dict[str, object], tmp_path: Path, zipped: bool, top: str
) -> None:
    path = make_bundle(both_halves, zipped=zipped, top=top)
    nodes = nodes_of(path)
    assert list(nodes) == ["cs::C0001", "cs::C0002", "sql::dbo.Invoice_Create|PROC", "sql::dbo.Invoice|TABLE"]
    assert replace(nodes["cs::C0001"], origin="") == SourceNode(
        kind="cs",
        local_id="C0001",
        text="void Create() {}",
        origin="",
        path="src/Invoices.cs",
        symbol="Invoices.Create",
        language="csharp",
        data_type="regular_code",
        corpus_type="CODE_LOGIC",
    )
    assert nodes["cs::C0002"].path == "src/Audit.cs"
    procedure = nodes["sql::dbo.Invoice_Create|PROC"]
    assert replace(procedure, origin="", metadata={}) == SourceNode(
        kind="sql",
        local_id="dbo.Invoice_Create|PROC",
        text="CREATE PROC dbo.Invoice_Create AS SELECT 1",
        origin="",
        path="db/Invoice_Create.sql",
        symbol="dbo.Invoice_Create",
        language="tsql",
        data_type="db_code",
        corpus_type="CODE_LOGIC",
    )
    assert nodes["sql::dbo.Invoice|TABLE"].text == "CREATE TABLE dbo.Invoice (Id int)"
    assert edges_of(path) == [
        ("cs::C0001", "cs::C0002", "cs_dep"),
        ("cs::C0001", "sql::dbo.Invoice_Create|PROC", "cs_dep"),
        ("sql::dbo.Invoice_Create|PROC", "sql::dbo.Invoice|TABLE", "WritesTo"),
    ]
    assert BundleSource(path).description == f"RoslynIndexer bundle {path.name} (branch main, commit abc123)"
    collected = collect(read_bundle(path), Scope("shop", "main"), tmp_path, skip_dangling_edges=False)
    assert (len(collected.nodes), len(collected.edges), collected.skipped) == (4, 3, ())


def test_one_half_is_enough(make_bundle: BundleMaker, both_halves: dict[str, object]) -> None:
    sql_only = {name: value for name, value in both_halves.items() if name.startswith("sql")}
    path = make_bundle(sql_only)
    assert [node.kind for node in nodes_of(path).values()] == ["sql", "sql"]
    assert BundleSource(path).description == "RoslynIndexer bundle bundle"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, StatedAccess()),
        ({"AclTags": []}, StatedAccess(acl_tags=())),
        ({"AclTags": ["a", "b"]}, StatedAccess(acl_tags=("a", "b"))),
        ({"acl_tags": ["a"]}, StatedAccess(acl_tags=("a",))),
        ({"acl_allow": ["a"]}, StatedAccess(acl_tags=("a",))),
        ({"acl_tags_any": ["a"]}, StatedAccess(acl_tags=("a",))),
        ({"ACL-Tags-Any": ["a"], "aclAllow": ["a"]}, StatedAccess(acl_tags=("a",))),
        ({"ClassificationLabels": ["x"]}, StatedAccess(classification_labels=("x",))),
        ({"classification_labels_all": ["x"]}, StatedAccess(classification_labels=("x",))),
        ({"classification_labels": None}, StatedAccess(classification_labels=())),
        ({"clearance_level": 3}, StatedAccess(clearance_level=3)),
        ({"ClearanceLevel": 0}, StatedAccess(clearance_level=0)),
        ({"user_level": None}, StatedAccess(clearance_level=0)),
        ({"doc_level": 2}, StatedAccess(clearance_level=2)),
        ({"TenantId": "acme"}, StatedAccess(tenant_id="acme")),
        ({"tenant": ""}, StatedAccess(tenant_id="")),
        (
            {"security": {"acl_tags": ["a"], "classification_labels": None, "user_level": 1}},
            StatedAccess(acl_tags=("a",), classification_labels=(), clearance_level=1),
        ),
    ],
)
def test_access_in_every_spelling(make_bundle: BundleMaker, fields: dict[str, object], expected: StatedAccess) -> None:
    path = make_bundle(
        {
            CHUNKS: [{"id": "C1", "text": "x", **fields}],
            BODIES: json_lines({"key": "dbo.T|TABLE", "body": "y", **fields}),
        }
    )
    nodes = nodes_of(path)
    assert nodes["cs::C1"].access == expected
    assert nodes["sql::dbo.T|TABLE"].access == expected
    assert nodes["cs::C1"].metadata == {}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"AclTags": ["a"], "acl_allow": []}, "two spellings of field 'acl_tags' disagree"),
        ({"AclTags": ["a"], "security": {"acl_tags": []}}, "two spellings of field 'acl_tags' disagree"),
        ({"user_level": 1, "clearance_level": 2}, "two spellings of field 'clearance_level' disagree"),
        ({"AclTags": "a"}, "field 'acl_tags' is \"a\"; it must be a list of strings"),
        ({"AclTags": ""}, "field 'acl_tags' is \"\"; it must be a list of strings"),
        ({"AclTags": [""]}, "field 'acl_tags' is"),
        ({"AclTags": [1]}, "field 'acl_tags' is"),
        ({"clearance_level": -1}, "field 'clearance_level' is -1; it must be a whole number"),
        ({"clearance_level": True}, "field 'clearance_level' is true"),
        ({"clearance_level": "2"}, "field 'clearance_level' is \"2\""),
        ({"tenant_id": 7}, "field 'tenant_id' is 7; it must be a string"),
        ({"Id": "C2", "id": "C1"}, "two spellings of field 'id' disagree"),
        ({"Text": 5}, "field 'text' is 5; it must be a string"),
        ({"Id": ""}, "field 'id' is \"\"; it must be a string that is not empty"),
        ({"Id": True}, "field 'id' is true"),
        ({"Id": None}, "field 'id' is null"),
    ],
)
def test_a_bad_chunk_is_refused_with_its_place(
    make_bundle: BundleMaker, fields: dict[str, object], message: str
) -> None:
    path = make_bundle({CHUNKS: [{"Id": "C0"}, {"Id": "C2", **fields}]})
    with pytest.raises(IngestError) as caught:
        read_bundle(path)
    assert str(caught.value).startswith(f"{path / CHUNKS}[1]: {message}")


def test_unknown_fields_become_metadata(make_bundle: BundleMaker) -> None:
    path = make_bundle(
        {
            CHUNKS: [
                {
                    "Id": 17,
                    "File": "A.cs",
                    "RepoRelativePath": "src\\A.cs",
                    "Class": "A",
                    "Member": "",
                    "Signature": "class A",
                    "PartIndex": 1,
                    "owner": "team",
                    "security": {"acl_tags": [], "warnings": ["w"]},
                }
            ]
        }
    )
    node = nodes_of(path)["cs::17"]
    assert (node.path, node.symbol, node.signature, node.text) == ("src/A.cs", "A", "class A", "")
    assert node.metadata == {"file": "A.cs", "PartIndex": 1, "owner": "team", "security": {"warnings": ["w"]}}


@pytest.mark.parametrize(
    "dependencies",
    [
        {"1": [2, "SQL:dbo.T"], "2": []},
        {"1": [2, "sql:dbo.T|TABLE"], "2": None},
        [{"Id": 1, "Dependencies": ["2", "SQL:DBO.t"]}, {"Id": 2, "Dependencies": []}],
        [{"From": "1", "To": 2}, {"from_id": 1, "to_id": "SQL:dbo.T", "relation": "cs_dep"}],
    ],
)
def test_dependencies_in_every_form(make_bundle: BundleMaker, dependencies: object) -> None:
    path = make_bundle(
        {
            CHUNKS: [{"Id": 1}, {"Id": 2}],
            DEPENDENCIES: dependencies,
            BODIES: json_lines({"key": "SQL:dbo.T", "kind": "Table"}),
        }
    )
    assert edges_of(path) == [("cs::1", "cs::2", "cs_dep"), ("cs::1", "sql::dbo.T|TABLE", "cs_dep")]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({CHUNKS: {"Id": 1}}, "chunks.json: is no JSON list"),
        ({CHUNKS: ["C1"]}, r"chunks.json\[0\]: is no JSON object"),
        ({CHUNKS: "[{]"}, "chunks.json: is not valid JSON"),
        ({CHUNKS: b"\xff\xfe["}, "chunks.json: is not UTF-8"),
        ({CHUNKS: [], DEPENDENCIES: "7"}, "dependencies.json: is neither a JSON object nor a list"),
        ({CHUNKS: [], DEPENDENCIES: {"C1": [["C2"]]}}, r"dependencies.json\['C1'\]: names no chunk or SQL object"),
        ({CHUNKS: [], DEPENDENCIES: {"C1": [None]}}, r"dependencies.json\['C1'\]: names no chunk"),
        ({CHUNKS: [], DEPENDENCIES: {"C1": [True]}}, r"dependencies.json\['C1'\]: names no chunk"),
        ({CHUNKS: [], DEPENDENCIES: [{"id": "C1"}]}, r"dependencies.json\[0\]: give the dependencies of a chunk"),
        ({CHUNKS: [], DEPENDENCIES: [{"to": "C1"}]}, r"dependencies.json\[0\]: field 'from' is null"),
        ({BODIES: json_lines({"key": "dbo.T"})}, "sql_bodies.jsonl:1: 'dbo.T' has no kind"),
        ({BODIES: "\n" + json_lines({"kind": "View"})}, "sql_bodies.jsonl:2: field 'key' is null"),
        ({BODIES: "{}\n\n{"}, "sql_bodies.jsonl:1: field 'key' is null"),
        ({BODIES: b'{"key": "\xff"}'}, "sql_bodies.jsonl:1: is not UTF-8"),
        (
            {BODIES: json_lines({"key": "dbo.T|TABLE"}, {"key": "SQL:dbo.T", "kind": "Table"})},
            r"sql_bodies.jsonl:2: 'sql::dbo.T\|TABLE' was already named at .*:1; name it once",
        ),
        ({NODES: "key,kind\ndbo.T\n"}, "nodes.csv:2: has 1 cells where the header has 2"),
        ({NODES: "key,kind,kind\ndbo.T,TABLE,VIEW\n"}, "nodes.csv:1: names a column twice"),
        ({NODES: 'key,kind\n"dbo.T"x,TABLE\n'}, "nodes.csv:2: is not valid CSV"),
        (
            {NODES: "key,body_path\ndbo.T|TABLE,../../etc/passwd\n"},
            "nodes.csv:2: body_path .* is no file of the bundle",
        ),
        ({NODES: 'key,AclTags\ndbo.T|TABLE,"a,b"\n'}, "nodes.csv:2: column 'AclTags' is 'a,b'; separate names"),
        ({NODES: "key,user_level\ndbo.T|TABLE,high\n"}, "nodes.csv:2: field 'clearance_level' is \"high\""),
        (
            {BODIES: json_lines({"key": "dbo.T|TABLE", "AclTags": []}), NODES: "key,AclTags\ndbo.T|TABLE,a\n"},
            "nodes.csv:2: states other access",
        ),
        ({BODIES: "", EDGES: "from,to,relation\ndbo.T|TABLE,,Uses\n"}, "edges.csv:2: field 'to' is \"\""),
        ({BODIES: "", EDGES: "from,to,relation\ndbo.T|TABLE,dbo.U|TABLE,\n"}, "edges.csv:2: field 'kind' is null"),
        (
            {NODES: "key\n", "sql_code_bundle/graph/nodes.csv": "key\n"},
            "sql_code_bundle: is there as well as sql_bundle",
        ),
    ],
)
def test_a_malformed_bundle_is_refused(make_bundle: BundleMaker, files: dict[str, object], message: str) -> None:
    path = make_bundle(files)
    with pytest.raises(IngestError, match=message):
        read_bundle(path)


def test_malformed_repository_data_is_refused(make_bundle: BundleMaker) -> None:
    source = BundleSource(make_bundle({CHUNKS: [], "repo_meta.json": "[]"}))
    with pytest.raises(IngestError, match=r"repo_meta.json: is no JSON object"):
        _ = source.description


def test_marks_and_other_scripts_are_read(make_bundle: BundleMaker) -> None:
    chunk = json.dumps([{"Id": "C1", "Text": "punkt wejścia"}], ensure_ascii=False)
    path = make_bundle({CHUNKS: b"\xef\xbb\xbf" + chunk.encode()})
    assert nodes_of(path)["cs::C1"].text == "punkt wejścia"


def test_a_folder_without_a_bundle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match=r"holds no bundle; one of regular_code_bundle/chunks.json, "):
        BundleSource(tmp_path)
