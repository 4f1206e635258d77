"""Builders of sources: small bundles and exports, trees of files, analyses of single files, and edges between several.

A bundle is written as a folder or a zip, with a top folder inside or without.
"""

import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import pytest

from groundwire_ingest.records import SourceEdge, SourceNode, SourceRecord
from groundwire_ingest.slack.slack import SlackSource
from groundwire_ingest.tree import source
from groundwire_ingest.tree.code_facts import CodeAnalysis
from groundwire_ingest.tree.code_languages import CODE_LANGUAGES, module_file
from groundwire_ingest.tree.file_analysis import EntityMapping, SourceFile
from groundwire_ingest.tree.flag_signs import FlagSigns
from groundwire_ingest.tree.languages.go.go_modules import GoModule
from groundwire_ingest.tree.names.rules import TreeLayout
from groundwire_ingest.tree.resolve import resolve
from groundwire_ingest.tree.single_file import read_code
from groundwire_ingest.tree.source import TreeSource
from groundwire_ingest.tree.walk import language_of
from groundwire_ingest.workers import Workers

BundleMaker = Callable[..., Path]
ExportReader = Callable[..., list[SourceRecord]]

CODE = {
    "regular_code_bundle/chunks.json": [
        {"Id": "C0001", "File": "src/Invoices.cs", "Class": "Invoices", "Member": "Create", "Text": "void Create() {}"},
        {"Id": "C0002", "File": "src\\Audit.cs", "Class": "Audit", "Member": "Write", "Text": "void Write() {}"},
    ],
    "regular_code_bundle/dependencies.json": {"C0001": ["C0002", "SQL:dbo.Invoice_Create"], "C0002": []},
    "repo_meta.json": {"Branch": "main", "HeadSha": "abc123"},
}

SQL_WITH_BODIES = {
    "sql_bundle/docs/sql_bodies.jsonl": (
        '{"key": "SQL:dbo.Invoice_Create", "kind": "Procedure", "schema": "dbo", "name": "Invoice_Create", '
        '"file": "db/Invoice_Create.sql", "body": "CREATE PROC dbo.Invoice_Create AS SELECT 1"}\n'
        '{"key": "SQL:dbo.Invoice", "kind": "Table", "schema": "dbo", "name": "Invoice", '
        '"file": "db/Invoice.sql", "body": "CREATE TABLE dbo.Invoice (Id int)"}\n'
    ),
    "sql_bundle/graph/edges.csv": "from,to,relation\nSQL:dbo.Invoice_Create,SQL:dbo.Invoice,WritesTo\n",
}

SQL_WITH_NODES = {
    "sql_code_bundle/graph/nodes.csv": (
        '"key","kind","name","schema","file","batch","domain","body_path"\n'
        '"dbo.Invoice_Create|PROC","PROC","Invoice_Create","dbo","db/Invoice_Create.sql","0","db",'
        '"docs/bodies/dbo.Invoice_Create.PROC.sql"\n'
        '"dbo.Invoice|TABLE","TABLE","Invoice","dbo","db/Invoice.sql","0","db","docs/bodies/dbo.Invoice.TABLE.sql"\n'
    ),
    "sql_code_bundle/docs/bodies/dbo.Invoice_Create.PROC.sql": "CREATE PROC dbo.Invoice_Create AS SELECT 1",
    "sql_code_bundle/docs/bodies/dbo.Invoice.TABLE.sql": "CREATE TABLE dbo.Invoice (Id int)",
    "sql_code_bundle/graph/edges.csv": (
        '"from_id","to_id","edge_type","to_kind","file","batch"\n'
        '"dbo.Invoice_Create|PROC","dbo.Invoice|TABLE","WritesTo","TABLE","db/Invoice_Create.sql","0"\n'
    ),
}


def _content(value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else json.dumps(value)).encode()


@pytest.fixture
def make_bundle(tmp_path: Path) -> BundleMaker:
    """Writes a bundle of files by path; those of `CODE` when none are given."""

    def make(files: Mapping[str, object] = CODE, *, zipped: bool = False, top: str = "") -> Path:
        if zipped:
            path = tmp_path / "bundle.zip"
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, value in files.items():
                    archive.writestr(f"{top}{name}", _content(value))
            return path
        path = tmp_path / "bundle"
        for name, value in files.items():
            file = path / top / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(_content(value))
        return path

    return make


@pytest.fixture
def code_files() -> dict[str, object]:
    """The C# half of a bundle, to change and give to `make_bundle`."""
    return dict(CODE)


@pytest.fixture(params=["bodies", "nodes"])
def both_halves(request: pytest.FixtureRequest) -> dict[str, object]:
    """A whole bundle, once in either layout of the SQL half; both say the same."""
    return {**CODE, **(SQL_WITH_BODIES if request.param == "bodies" else SQL_WITH_NODES)}


SLACK_LISTS = {
    "channels.json": [{"id": "C1", "name": "general"}, {"id": "C2", "name": "incidents"}],
    "groups.json": [{"id": "G1", "name": "board"}],
    "mpims.json": [{"id": "G2", "name": "mpdm-ada--bob-1"}],
    "dms.json": [{"id": "D1", "members": ["U1", "U2"]}],
    "users.json": [
        {"id": "U1", "name": "ada.l", "profile": {"display_name": "ada", "real_name": "Ada Lovelace"}},
        {"id": "U2", "name": "bob.m", "profile": {"display_name": " ", "real_name": "Bob Martin"}},
        {"id": "U3", "name": "eve", "real_name": None, "profile": {}},
    ],
}


@pytest.fixture
def read_export(make_bundle: BundleMaker) -> ExportReader:
    """`read_export(day_files)`: the records of a Slack export with SLACK_LISTS, which `day_files` may replace."""

    def read(day_files: Mapping[str, object], *, zipped: bool = False, top: str = "") -> list[SourceRecord]:
        return list(SlackSource(make_bundle({**SLACK_LISTS, **day_files}, zipped=zipped, top=top)).read())

    return read


@pytest.fixture(scope="session")
def slack_lists() -> dict[str, object]:
    """Everything of a Slack export but messages."""
    return dict(SLACK_LISTS)


TreeMaker: TypeAlias = Callable[[Mapping[str, str | bytes]], Path]
Analyser: TypeAlias = Callable[[str, str], CodeAnalysis]
Resolver: TypeAlias = Callable[..., list[SourceEdge | EntityMapping]]
EdgesOf: TypeAlias = Callable[..., dict[tuple[str, str], float]]


@dataclass(frozen=True)
class ReadTree:
    """The nodes of a tree by key, and the confidence of its edges by their ends and type."""

    nodes: dict[str, SourceNode]
    edges: dict[tuple[str, str, str], float]

    def of(self, edge_type: str) -> dict[tuple[str, str], float]:
        """The edges of one type, by their ends less the prefix of the kind."""
        return {
            (start.partition("::")[2], end.partition("::")[2]): confidence
            for (start, end, type_of_edge), confidence in self.edges.items()
            if type_of_edge == edge_type
        }


@pytest.fixture(scope="session")
def shared_workers() -> Iterator[None]:
    """Trees are read by the same workers, since a fresh one loads its grammars again."""
    with Workers("groundwire_ingest.tree.single_file") as workers, pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "Workers", lambda _: nullcontext(workers))
        yield


@pytest.fixture
def make_tree(tmp_path: Path) -> TreeMaker:
    """Writes files by path below a fresh folder and returns it."""

    def make(files: Mapping[str, str | bytes]) -> Path:
        root = tmp_path / "shop"
        root.mkdir(exist_ok=True)
        for path, content in files.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        return root

    return make


@pytest.fixture
def analyse() -> Analyser:
    """Analyses one file of code, whose language its name tells."""

    def analyse(path: str, text: str) -> CodeAnalysis:
        language = language_of(path)
        assert language is not None
        return read_code(SourceFile(path, text, language))

    return analyse


@pytest.fixture
def resolved(analyse: Analyser) -> Resolver:
    """The edges across files of code, and the mappings, by path; those within a file aside."""

    def resolve_files(
        files: Mapping[str, str], go_modules: Mapping[str, str] | None = None, packages: frozenset[str] = frozenset()
    ) -> list[SourceEdge | EntityMapping]:
        stated = {path: module_file(path, text) for path, text in files.items()}
        module_files = {path: item for path, item in stated.items() if item is not None}
        code = {path: text for path, text in files.items() if language_of(path) in CODE_LANGUAGES}
        facts = [analyse(path, text).facts for path, text in code.items()]
        module_files |= {
            f"{folder}/go.mod": GoModule(import_path) for folder, import_path in (go_modules or {}).items()
        }
        layout = TreeLayout([*files, *(f"{folder}/__init__.py" for folder in packages)], module_files)
        purposes = FlagSigns()
        known = [item for item in facts if item is not None]
        for item in known:
            purposes.note_imports(item.path, (imported.module for imported in item.imports))
        known = [replace(item, is_test=purposes.is_test(item.path)) for item in known]
        resolution = resolve(known, layout)
        return [*resolution.edges, *resolution.mappings]

    return resolve_files


@pytest.fixture
def tree(make_tree: TreeMaker) -> Callable[[Mapping[str, str]], ReadTree]:
    """Reads a tree of files, whose edges all lead between nodes that are there."""

    def read(files: Mapping[str, str]) -> ReadTree:
        records = list(TreeSource(make_tree(dict(files))).read())
        nodes = {record.key: record for record in records if isinstance(record, SourceNode)}
        edges = [record for record in records if isinstance(record, SourceEdge)]
        assert {key for edge in edges for key in (edge.from_key, edge.to_key)} <= nodes.keys()
        assert len({(edge.from_key, edge.to_key, edge.edge_type) for edge in edges}) == len(edges)
        return ReadTree(nodes, {(edge.from_key, edge.to_key, edge.edge_type): edge.confidence for edge in edges})

    return read


@pytest.fixture
def edges_of(resolved: Resolver) -> EdgesOf:
    """The confidence of each edge of one type, by its ends less the prefix of the kind."""

    def edges_of(
        edge_type: str, files: Mapping[str, str], go_modules: Mapping[str, str] | None = None
    ) -> dict[tuple[str, str], float]:
        edges = [item for item in resolved(files, go_modules) if isinstance(item, SourceEdge)]
        ends = [(edge.from_key, edge.to_key, edge.edge_type) for edge in edges]
        assert len(ends) == len(set(ends))
        return {
            (edge.from_key.partition("::")[2], edge.to_key.partition("::")[2]): edge.confidence
            for edge in edges
            if edge.edge_type == edge_type
        }

    return edges_of
