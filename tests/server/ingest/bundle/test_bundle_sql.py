"""The SQL half of a bundle: identities of objects, spellings of edges, access in CSV."""

import pytest

from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.records import SkippedFile, StatedAccess
from support.bundle_records import (
    BODIES,
    CHUNKS,
    EDGES,
    NODES,
    BundleMaker,
    edges_of,
    json_lines,
    nodes_of,
    read_bundle,
)


@pytest.mark.parametrize(
    ("key", "kind", "local_id"),
    [
        ("SQL:dbo.P", "Procedure", "dbo.P|PROC"),
        ("dbo.P", "stored procedure", "dbo.P|PROC"),
        ("dbo.P|PROC", "", "dbo.P|PROC"),
        ("SQL:dbo.P|proc", "View", "dbo.P|PROC"),
        ("dbo.V", "View", "dbo.V|VIEW"),
        ("dbo.F", "Function", "dbo.F|FUNC"),
        ("dbo.R", "Trigger", "dbo.R|TRIGGER"),
        ("other.dbo.S", "Sequence", "other.dbo.S|SEQUENCE"),
    ],
)
def test_sql_identities(make_bundle: BundleMaker, key: str, kind: str, local_id: str) -> None:
    path = make_bundle({BODIES: json_lines({"key": key, "kind": kind, "name": "another name"})})
    (node,) = nodes_of(path).values()
    assert (node.kind, node.local_id, node.symbol) == ("sql", local_id, local_id.rpartition("|")[0])
    assert node.metadata["name"] == "another name"


def test_csharp_keys_of_the_sql_half_are_code(make_bundle: BundleMaker) -> None:
    path = make_bundle(
        {
            NODES: "key,kind,file\ncsharp:Db.Invoices|DBSET,DBSET,Db.cs\ndbo.Invoice|TABLE,TABLE,\n",
            EDGES: "from,to,relation\ncsharp:Db.Invoices|DBSET,dbo.Invoice|TABLE,MapsTo\n",
        }
    )
    node = nodes_of(path)["cs::Db.Invoices|DBSET"]
    assert (node.language, node.data_type, node.symbol, node.text) == ("csharp", "regular_code", "Db.Invoices", "")
    assert edges_of(path) == [("cs::Db.Invoices|DBSET", "sql::dbo.Invoice|TABLE", "MapsTo")]


@pytest.mark.parametrize("header", ["from,to,relation", "From,To,Kind", "from_id,to_id,edge_type", "FromId,ToId,Type"])
def test_edge_headers(make_bundle: BundleMaker, header: str) -> None:
    files = {BODIES: json_lines({"key": "dbo.A|VIEW"}, {"key": "dbo.B|TABLE"}), CHUNKS: [{"Id": "C1"}]}
    path = make_bundle({**files, EDGES: f"\ufeff{header}\r\ndbo.A|VIEW,dbo.B|TABLE,ReadsFrom\r\n\r\ndbo.B,C1,On\r\n"})
    assert edges_of(path) == [
        ("sql::dbo.A|VIEW", "sql::dbo.B|TABLE", "ReadsFrom"),
        ("sql::dbo.B|TABLE", "cs::C1", "On"),
    ]


@pytest.mark.parametrize(
    ("spelled", "object_key"),
    [
        ("dbo.Invoice|TABLE", "sql::dbo.Invoice|TABLE"),
        ("DBO.invoice|table", "sql::dbo.Invoice|TABLE"),
        ("SQL:dbo.invoice", "sql::dbo.Invoice|TABLE"),
        ("dbo.Invoice|TABLE_OR_VIEW", "sql::dbo.Invoice|TABLE"),
        ("dbo.INVOICE|UNKNOWN", "sql::dbo.Invoice|TABLE"),
        ("dbo.Other|UNKNOWN", "sql::dbo.Other|UNKNOWN"),
        ("dbo.case|view", "sql::dbo.case|VIEW"),
        ("dbo.CASE|view", "sql::dbo.CASE|VIEW"),
        ("dbo.Invoice|VIEW", "sql::dbo.Invoice|VIEW"),
        ("dbo.Nowhere", "sql::dbo.Nowhere"),
        ("csharp:nowhere", "cs::nowhere"),
    ],
)
def test_edges_find_their_object(make_bundle: BundleMaker, spelled: str, object_key: str) -> None:
    keys = ("dbo.Invoice|TABLE", "dbo.Other|TABLE", "dbo.Other|UNKNOWN", "dbo.case|VIEW", "dbo.CASE|VIEW")
    path = make_bundle(
        {BODIES: json_lines(*({"key": key} for key in keys)), EDGES: f"from,to,relation\n{keys[0]},{spelled},Uses\n"}
    )
    assert edges_of(path) == [("sql::dbo.Invoice|TABLE", object_key, "Uses")]


def test_a_name_that_could_be_several_objects_is_refused(make_bundle: BundleMaker) -> None:
    path = make_bundle(
        {
            BODIES: json_lines({"key": "dbo.T|TABLE"}, {"key": "dbo.T|TRIGGER"}),
            EDGES: "from,to,relation\ndbo.T|TABLE,SQL:dbo.T,Uses\n",
        }
    )
    with pytest.raises(IngestError, match=r"edges.csv:2: 'SQL:dbo.T' may be any of dbo.T\|TABLE, dbo.T\|TRIGGER"):
        read_bundle(path)


def test_one_object_in_both_files_is_one_node(make_bundle: BundleMaker) -> None:
    path = make_bundle(
        {
            BODIES: json_lines({"key": "dbo.P|PROC", "body": "from jsonl", "AclTags": ["a"], "domain": "jsonl"}),
            NODES: (
                "key,kind,file,batch,domain,body_path\n"
                "dbo.P|PROC,PROC,db\\p.sql,3,csv,docs/bodies/dbo.P.PROC.sql\n"
                "dbo.T|TABLE,TABLE,,,(external),\n"
            ),
            "sql_bundle/docs/bodies/dbo.P.PROC.sql": "from file",
            "sql_bundle/docs/bodies/dbo.T.TABLE.sql": "\ufefftable from file",
            "sql_bundle/docs/bodies/dbo.Gone.VIEW.sql": "nobody's",
        }
    )
    nodes = nodes_of(path)
    procedure = nodes["sql::dbo.P|PROC"]
    assert (procedure.text, procedure.path) == ("from jsonl", "db/p.sql")
    assert procedure.metadata == {"domain": "jsonl", "batch": "3", "kind": "PROC"}
    assert procedure.access == StatedAccess(acl_tags=("a",))
    assert nodes["sql::dbo.T|TABLE"].text == "table from file"
    assert nodes["sql::dbo.T|TABLE"].metadata == {"domain": "(external)", "kind": "TABLE"}
    assert [record for record in read_bundle(path) if isinstance(record, SkippedFile)] == [
        SkippedFile("sql_bundle/docs/bodies/dbo.Gone.VIEW.sql", "no SQL object of the bundle has this body")
    ]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("", ()),
        ("Finance", ("Finance",)),
        ("Finance; Security", ("Finance", "Security")),
        ('"[""a"",""b;c""]"', ("a", "b;c")),
    ],
)
def test_access_names_in_csv(make_bundle: BundleMaker, cell: str, expected: tuple[str, ...]) -> None:
    path = make_bundle({NODES: f"key,AclTags,clearance_level\ndbo.T|TABLE,{cell},2\ndbo.U|TABLE,,\n"})
    nodes = nodes_of(path)
    assert nodes["sql::dbo.T|TABLE"].access == StatedAccess(acl_tags=expected, clearance_level=2)
    assert nodes["sql::dbo.U|TABLE"].access == StatedAccess(acl_tags=(), clearance_level=0)
