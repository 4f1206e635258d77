"""Runs commands in this process, against the server of the tests around."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import pytest
from typer.testing import CliRunner

from groundwire.v1 import retrieval_pb2
from groundwire_client.cli import app

if TYPE_CHECKING:
    from client.conftest import FakeServer

SEED = "shop::main::cs::Shop.Invoice.[Create]"
TABLE = "shop::main::sql::dbo.Invoice|TABLE"


@dataclass(frozen=True, slots=True)
class Output:
    """How a command ended and what it printed."""

    code: int
    stdout: str
    stderr: str


class Command(Protocol):
    """Runs a command in the scope `shop`, `main`, with or without GROUNDWIRE_SERVER in the environment."""

    def __call__(
        self, *arguments: str, stdin: str | bytes | None = None, environment_server: str | None = None
    ) -> Output: ...


class Run(Protocol):
    """Runs a command in the scope `shop`, `main` of the server."""

    def __call__(self, *arguments: str, stdin: str | bytes | None = None) -> Output: ...


@pytest.fixture
def command() -> Command:
    """Runs commands that name their server themselves, or fail to."""

    def run_command(*arguments: str, stdin: str | bytes | None = None, environment_server: str | None = None) -> Output:
        scope = ("--repository", "shop", "-b", "main")
        environment = {"GROUNDWIRE_SERVER": environment_server}
        result = CliRunner().invoke(app, [*arguments, *scope], input=stdin, env=environment)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Output(result.exit_code, result.stdout, result.stderr)

    return run_command


@pytest.fixture
def run(server: FakeServer, command: Command) -> Run:
    """Runs commands against the server."""

    def run_command(*arguments: str, stdin: str | bytes | None = None) -> Output:
        return command(*arguments, "--server", server.target, stdin=stdin)

    return run_command


@pytest.fixture
def answers(server: FakeServer) -> None:
    """The server has something to say to every command."""
    legs = [
        retrieval_pb2.LegScore(leg=retrieval_pb2.SEARCH_LEG_SEMANTIC, rank=1, score=0.75),
        retrieval_pb2.LegScore(leg=retrieval_pb2.SEARCH_LEG_BM25, rank=2, score=4.5),
    ]
    hits = [
        retrieval_pb2.SearchHit(id=SEED, score=0.5, rank=1, legs=legs, matched_tokens=["create", "invoice"]),
        retrieval_pb2.SearchHit(id=TABLE, score=0.25, rank=2, legs=legs[1:]),
    ]
    debug = retrieval_pb2.SearchDebug(
        path=retrieval_pb2.SEARCH_PATH_EXACT,
        filtered=True,
        visible_count=123,
        semantic_candidates=20,
        bm25_candidates=10,
        query_tokens=["invoice"],
        rrf_k=60,
    )
    server.answer(retrieval_pb2.SearchNodesResponse(hits=hits, index="v1", exact=True, debug=debug))
    nodes = [
        retrieval_pb2.ExpandedNode(id=SEED),
        retrieval_pb2.ExpandedNode(id=TABLE, depth=1, parent_id=SEED),
    ]
    edge = retrieval_pb2.DependencyEdge(from_id=SEED, to_id=TABLE, edge_type="ReadsFrom", confidence=0.9)
    walk = retrieval_pb2.ExpandDebug(
        seed_count=1, expanded_count=2, edges_count=1, truncated=True, reason="limit_reached"
    )
    server.answer(
        retrieval_pb2.ExpandDependencyTreeResponse(seed_ids=[SEED], nodes=nodes, edges=[edge], debug=walk, index="v1")
    )
    location = retrieval_pb2.Location(path="src/Invoice.cs", start_line=10, end_line=11)
    text = retrieval_pb2.NodeText(
        id=SEED,
        text="int [bold]x\x1b[31m;\r\nint y;\n",
        is_seed=True,
        token_count=9,
        location=location,
        symbol="Create",
    )
    skipped = retrieval_pb2.SkippedNode(id=TABLE, reason=retrieval_pb2.SKIP_REASON_OVER_BUDGET)
    server.answer(
        retrieval_pb2.FetchNodeTextsResponse(texts=[text], skipped=[skipped], used_tokens=9, used_chars=28, index="v1")
    )
