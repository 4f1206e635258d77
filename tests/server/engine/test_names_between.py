"""Imports, packages, methods of .proto files and tables that lead from one repository to another."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from groundwire_index.nodes.node import NodeAccess
from groundwire_index.scope import Scope
from groundwire_ingest.tree.access_rules import AccessRule
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.backends.interface import IndexSnapshot
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.errors import DeadlineError
from groundwire_server.domain.search.search import NO_FILTER
from groundwire_server.engine.edges_between import ENTRY_BYTES, EdgesBetween
from support.calls import never_stop
from support.teams import Team, crossing, ids, walk

Files = Mapping[str, str]

PYTHON_APP: Files = {
    "pyproject.toml": '[project]\nname = "app"\ndependencies = [\n  "team_Lib>=1",\n]\n',
    "app/main.py": (
        "import os\n\nimport lib.client as clients\nfrom lib import Client, open_it\n"
        "from lib.client import Base, plain\n\n\n"
        "class Job(Base):\n    def run(self):\n        return plain(2)\n\n"
        "    def made(self, given: Client):\n        given.send(1)\n        return clients.Client(3)\n\n\n"
        "def work():\n    first = Client(1)\n    first.send(2)\n    second = open_it()\n    second.send(3)\n"
        "    return list(map(plain, os.listdir()))\n"
    ),
}
PYTHON_LIB: Files = {
    "pyproject.toml": '[project]\nname = "team-lib"\n',
    "src/lib/__init__.py": "from lib.client import Client, open_it\n",
    "src/lib/client.py": (
        "class Base:\n    def run(self):\n        return 1\n\n\n"
        "class Client:\n    def __init__(self, size):\n        self.size = size\n\n"
        "    def send(self, letter):\n        return letter\n\n\n"
        "def open_it() -> Client:\n    return Client(1)\n\n\ndef plain(number):\n    return number + 1\n"
    ),
}
GO_APP: Files = {
    "go.mod": "module example.com/app\n\nrequire example.com/lib v1.0.0\n",
    "main.go": (
        'package main\n\nimport (\n\t"fmt"\n\n\t"example.com/lib/store"\n)\n\n'
        "type server struct {\n\tst *store.Store\n}\n\n"
        "func (s *server) show() {\n\tfmt.Println(s.st.Get())\n}\n\n"
        "func main() {\n\topened := store.Open()\n\topened.Get()\n\t_ = store.Options{Size: 1}\n}\n"
    ),
}
GO_LIB: Files = {
    "go.mod": "module example.com/lib\n",
    "store/store.go": (
        "package store\n\ntype Store struct{ n int }\n\nfunc Open() *Store {\n\treturn &Store{}\n}\n\n"
        "func (s *Store) Get() int {\n\treturn s.n\n}\n"
    ),
    "store/options.go": "package store\n\ntype Options struct {\n\tSize int\n}\n",
}
SCRIPT_APP: Files = {
    "package.json": '{\n  "name": "@team/app",\n  "dependencies": {\n    "@team/lib": "^1.0.0"\n  }\n}\n',
    "src/main.ts": (
        'import { Client, go, type Shape } from "@team/lib"\nimport * as util from "@team/lib/src/util.js"\n\n'
        "export class Square implements Shape {\n  area() {\n    return go(1)\n  }\n}\n\n"
        "export function main(given: Client) {\n  given.send(1)\n  util.more(2)\n  const made = new Client(2)\n"
        "  made.send(3)\n}\n"
    ),
}
SCRIPT_LIB: Files = {
    "package.json": '{"name": "@team/lib", "main": "dist/index.js"}\n',
    "src/index.ts": 'export * from "./client"\nexport { go } from "./util"\n',
    "src/client.ts": (
        "export class Client {\n  constructor(private size: number) {\n    this.size = size\n  }\n\n"
        "  send(letter: number) {\n    return letter\n  }\n}\n\nexport interface Shape {\n  area(): number\n}\n"
    ),
    "src/util.ts": (
        "export function go(x: number) {\n  return x\n}\n\nexport function more(x: number) {\n  return x\n}\n"
    ),
}
JAVA_APP: Files = {
    "pom.xml": (
        "<project>\n  <groupId>com.team</groupId>\n  <artifactId>app</artifactId>\n  <dependencies>\n    <dependency>\n"
        "      <groupId>${project.groupId}</groupId>\n      <artifactId>lib</artifactId>\n    </dependency>\n"
        "  </dependencies>\n</project>\n"
    ),
    "src/main/java/com/team/app/Main.java": (
        "package com.team.app;\n\nimport com.shop.v1.OrdersGrpc;\nimport com.team.lib.Client;\nimport com.team.lib.*;\n"
        "\npublic class Main implements Job {\n    private final Client client = new Client(1);\n"
        "    private OrdersGrpc.OrdersBlockingStub stub;\n\n"
        "    public int run() {\n        return client.send(1);\n    }\n\n"
        "    public int other() {\n        Client made = Client.of();\n        stub.get(null);\n"
        "        return made.send(2);\n    }\n}\n"
    ),
}
JAVA_LIB: Files = {
    "pom.xml": (
        "<project>\n  <parent>\n    <groupId>com.team</groupId>\n    <artifactId>parent</artifactId>\n  </parent>\n"
        "  <artifactId>lib</artifactId>\n</project>\n"
    ),
    "src/main/java/com/team/lib/Client.java": (
        "package com.team.lib;\n\npublic class Client {\n    private int size;\n\n    public Client(int size) {\n"
        "        this.size = size;\n    }\n\n    public int send(int x) {\n        return x + size;\n    }\n\n"
        "    public static Client of() {\n        return new Client(1);\n    }\n}\n"
    ),
    "src/main/java/com/team/lib/Job.java": "package com.team.lib;\n\npublic interface Job {\n    int run();\n}\n",
}
DOTNET_APP: Files = {
    "App.csproj": (
        '<Project Sdk="Microsoft.NET.Sdk">\n  <ItemGroup>\n    <PackageReference Include="Team.Lib" Version="1.0" />\n'
        "  </ItemGroup>\n</Project>\n"
    ),
    "Main.cs": (
        "using System;\nusing Shop.V1;\nusing Team.Lib;\n\nnamespace App;\n\npublic class Main : IJob\n{\n"
        "    private readonly Client client;\n    private readonly Orders.OrdersClient orders;\n\n"
        "    public Main(Client client)\n    {\n        this.client = client;\n    }\n\n"
        "    public int Run()\n    {\n        return client.Send(1);\n    }\n\n"
        "    public int Other()\n    {\n        var made = new Client(2);\n        orders.Get(new GetRequest());\n"
        "        return made.Send(2);\n    }\n}\n"
    ),
    "Served.cs": (
        "using Shop.V1;\n\nnamespace App;\n\npublic class Served : Orders.OrdersBase\n{\n"
        "    public override Task<Order> Get(GetRequest request, ServerCallContext context)\n    {\n"
        "        return null;\n    }\n}\n"
    ),
}
DOTNET_LIB: Files = {
    "Team.Lib.csproj": '<Project Sdk="Microsoft.NET.Sdk"></Project>\n',
    "Client.cs": (
        "namespace Team.Lib;\n\npublic class Client\n{\n    private readonly int size;\n\n    public Client(int size)\n"
        "    {\n        this.size = size;\n    }\n\n    public int Send(int x)\n    {\n        return x;\n    }\n}\n"
    ),
    "IJob.cs": "namespace Team.Lib;\n\npublic interface IJob\n{\n    int Run();\n}\n",
}
PROTOS: Files = {
    "shop/v1/orders.proto": (
        'syntax = "proto3";\n\npackage shop.v1;\n\noption java_package = "com.shop.v1";\n'
        'option csharp_namespace = "Shop.V1";\n\n'
        "message GetRequest {\n  string id = 1;\n}\n\nmessage Order {\n  string id = 1;\n}\n\n"
        "service Orders {\n  rpc Get(GetRequest) returns (Order);\n}\n"
    )
}
SQL_APP: Files = {
    "app/tables.py": (
        "from sqlalchemy.orm import DeclarativeBase\n\n\nclass Base(DeclarativeBase):\n    pass\n\n\n"
        'class Invoice(Base):\n    __tablename__ = "Invoice"\n\n    id = 1\n\n\n'
        'def read(db):\n    db.execute("SELECT * FROM Invoice WHERE id = ?")\n\n\n'
        'def write(db):\n    db.execute("UPDATE sales.Customer SET id = 2")\n\n\n'
        'def prose():\n    return "Select a file from the Invoice"\n'
    ),
    "report.sql": (
        "CREATE VIEW dbo.Report AS SELECT t.Total FROM dbo.Totals t JOIN Customer c ON 1 = 1;\nGO\n"
        "CREATE TABLE dbo.Line (Id int, InvoiceId int REFERENCES dbo.Invoice(Id));\nGO\n"
    ),
}
SQL_LIB: Files = {
    "schema.sql": (
        "CREATE TABLE dbo.Invoice (\n  Id int primary key,\n  Total int\n);\nGO\n"
        "CREATE TABLE sales.Customer (Id int primary key);\nGO\n"
        "CREATE VIEW dbo.Totals AS SELECT Total FROM dbo.Invoice;\nGO\n"
    )
}
PARTS = {
    "python": (PYTHON_APP, PYTHON_LIB),
    "go": (GO_APP, GO_LIB),
    "script": (SCRIPT_APP, SCRIPT_LIB),
    "java": (JAVA_APP, JAVA_LIB),
    "dotnet": (DOTNET_APP, DOTNET_LIB),
    "sql": (SQL_APP, SQL_LIB),
    "protos": ({}, PROTOS),
}
APP = {f"{part}/{path}": text for part, (files, _) in PARTS.items() for path, text in files.items()}
LIB = {f"{part}/{path}": text for part, (_, files) in PARTS.items() for path, text in files.items()}


def is_of_packages(edge: tuple[str, str, str, float, int]) -> bool:
    """True for an edge between files of build tools, which a tree does not have."""
    return edge[0].split("::")[2] in ("toml", "json", "gomod", "xml", "msbuild")


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Team:
    """A repository that uses another one, one tree of both, and the other one again, hidden."""
    made = Team(tmp_path_factory.mktemp("team"))
    trees = {"app": APP, "lib": LIB}
    for repository, files in trees.items():
        made.add(repository, files)
    made.add("whole", {f"{name}/{path}": text for name, files in trees.items() for path, text in files.items()})
    made.add("other", {**LIB, "README.md": "# Other\n"}, [AccessRule("/*/", NodeAccess(acl_tags=("depot",)))])
    made.add("plain", {"README.md": "# Other\n"})
    return made


def part_of(team: Team, id_: str) -> str:
    """The id of a node of the whole tree as its own repository has it."""
    _, branch, kind, local = id_.split("::", 3)
    if kind != "sql":
        repository, _, local = local.partition("/")
        return f"{repository}::{branch}::{kind}::{local}"
    owners = [name for name in ("app", "lib") if f"{name}::{branch}::{kind}::{local}" in ids(team.data, name)]
    return f"{owners[0]}::{branch}::{kind}::{local}"


def test_the_edges_that_follow_from_names_are_those_of_one_tree(team: Team) -> None:
    seeds = [*ids(team.data, "app"), *ids(team.data, "lib")]
    between = crossing(walk(team.engine, seeds, ["app", "lib"]))
    whole = walk(team.engine, ids(team.data, "whole"), ["whole"])
    expected = {
        (part_of(team, edge.from_id), part_of(team, edge.to_id), edge.edge_type, edge.confidence, edge.line)
        for edge in whole.edges
    }
    crossing_edges = {edge for edge in expected if edge[0].split("::")[0] != edge[1].split("::")[0]}
    assert {edge for edge in between if not is_of_packages(edge)} == crossing_edges
    types = {edge[2] for edge in between}
    assert types >= {"Imports", "Calls", "References", "Inherits", "Implements", "ImplementedBy", "ReadsFrom", "FK"}
    assert types >= {"WritesTo", "MapsTo", "Overrides", "OverriddenBy"}


def test_files_of_build_tools_lead_to_those_of_the_packages_that_they_use(team: Team) -> None:
    between = crossing(walk(team.engine, ids(team.data, "app"), ["app", "lib"]))
    assert {(edge[0], edge[1], edge[4]) for edge in between if is_of_packages(edge)} == {
        ("app::main::toml::python/pyproject.toml", "lib::main::toml::python/pyproject.toml", 4),
        ("app::main::gomod::go/go.mod", "lib::main::gomod::go/go.mod", 3),
        ("app::main::json::script/package.json", "lib::main::json::script/package.json", 4),
        ("app::main::xml::java/pom.xml", "lib::main::xml::java/pom.xml", 5),
        ("app::main::msbuild::dotnet/App.csproj", "lib::main::msbuild::dotnet/Team.Lib.csproj", 3),
    }


def test_a_hidden_repository_that_offers_the_same_names_has_no_influence(team: Team) -> None:
    """A name that two repositories offer leads to none of them, but not for those who see only one."""
    seeds = ids(team.data, "app")
    with_hidden = walk(team.engine, seeds, ["app", "lib", "other"])
    without = walk(team.engine, seeds, ["app", "lib", "plain"])
    assert crossing(with_hidden)
    assert replace(with_hidden, scopes=()) == replace(without, scopes=())
    assert not crossing(walk(team.engine, seeds, ["app", "lib", "other"], ["depot"]))


def test_a_hidden_definition_of_the_using_repository_has_no_influence(tmp_path: Path) -> None:
    """What a repository defines itself comes from no other one, but not for those who do not see the definition."""
    own_files = {
        "hidden/lib/client.py": PYTHON_LIB["src/lib/client.py"],
        "hidden/lib/__init__.py": PYTHON_LIB["src/lib/__init__.py"],
        "hidden/schema.sql": SQL_LIB["schema.sql"],
    }
    using = {**PYTHON_APP, **SQL_APP}
    with_own, without = Team(tmp_path / "with"), Team(tmp_path / "without")
    with_own.add("app", {**using, **own_files}, [AccessRule("/hidden/", NodeAccess(acl_tags=("depot",)))])
    without.add("app", using)
    for made in (with_own, without):
        made.add("lib", {**PYTHON_LIB, **SQL_LIB})
    seeds = ids(without.data, "app")
    seen = walk(with_own.engine, seeds, ["app", "lib"])
    assert {"Calls", "Imports", "ReadsFrom", "MapsTo"} <= {edge[2] for edge in crossing(seen)}
    assert crossing(seen) == crossing(walk(without.engine, seeds, ["app", "lib"]))
    of_all = crossing(walk(with_own.engine, seeds, ["app", "lib"], ["depot"]))
    assert {edge for edge in of_all if not is_of_packages(edge)} == set()


def test_a_method_of_a_copied_proto_leads_to_what_serves_it_elsewhere(tmp_path: Path) -> None:
    made = Team(tmp_path)
    made.add("asks", {**PROTOS, "Main.cs": DOTNET_APP["Main.cs"]})
    made.add("serves", {**PROTOS, "Served.cs": DOTNET_APP["Served.cs"]})
    between = crossing(walk(made.engine, ids(made.data, "asks"), ["asks", "serves"]))
    method, member = "asks::main::proto::shop/v1/orders.proto#Orders.Get", "serves::main::cs::Served.cs#App.Served"
    assert {edge[:3] for edge in between} == {(method, member, "ImplementedBy"), (member, method, "Implements")}


class Steps:
    """A checkpoint that ends its call after some steps."""

    def __init__(self, most: int) -> None:
        self.left = most

    def __call__(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise DeadlineError("the deadline has passed")


def snapshots(team: Team, repositories: Sequence[str]) -> list[IndexSnapshot]:
    backend = EmbeddedBackend(team.data)
    return [
        backend.open(Scope(repository, "main"), AccessContext(), Lifecycle.ACTIVE, NO_FILTER)
        for repository in repositories
    ]


def test_a_join_ends_with_its_call_and_is_made_again(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundwire_index.repository_edges.joining.STEP", 1)
    parts, edges = snapshots(team, ["app", "lib"]), EdgesBetween()
    for most in (0, 1, 5, 50):
        with pytest.raises(DeadlineError):
            edges.of(parts, Steps(most))
        assert edges.kept_bytes == 0
    assert len(edges.of(parts, never_stop))
    # What is kept takes no steps.
    assert len(edges.of(parts, Steps(len(parts))))


def test_what_is_kept_is_bounded_by_its_bytes(team: Team) -> None:
    pairs = [["app", "lib"], ["app", "plain"], ["lib", "plain"]]
    unbounded = EdgesBetween()
    for pair in pairs:
        unbounded.of(snapshots(team, pair), never_stop)
    largest = EdgesBetween()
    largest.of(snapshots(team, pairs[0]), never_stop)
    assert unbounded.kept_bytes > largest.kept_bytes > ENTRY_BYTES
    bounded = EdgesBetween(most_bytes=largest.kept_bytes)
    for pair in pairs:
        bounded.of(snapshots(team, pair), never_stop)
        assert 0 < bounded.kept_bytes <= bounded.most_bytes
    none_kept = EdgesBetween(most_bytes=1)
    assert len(none_kept.of(snapshots(team, pairs[0]), never_stop))
    assert none_kept.kept_bytes == 0
