"""A whole tree read as a source: every kind of file at once."""

import hashlib
import sysconfig
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from groundwire_index.repository_edges.ends import Ends
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.records import SkippedFile, SourceEdge, SourceNode, SourceRecord
from groundwire_ingest.tree.decoding import read_source
from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.read_before import ReadBefore
from groundwire_ingest.tree.source import TreeSource
from groundwire_ingest.tree.walk import ListedFile, Listing, list_tree
from support import programs
from support.swaps import SWAPS, Swap

TreeMaker = Callable[[Mapping[str, str | bytes]], Path]

SHOP: Mapping[str, str | bytes] = {
    ".gitignore": "bin/\n",
    "bin/ignored.py": "x = 1\n",
    "README.md": "# Shop\n\nSells.\n\n## Run\n\nmake\n",
    "Dockerfile": "FROM python:3.11\nCMD run\n",
    "deploy/shop.yaml": "kind: Service\nmetadata:\n  name: shop\n",
    "db/tables.sql": "CREATE TABLE dbo.Invoice (Id int NOT NULL);\n",
    "src/a.py": "from b import load\n\n\ndef main():\n    load()\n    run('SELECT Id FROM dbo.Invoice WHERE Id = 1')\n",
    "src/b.py": "def load():\n    pass\n",
    "src/Invoice.cs": '[Table("Invoice", Schema = "dbo")]\npublic class Invoice\n{\n}\n',
    "go.mod": "module example.com/shop\n",
    "cmd/main.go": 'package main\n\nimport "example.com/shop/store"\n\nfunc main() { store.Open() }\n',
    "store/store.go": "package store\n\nfunc Open() {}\n",
    "web/app.tsx": "export const App = () => {\n  return <b />;\n};\n",
    "Main.java": "class Main {\n}\n",
    "notes.png": "x",
    "src/Shop.csproj": '<Project>\n  <ProjectReference Include="..\\lib\\Lib.csproj" />\n</Project>\n',
    "lib/Lib.csproj": "<Project />\n",
    "proto/a.proto": 'import "b.proto";\nservice A {\n  rpc Get (B) returns (B);\n}\n',
    "proto/b.proto": "message B {\n}\n",
    "ci.yml": "jobs: {}\n",
    "bad.py": b"\xff\xfe\x00",
    "broken.cs": "¿ } { ¡ ( § ! ? ¿ } ¡\n",
    "empty/__init__.py": "",
}


def read(root: Path) -> list[SourceRecord]:
    return list(TreeSource(root).read())


def nodes_of(records: list[SourceRecord]) -> list[SourceNode]:
    return [record for record in records if isinstance(record, SourceNode)]


def edges_of(records: list[SourceRecord]) -> dict[tuple[str, str, str], float]:
    edges = [record for record in records if isinstance(record, SourceEdge)]
    by_ends = {(edge.from_key, edge.to_key, edge.edge_type): edge.confidence for edge in edges}
    assert len(by_ends) == len(edges)
    return by_ends


def test_every_kind_of_file_has_its_nodes_and_every_other_file_its_reason(make_tree: TreeMaker) -> None:
    records = read(make_tree(SHOP))
    assert {node.path for node in nodes_of(records)} == {
        "README.md",
        "Dockerfile",
        "deploy/shop.yaml",
        "db/tables.sql",
        "src/a.py",
        "src/b.py",
        "src/Invoice.cs",
        "go.mod",
        "cmd/main.go",
        "store/store.go",
        "web/app.tsx",
        "Main.java",
        "src/Shop.csproj",
        "lib/Lib.csproj",
        "proto/a.proto",
        "proto/b.proto",
        "ci.yml",
    }
    assert {record.path: record.why for record in records if isinstance(record, SkippedFile)} == {
        ".gitignore": "rules for a tool; nothing to search for",
        "notes.png": "an image, a font, an archive or other data (.png)",
        "bad.py": "not decodable as utf-16: truncated data at byte 2",
        "broken.cs": "cannot be parsed as csharp; holds no word to search for",
        "empty/__init__.py": "the file is empty",
    }


def test_edges_lead_across_files_and_languages(make_tree: TreeMaker) -> None:
    records = read(make_tree(SHOP))
    table = next(node.key for node in nodes_of(records) if node.path == "db/tables.sql")
    edges = edges_of(records)
    assert edges["py::src/a.py", "py::src/b.py", "Imports"] == 1.0
    assert edges["py::src/a.py#main", "py::src/b.py#load", "Calls"] == 1.0
    assert edges["go::cmd/main.go#main", "go::store/store.go#Open", "Calls"] == 1.0
    assert ("py::src/a.py#main", table, "ReadsFrom") in edges
    assert ("cs::src/Invoice.cs#Invoice", table, "MapsTo") in edges
    assert edges["msbuild::src/Shop.csproj", "msbuild::lib/Lib.csproj", "References"] == 1.0
    assert edges["proto::proto/a.proto", "proto::proto/b.proto", "Imports"] == 1.0
    assert edges["proto::proto/a.proto#A.Get", "proto::proto/b.proto#B", "References"] == 1.0


def test_keys_are_unique_and_edges_lead_to_nodes(make_tree: TreeMaker) -> None:
    records = read(make_tree(SHOP))
    keys = [node.key for node in nodes_of(records)]
    assert len(keys) == len(set(keys))
    assert {key for from_key, to_key, _ in edges_of(records) for key in (from_key, to_key)} <= set(keys)


def test_code_comes_after_all_other_files_and_edges_last_and_sorted(make_tree: TreeMaker) -> None:
    records = read(make_tree(SHOP))
    is_code = [node.path.endswith((".py", ".cs", ".go", ".tsx", ".java")) for node in nodes_of(records)]
    assert is_code == sorted(is_code)
    first_edge = next(index for index, record in enumerate(records) if isinstance(record, SourceEdge))
    *edges, ends = records[first_edge:]
    assert all(isinstance(record, SourceEdge) for record in edges)
    assert isinstance(ends, Ends)
    places = list(edges_of(records))
    assert places == sorted(places)


def test_a_file_that_no_parser_can_read_within_its_limits_is_skipped_and_the_others_are_indexed(
    make_tree: TreeMaker,
) -> None:
    """Twelve kilobytes make the parser of Python take gigabytes."""
    records = read(make_tree({"a.py": "/*\n" * 4_000, "b.py": "def start():\n    return 1\n"}))
    (skipped,) = (record for record in records if isinstance(record, SkippedFile))
    assert (skipped.path, "1024 MB of memory" in skipped.why) == ("a.py", True)
    assert [record.symbol for record in records if isinstance(record, SourceNode)] == ["b", "start"]


@pytest.mark.parametrize("swap", SWAPS, ids=lambda swap: swap.__name__)
@pytest.mark.parametrize("most_bytes", [0, 1 << 20], ids=["afresh", "with what was read before"])
def test_a_file_that_is_replaced_once_it_is_listed_is_not_followed(
    make_tree: TreeMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swap: Swap, most_bytes: int
) -> None:
    root = make_tree({"a/a.py": "x = 1\n", "b.py": "y = 1\n"})
    secret = tmp_path / "secret.py"
    secret.write_text("secret = 1\n")

    def swapped(*arguments: Any) -> tuple[Listing, ...]:
        listed = list_tree(*arguments)
        swap(root / "a" / "a.py", secret)
        return listed

    monkeypatch.setattr("groundwire_ingest.tree.contents.list_tree", swapped)
    records = list(TreeSource(root, read_before=ReadBefore(most_bytes)).read())
    assert [record.path for record in records if isinstance(record, SkippedFile)] == ["a/a.py"]
    assert [node.path for node in nodes_of(records)] == ["b.py"]


def test_the_same_tree_reads_the_same_whatever_the_hash_seed(make_tree: TreeMaker) -> None:
    root = make_tree(SHOP)
    here = hashlib.sha256(repr(read(root)).encode()).hexdigest()
    for seed in ("1", "2"):
        assert programs.output("tree_digest", root, PYTHONHASHSEED=seed).strip() == here


def test_description_names_the_folder(make_tree: TreeMaker) -> None:
    assert TreeSource(make_tree({"a.py": "x"})).description == "source tree shop"


def test_a_root_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match="not a folder"):
        next(TreeSource(tmp_path / "absent").read())


def test_part_of_the_standard_library(tmp_path: Path) -> None:
    library = Path(sysconfig.get_path("stdlib"))
    for package in ("json", "asyncio"):
        (tmp_path / package).mkdir()
        for file in (library / package).glob("*.py"):
            (tmp_path / package / file.name).write_bytes(file.read_bytes())
    records = read(tmp_path)
    nodes, edges = nodes_of(records), edges_of(records)
    by_key = {node.key: node for node in nodes}
    assert len(by_key) == len(nodes) > 1000
    assert not [record for record in records if isinstance(record, SkippedFile)]
    loads = "py::json/__init__.py#loads"
    assert edges["py::json/__init__.py#load", loads, "Calls"] == 1.0
    assert edges[loads, "py::json/decoder.py#JSONDecoder.decode", "Calls"] == 0.8
    assert edges["py::json/__init__.py", "py::json/decoder.py", "Imports"] == 1.0
    decode = by_key["py::json/decoder.py#JSONDecoder.decode"]
    assert edges[decode.key, "py::json/decoder.py#JSONDecoder.raw_decode", "Calls"] == 1.0
    assert decode.signature == "def decode(self, s, _w=WHITESPACE.match)"
    outlines = {from_key for from_key, _, edge_type in edges if edge_type == "Contains"}
    for node in nodes:
        source = read_source(tmp_path, ListedFile(node.path, "python"))
        assert isinstance(source, SourceFile)
        if "def " in node.signature and node.key not in outlines:
            assert "\n".join(source.text.split("\n")[node.start_line - 1 : node.end_line]) == node.text


def test_how_a_file_was_decoded_is_told_and_its_nodes_are_there(make_tree: TreeMaker) -> None:
    code = "// Größe\nclass Size\n{\n    int All(int n)\n    {\n        return n + 1;\n    }\n}\n"
    root = make_tree({"Size.cs": code.encode("cp1252"), "deploy.yml": "# Größe\nkind: Service\n".encode("cp1252")})
    records = list(TreeSource(root).read())
    notes = [item for item in records if isinstance(item, SkippedFile)]
    assert notes == [
        SkippedFile("deploy.yml", "not UTF-8; read as Windows-1252"),
        SkippedFile("Size.cs", "not UTF-8; read as Windows-1252"),
    ]
    assert [item.symbol for item in records if isinstance(item, SourceNode) and item.kind == "cs"] == [
        "Size",
        "Size.All",
    ]


@pytest.mark.parametrize("path", ["a.c", "a.rs", "a.kt", "a.rb", "A.java"])
def test_code_that_cannot_be_parsed_is_plain_text_and_named(make_tree: TreeMaker, path: str) -> None:
    root = make_tree({path: "<#if x> refund } ) ( the { order </#if>\n" * 3})
    records = list(TreeSource(root).read())
    nodes = nodes_of(records)
    assert [(node.path, node.data_type, node.corpus_type) for node in nodes] == [(path, "regular_code", "CODE_LOGIC")]
    assert "refund" in nodes[0].text
    assert nodes[0].kind == {"a.c": "c", "a.rs": "rs", "a.kt": "kt", "a.rb": "rb", "A.java": "java"}[path]
    why = [item.why for item in records if isinstance(item, SkippedFile)]
    assert len(why) == 1
    assert why[0].startswith("cannot be parsed as ")
    assert why[0].endswith("; indexed as plain text")


def test_a_private_key_in_code_that_cannot_be_parsed_is_not_read(make_tree: TreeMaker) -> None:
    root = make_tree({"a.rb": "-----BEGIN RSA PRIVATE KEY-----\n) } ( {\n" * 3})
    assert nodes_of(list(TreeSource(root).read())) == []


def test_of_types_of_one_name_that_of_a_referred_project_is_meant(make_tree: TreeMaker) -> None:
    widget = (
        "namespace Kit;\npublic class Widget\n{\n    public int Turn(int n)\n    {\n        return n + 1;\n    }\n}\n"
    )
    user = "using Kit;\nclass User\n{\n    int Go(Widget widget)\n    {\n        return widget.Turn(1);\n    }\n}\n"
    project = '<Project Sdk="Microsoft.NET.Sdk">{}</Project>\n'
    reference = '<ItemGroup><ProjectReference Include="..\\{0}\\{0}.csproj" /></ItemGroup>'
    files = {
        "src/One/Widget.cs": widget,
        "src/One/One.csproj": project.format(""),
        "src/Two/Widget.cs": widget,
        "src/Two/Two.csproj": project.format(""),
        "src/Mid/Mid.csproj": project.format(reference.format("Two")),
        "src/App/User.cs": user,
    }

    def called(app: str) -> dict[str, float]:
        records = read(make_tree({**files, "src/App/App.csproj": project.format(app)}))
        edges = edges_of(records).items()
        return {
            end.partition("#")[0]: value for (start, end, kind), value in edges if kind == "Calls" and "User" in start
        }

    assert called(reference.format("Two")) == {"cs::src/Two/Widget.cs": 0.9}
    assert called(reference.format("Mid")) == {"cs::src/Two/Widget.cs": 0.9}
    assert called("") == {"cs::src/One/Widget.cs": 0.5, "cs::src/Two/Widget.cs": 0.5}


def test_a_step_of_a_migration_alters_the_table_of_an_sql_file(make_tree: TreeMaker) -> None:
    step = (
        "class First : Migration\n{\n    protected override void Up(MigrationBuilder m)\n    {\n"
        '        m.AddColumn<string>(name: "Code", table: "Device");\n    }\n'
        "    protected override void Down(MigrationBuilder m)\n    {\n"
        '        m.DropColumn(name: "Code", table: "Device");\n    }\n}\n'
    )
    files = {"db/Device.sql": "CREATE TABLE dbo.Device (Id int NOT NULL);\n", "src/First.cs": step}
    edges = edges_of(read(make_tree(files)))
    assert {place: value for place, value in edges.items() if place[2] == "Alters"} == {
        ("cs::src/First.cs#First.Up", "sql::dbo.Device|TABLE", "Alters"): 0.8
    }
