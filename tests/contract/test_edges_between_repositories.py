"""Calls over several repositories follow edges between them, and none to what is hidden."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import grpc
import pytest

from groundwire.v1 import evidence_pb2, query_pb2, query_pb2_grpc, retrieval_pb2, retrieval_pb2_grpc
from groundwire.v1.scope_pb2 import AccessContext, IndexScope
from groundwire_index.nodes.node import NodeAccess
from groundwire_index.scope import Scope
from groundwire_ingest.tree.access_rules import AccessRule
from groundwire_ingest.tree.source import TreeSource
from support.platform import NOW, timeless, timestamp
from support.storage import Storage

WEB = {
    "package.json": '{"name": "web"}\n',
    "src/stock.ts": (
        "export async function showAvailability(id: number) {\n"
        "  const answer = await fetch(`/api/stock/${id}`)\n  return answer.json()\n}\n"
    ),
    "count/report.py": (
        "from shelves import shelf_size\n\n\ndef report():\n    return shelf_size(3)\n\n\n"
        'def stored(db):\n    return db.execute("SELECT number FROM depot.Shelf WHERE number = ?")\n\n\n'
        "def lent(channel, request):\n    import loans_pb2_grpc\n\n"
        "    return loans_pb2_grpc.LoansStub(channel).Lend(request)\n"
    ),
    "count/pyproject.toml": '[project]\nname = "count"\ndependencies = ["shelves"]\n',
}
DEPOT = {
    "depot.py": (
        "from flask import Flask\n\napp = Flask(__name__)\n\n\n"
        '@app.get("/api/stock/<int:number>")\ndef count_of(number):\n    return {"left": shelf_total(number)}\n\n\n'
        "def shelf_total(number):\n    return number * 3\n"
    ),
    "shelves.py": "def shelf_size(number):\n    return number * 5\n",
    "pyproject.toml": '[project]\nname = "shelves"\n',
    "schema.sql": "CREATE TABLE depot.Shelf (number int primary key);\n",
    "loans.proto": (
        'syntax = "proto3";\n\npackage loans;\n\nmessage Loan {\n  string id = 1;\n}\n\n'
        "service Loans {\n  rpc Lend(Loan) returns (Loan);\n}\n"
    ),
}
SCOPES = [IndexScope(repository="team-*", branch="main")]
SEED = "team-web::main::ts::src/stock.ts#showAvailability"
HANDLER = "team-depot::main::py::depot.py#count_of"
REPORT = "team-web::main::py::count/report.py"
KINDS = {
    "request": (SEED, HANDLER, "Requests"),
    "import": (REPORT, "team-depot::main::py::shelves.py", "Imports"),
    "name": (f"{REPORT}#report", "team-depot::main::py::shelves.py#shelf_size", "Calls"),
    "package": ("team-web::main::toml::count/pyproject.toml", "team-depot::main::toml::pyproject.toml", "References"),
    "table": (f"{REPORT}#stored", "team-depot::main::sql::depot.Shelf|TABLE", "ReadsFrom"),
    "method": (f"{REPORT}#lent", "team-depot::main::proto::loans.proto#Loans.Lend", "Calls"),
}
ALL = AccessContext(acl_tags_any=["depot"])


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    """A server over both repositories, one of which needs a tag, and a server over the other one alone."""
    folder = tmp_path_factory.mktemp("team")
    storages = {name: Storage(folder / name) for name in ("both", "web")}
    for name, files in (("web", WEB), ("depot", DEPOT)):
        for path, text in files.items():
            (folder / "trees" / name / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / "trees" / name / path).write_text(text)
    build(storages["both"], folder, "web", ())
    build(storages["both"], folder, "depot", (AccessRule("*", NodeAccess(acl_tags=("depot",))),))
    build(storages["web"], folder, "web", ())
    with storages["both"].server("--embedder", "none") as both, storages["web"].server("--embedder", "none") as web:
        yield {"both": both.address, "web": web.address}


def build(storage: Storage, folder: Path, name: str, access: tuple[AccessRule, ...]) -> None:
    storage.build(TreeSource(folder / "trees" / name, access=access), Scope(f"team-{name}", "main", "v1"))


@pytest.fixture(scope="module")
def both(addresses: Mapping[str, str]) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(addresses["both"]) as channel:
        yield channel


@pytest.fixture(scope="module")
def web(addresses: Mapping[str, str]) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(addresses["web"]) as channel:
        yield channel


def walk(channel: grpc.Channel, access: AccessContext, seed: str = SEED) -> retrieval_pb2.ExpandDependencyTreeResponse:
    request = retrieval_pb2.ExpandDependencyTreeRequest(
        scopes=SCOPES, access=access, seed_ids=[seed], max_depth=2, max_nodes=50, edge_allowlist=["*"]
    )
    return retrieval_pb2_grpc.RetrievalServiceStub(channel).ExpandDependencyTree(request, timeout=300)


def paths(channel: grpc.Channel, access: AccessContext) -> retrieval_pb2.FindPathsResponse:
    request = retrieval_pb2.FindPathsRequest(
        scopes=SCOPES,
        access=access,
        from_ids=[SEED],
        to_ids=[HANDLER],
        max_hops=3,
        max_paths=3,
        max_nodes=50,
        edge_allowlist=["*"],
    )
    return retrieval_pb2_grpc.RetrievalServiceStub(channel).FindPaths(request, timeout=300)


def evidence(channel: grpc.Channel, access: AccessContext) -> evidence_pb2.GatherEvidenceResponse:
    request = evidence_pb2.GatherEvidenceRequest(
        scopes=SCOPES, access=access, question="showAvailability", budget_tokens=2_000
    )
    return query_pb2_grpc.QueryServiceStub(channel).GatherEvidence(request, timeout=300)


def query(channel: grpc.Channel, access: AccessContext) -> query_pb2.QueryResponse:
    request = query_pb2.QueryRequest(
        scopes=SCOPES, access=access, query="how many are left in stock", now=timestamp(NOW)
    )
    return query_pb2_grpc.QueryServiceStub(channel).Query(request, timeout=300)


def test_a_walk_leads_to_the_handler_of_another_repository_and_on(both: grpc.Channel) -> None:
    walked = walk(both, ALL)
    assert [(edge.from_id, edge.to_id, edge.edge_type) for edge in walked.edges if edge.to_id == HANDLER] == [
        (SEED, HANDLER, "Requests")
    ]
    assert {node.id: node.depth for node in walked.nodes}["team-depot::main::py::depot.py#shelf_total"] == 2
    (path,) = paths(both, ALL).paths
    assert [*path.node_ids] == [SEED, HANDLER]


def test_evidence_shows_what_answers_in_another_repository(both: grpc.Channel) -> None:
    gathered = evidence(both, ALL)
    (handler,) = (passage for passage in gathered.passages if passage.id == HANDLER)
    assert (handler.edge.edge.from_id, handler.edge.edge.edge_type) == (SEED, "Requests")
    assert handler.scope.repository == "team-depot"


def test_a_match_gains_from_its_neighbour_in_another_repository(both: grpc.Channel) -> None:
    matches = {match.id: match for match in query(both, ALL).matches}
    assert matches[HANDLER].scores.graph > 0


def test_hidden_handlers_change_no_byte(both: grpc.Channel, web: grpc.Channel) -> None:
    nobody = AccessContext()
    assert walk(both, nobody).SerializeToString() == walk(web, nobody).SerializeToString()
    assert paths(both, nobody).SerializeToString() == paths(web, nobody).SerializeToString()
    assert evidence(both, nobody).SerializeToString() == evidence(web, nobody).SerializeToString()
    assert timeless(query(both, nobody)) == timeless(query(web, nobody))
    assert evidence(both, nobody).passages


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_edge_is_followed_by_those_alone_who_see_both_ends(
    kind: str, both: grpc.Channel, web: grpc.Channel
) -> None:
    seed, target, edge_type = KINDS[kind]
    edges = {(edge.from_id, edge.to_id, edge.edge_type) for edge in walk(both, ALL, seed).edges}
    assert (seed, target, edge_type) in edges
    nobody = AccessContext()
    assert walk(both, nobody, seed).SerializeToString() == walk(web, nobody, seed).SerializeToString()
