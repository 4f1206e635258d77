"""Builders of small bundles and exports: files as given, as a folder or a zip, with a top folder inside or without."""

import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from groundwire_ingest.records import SourceRecord
from groundwire_ingest.slack.slack import SlackSource

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
