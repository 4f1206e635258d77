"""Runs commands in this process, against the server of the tests around."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import pytest
from typer.testing import CliRunner

from groundwire.v1 import query_pb2, retrieval_pb2, scope_pb2
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
def query_answer(server: FakeServer) -> query_pb2.QueryResponse:
    """The server answers queries: code, a message of a conversation, and a neighbour of the first."""
    code = query_pb2.QueryMatch(
        id=SEED,
        rank=1,
        score=0.8,
        scores=query_pb2.StageScores(
            dense=0.5, bm25_code=12.5, trigram=0.25, fused=0.8, kind_factor=1, repeat_factor=1, boost=1, final=0.8
        ),
        text="int [bold]x\x1b[31m;\nint y;\n",
        token_count=9,
        location=retrieval_pb2.SourceLocation(path="src/Invoice.cs", start_line=10, end_line=11),
        symbol="Invoice.Create",
    )
    code.meta.parents.add(id=TABLE, symbol="Invoice")
    said = query_pb2.QueryMatch(
        id="shop::main::slack::1",
        rank=2,
        score=0.4,
        scores=query_pb2.StageScores(
            dense=-0.25, bm25_code=6.25, fused=0.3, freshness=0.5, kind_factor=1, repeat_factor=1, boost=1.3, final=0.4
        ),
        text="invoices are down",
        token_count=4,
        location=retrieval_pb2.SourceLocation(path="export/incident.json", start_line=1, end_line=1),
        channel="incident",
        author="Ann",
        section_path="thread",
        meta=query_pb2.MatchMeta(deleted=True, metadata_json='{"team":"tax"}'),
    )
    said.timestamp.FromJsonString("2025-01-02T03:04:05Z")
    beside = query_pb2.QueryMatch(id=TABLE, text="CREATE TABLE", token_count=2, section_path="Tables > Invoice")
    beside.meta.neighbor, beside.meta.neighbor_of = True, SEED
    edge = query_pb2.ServiceEdge(from_service="shop", to_service="tax", edge_type="CallsService", count=3)
    service = query_pb2.ServiceContext(service_name="shop", calls=["tax"], called_by=["web"], edges=[edge])
    meta = query_pb2.RetrieveMeta(
        took_ms=12.345,
        query_class=query_pb2.QUERY_CLASS_MIXED,
        fusion=query_pb2.FUSION_MODE_WEIGHTED,
        retrievers=[
            query_pb2.RetrieverUse(retriever=retrieval_pb2.RETRIEVER_DENSE, weight=0.7, candidates=100),
            query_pb2.RetrieverUse(retriever=retrieval_pb2.RETRIEVER_BM25_CODE, weight=0.3, candidates=12),
        ],
        alpha=0.7,
        min_sim=0.15,
        top_k_effective=2,
        max_candidates_effective=100,
        vec_limit=100,
        lex_limit=90,
        trgm_limit=0.3,
        diversify_strength=0.5,
        vector_candidates=100,
        lexical_candidates=12,
        fused_candidates=105,
        deleted_matches_blocked=4,
        lifecycle_effective=scope_pb2.LIFECYCLE_ALL,
        boosts=["incident"],
        freshness_half_life_days=90,
        freshness_weight=0.1,
        exact=True,
    )
    meta.routing.profile, meta.routing.embedder = "support", "minilm"
    meta.routing.collection_ids[:] = ["k1", "k2"]
    meta.now.FromJsonString("2025-01-03T00:00:00Z")
    answer = query_pb2.QueryResponse(matches=[code, said, beside], service_context=[service], meta=meta, index="v1")
    server.answer(answer)
    return answer


@pytest.fixture
def answers(server: FakeServer) -> None:
    """The server has something to say to every command."""
    scored = [
        retrieval_pb2.RetrieverScore(retriever=retrieval_pb2.RETRIEVER_DENSE, rank=1, score=0.75),
        retrieval_pb2.RetrieverScore(retriever=retrieval_pb2.RETRIEVER_BM25_CODE, rank=2, score=4.5),
    ]
    hits = [
        retrieval_pb2.SearchHit(id=SEED, score=0.5, rank=1, retrievers=scored, matched_tokens=["create", "invoice"]),
        retrieval_pb2.SearchHit(id=TABLE, score=0.25, rank=2, retrievers=scored[1:], is_generated=True),
    ]
    debug = retrieval_pb2.SearchDebug(
        path=retrieval_pb2.SEARCH_PATH_EXACT,
        filtered=True,
        visible_count=123,
        dense_candidates=20,
        bm25_candidates=10,
        query_tokens=["invoice"],
        rrf_k=60,
    )
    server.answer(
        retrieval_pb2.SearchNodesResponse(
            hits=hits, index="v1", exact=True, debug=debug, search_type=retrieval_pb2.SEARCH_TYPE_HYBRID
        )
    )
    nodes = [
        retrieval_pb2.ReachedNode(id=SEED),
        retrieval_pb2.ReachedNode(id=TABLE, depth=1, parent_id=SEED, is_test=True, is_generated=True),
    ]
    edge = retrieval_pb2.GraphEdge(from_id=SEED, to_id=TABLE, edge_type="ReadsFrom", confidence=0.9, line=12)
    walk = retrieval_pb2.ExpandDebug(
        seed_count=1, expanded_count=2, edges_count=1, truncated=True, reason="limit_reached"
    )
    server.answer(
        retrieval_pb2.ExpandDependencyTreeResponse(seed_ids=[SEED], nodes=nodes, edges=[edge], debug=walk, index="v1")
    )
    path = retrieval_pb2.DependencyPath(node_ids=[SEED, TABLE], hops=[edge], confidence=0.9)
    ends = [retrieval_pb2.PathNode(id=SEED), retrieval_pb2.PathNode(id=TABLE, is_test=True, is_generated=True)]
    search = retrieval_pb2.FindPathsDebug(
        from_count=1, to_count=1, searched_hops=3, truncated=True, reason="limit_reached"
    )
    server.answer(retrieval_pb2.FindPathsResponse(paths=[path], nodes=ends, debug=search, index="v1"))
    location = retrieval_pb2.SourceLocation(path="src/Invoice.cs", start_line=10, end_line=11)
    text = retrieval_pb2.NodeText(
        id=SEED,
        text="int [bold]x\x1b[31m;\r\nint y;\n",
        is_seed=True,
        token_count=9,
        location=location,
        symbol="Create",
        is_test=True,
        citation="src/Invoice.cs:10-11",
    )
    skipped = retrieval_pb2.SkippedNode(id=TABLE, reason=retrieval_pb2.SKIP_REASON_OVER_BUDGET)
    server.answer(
        retrieval_pb2.FetchNodeTextsResponse(texts=[text], skipped=[skipped], used_tokens=9, used_chars=28, index="v1")
    )
