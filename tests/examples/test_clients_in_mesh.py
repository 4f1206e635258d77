"""Each example client behind Envoy with mutual TLS on both hops prints what the Python client is told."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from groundwire_client import (
    TLS,
    AccessContext,
    GroundwireClient,
    IndexScope,
    InvalidRequestError,
    NodeFilter,
    SearchType,
    ids,
    pinned,
)
from support.builds import V1, build, node
from support.certificates import Certificate
from support.example_clients import ExampleClient
from support.mesh import Mesh
from support.program import Server
from support.tools import ROOT

pytestmark = pytest.mark.slow

SCOPE = IndexScope(repository="shop", branch="main")
TAGGED = "shop::main::cs::Ledger.Book"
OTHER_LANGUAGE = "shop::main::cs::Invoice.Create"


def address(mesh: Mesh) -> str:
    return f"localhost:{mesh.envoy.address.rpartition(':')[2]}"


@pytest.fixture
def python_client(mesh: Mesh) -> Iterator[GroundwireClient]:
    caller = mesh.identities.caller
    with GroundwireClient(address(mesh), credentials=TLS(caller.authority, caller.certificate, caller.key)) as client:
        yield client


def expected(python: GroundwireClient, budget_tokens: int) -> list[dict[str, object]]:
    search = python.search(SCOPE, "invoice", search_type=SearchType.SEARCH_TYPE_BM25, top_k=5)
    scope = pinned(SCOPE, search.index)
    graph = python.expand(scope, ids(search), max_depth=1, max_nodes=50, edge_allowlist=["*"])
    evidence = python.fetch(scope, ids(search), graph.nodes, budget_tokens=budget_tokens)
    lines: list[dict[str, object]] = []
    for hit in search.hits:
        lines.append({"type": "hit", "rank": hit.rank, "score": hit.score, "id": hit.id})
    for edge in graph.edges:
        lines.append({"type": "edge", "from": edge.from_id, "to": edge.to_id, "edge_type": edge.edge_type})
    for text in evidence.texts:
        where = {"path": text.location.path, "start_line": text.location.start_line}
        what = {"token_count": text.token_count, "text": text.text}
        lines.append({"type": "text", "id": text.id, "is_seed": text.is_seed, "depth": text.depth, **where, **what})
    lines.append({"type": "done", "index": search.index, "used_tokens": evidence.used_tokens})
    return lines


@pytest.mark.parametrize("budget_tokens", [200, 200_000])
def test_evidence_is_what_the_server_found(
    client: ExampleClient, mesh: Mesh, python_client: GroundwireClient, budget_tokens: int
) -> None:
    lines = expected(python_client, budget_tokens)
    assert {line["type"] for line in lines} == {"hit", "edge", "text", "done"}
    outcome = client.run(address(mesh), mesh.identities.caller, "--budget-tokens", str(budget_tokens))
    assert (outcome.exit_code, outcome.notices) == (0, "")
    assert outcome.lines == lines


def gathered(python: GroundwireClient, budget_tokens: int) -> list[dict[str, object]]:
    evidence = python.evidence(
        SCOPE,
        "invoice",
        budget_tokens,
        phrasings=["ledger"],
        access=AccessContext(acl_tags_any=["billing", "legal"]),
        filter=NodeFilter(languages=["csharp", "sql"]),
    )
    texts = [
        {
            "type": "text",
            "number": text.number,
            "id": text.id,
            "citation": text.citation,
            "token_count": text.token_count,
            "text": text.text,
        }
        for text in evidence.texts
    ]
    named: list[dict[str, object]] = [
        {"type": "named", "id": node.id, "citation": node.citation} for node in evidence.named
    ]
    weak: list[dict[str, object]] = [{"type": "weak", "reason": evidence.weak}] if evidence.weak else []
    done = {"type": "done", "index": evidence.scope.active_index, "used_tokens": evidence.used_tokens}
    return [*texts, *named, *weak, done]


@pytest.mark.parametrize("budget_tokens", [200, 100_000])
def test_gathered_evidence_has_access_filter_and_phrasings(
    client: ExampleClient, mesh: Mesh, python_client: GroundwireClient, budget_tokens: int
) -> None:
    expected = gathered(python_client, budget_tokens)
    options = ("--call", "evidence", "--phrasing", "ledger", "--acl-tags", "billing,legal", "--languages", "csharp,sql")
    budget = ("--budget-tokens", str(budget_tokens))
    outcome = client.run(address(mesh), mesh.identities.caller, *options, *budget)
    assert (outcome.exit_code, outcome.notices) == (0, "")
    assert outcome.lines == expected
    returned_ids = {line.get("id") for line in outcome.lines}
    assert TAGGED in returned_ids
    assert OTHER_LANGUAGE not in returned_ids


def test_without_tags_only_public_nodes_are_told(client: ExampleClient, mesh: Mesh) -> None:
    for call in ("evidence", "actions"):
        outcome = client.run(address(mesh), mesh.identities.caller, "--call", call)
        ids = {line.get("id") for line in outcome.lines}
        assert TAGGED not in ids
        assert OTHER_LANGUAGE in ids


def test_the_actions_have_access_and_filter(client: ExampleClient, mesh: Mesh) -> None:
    options = ("--acl-tags", "billing", "--languages", "csharp,sql", "--max-depth", "3")
    outcome = client.run(address(mesh), mesh.identities.caller, *options)
    ids = {line.get("id") for line in outcome.lines}
    assert TAGGED in ids
    assert OTHER_LANGUAGE not in ids


def test_nothing_found_ends_after_the_search(client: ExampleClient, mesh: Mesh) -> None:
    outcome = client.run(address(mesh), mesh.identities.caller, "--query", "zebra")
    assert outcome.exit_code == 0
    assert outcome.lines == [{"type": "done", "index": "v1", "used_tokens": 0}]


def test_a_bad_call_tells_reason_and_fields(client: ExampleClient, mesh: Mesh, python_client: GroundwireClient) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        python_client.search(
            IndexScope(repository="", branch="main"), " ", search_type=SearchType.SEARCH_TYPE_BM25, top_k=0
        )
    error = refused.value
    outcome = client.run(address(mesh), mesh.identities.caller, "--repository", "", "--query", " ", "--top-k", "0")
    assert outcome.exit_code == 1
    assert outcome.lines == [
        {
            "type": "error",
            "method": "SearchNodes",
            "status": "INVALID_ARGUMENT",
            "message": error.message,
            "reason": f"ERROR_REASON_{error.reason}",
            "metadata": error.metadata,
            "violations": [
                {"field": violation.field, "description": violation.description} for violation in error.violations
            ],
        }
    ]
    assert {"scope.repository", "query", "top_k"} <= {violation.field for violation in error.violations}


def test_an_unknown_scope_is_told(client: ExampleClient, mesh: Mesh) -> None:
    outcome = client.run(address(mesh), mesh.identities.caller, "--branch", "absent")
    (line,) = outcome.lines
    assert outcome.exit_code == 1
    assert (line["status"], line["reason"]) == ("NOT_FOUND", "ERROR_REASON_SCOPE_NOT_FOUND")
    assert line["metadata"] == {"repository": "shop", "branch": "absent"}
    assert line["violations"] == []


def test_the_trial_of_the_documentation_works(client: ExampleClient, tmp_path: Path) -> None:
    documented = (ROOT / "docs" / "callers.md").read_text(encoding="utf-8")
    ((certificates, flags),) = re.findall(
        r"```sh\n(openssl .*?)groundwire serve --listen \S+ (.*?)\n```", documented, re.S
    )
    subprocess.run(["bash", "-ec", certificates], cwd=tmp_path, check=True, capture_output=True)
    build(tmp_path / "data", [node("Invoice.Create", "void CreateInvoice()")], V1)
    caller = Certificate(tmp_path / "tls.crt", tmp_path / "tls.key", tmp_path / "ca.crt")
    files = [str(tmp_path / part) if part.endswith((".crt", ".key")) else part for part in flags.split()]
    with Server(tmp_path / "data", "--embedder", "none", *files) as server:
        outcome = client.run(f"localhost:{server.address.rpartition(':')[2]}", caller)
    assert (outcome.exit_code, outcome.lines[-1]["type"]) == (0, "done")
