"""The commands against a server: what they send, what they print for people and for programs, how they fail."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import grpc
import pytest
import typer
from google.rpc import error_details_pb2
from typer.testing import CliRunner

from groundwire.v1 import retrieval_pb2, scope_pb2
from groundwire_client.cli import app, register

if TYPE_CHECKING:
    from pathlib import Path

    from tests.client.conftest import FakeServer

SEED = "shop::main::cs::Shop.Invoice.[Create]"
TABLE = "shop::main::sql::dbo.Invoice|TABLE"
SCOPE = ("--repository", "shop", "-b", "main")
ALL_COMMANDS = [("search", "vat"), ("expand", SEED), ("fetch", SEED)]


@dataclass(frozen=True, slots=True)
class Output:
    """How a command ended and what it printed."""

    code: int
    stdout: str
    stderr: str


Run = Callable[..., Output]


def _invoke(*arguments: str, stdin: str | bytes | None = None, env: dict[str, str | None] | None = None) -> Output:
    result = CliRunner().invoke(app, list(arguments), input=stdin, env=env or {})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Output(result.exit_code, result.stdout, result.stderr)


@pytest.fixture
def run(server: FakeServer) -> Run:
    """Runs a command in the scope `shop`, `main` of the server."""

    def invoke(*arguments: str, stdin: str | bytes | None = None) -> Output:
        return _invoke(*arguments, *SCOPE, "--server", server.target, stdin=stdin)

    return invoke


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


@pytest.mark.usefixtures("answers")
def test_search_prints_a_table(run: Run) -> None:
    output = run("search", "vat")
    assert output.code == 0
    first, second = (next(line for line in output.stdout.splitlines() if node in line) for node in (SEED, TABLE))
    assert first.startswith("1  0.5000")
    assert second.startswith("2  0.2500")
    assert first.count("━") == 10
    assert second.count("━") == 5
    assert "hits: 2; index: v1" in output.stdout


@pytest.mark.usefixtures("answers")
def test_an_explained_search_prints_lists_and_tokens(run: Run) -> None:
    printed = run("search", "vat", "--explain").stdout
    for part in ("semantic #1 0.7500", "bm25 #2 4.5000", "create invoice", "123 nodes visible after the filter"):
        assert part in printed
    assert "semantic list: exact, 20 candidates; bm25 list: 10 candidates; rrf_k 60; query tokens: invoice" in printed


def test_a_search_without_explanation_has_no_columns_for_it(server: FakeServer, run: Run) -> None:
    hit = retrieval_pb2.SearchHit(id=SEED, score=-0.5, rank=1)
    server.answer(retrieval_pb2.SearchNodesResponse(hits=[hit], index="v1"))
    printed = run("search", "vat").stdout
    assert "matched tokens" not in printed
    assert "-0.5000" in printed
    assert "hits: 1; index: v1; approximate" in printed


def test_a_search_may_find_nothing(run: Run) -> None:
    output = run("search", "vat")
    assert output.code == 0
    assert "hits: 0" in output.stdout


def test_search_sends_its_options(server: FakeServer, run: Run) -> None:
    flags = "--type semantic --top-k 3 --rerank keyword_rerank --rrf-k 9 --explain --kind cs --kind sql --data-type d"
    filters = "--corpus-type c --language l --path src/ --collection k --document m"
    access = "--tenant acme --acl-tag a --acl-tag b --label secret --clearance 2 --index v7"
    assert run("search", "where is vat", *flags.split(), *filters.split(), *access.split()).code == 0
    assert server.attempts[0].request == retrieval_pb2.SearchNodesRequest(
        scope=scope_pb2.Scope(repository="shop", branch="main", active_index="v7"),
        access=scope_pb2.AccessContext(
            tenant_id="acme", acl_tags_any=["a", "b"], classification_labels_all=["secret"], clearance_level=2
        ),
        filter=scope_pb2.Filter(
            kinds=["cs", "sql"],
            data_types=["d"],
            corpus_types=["c"],
            languages=["l"],
            path_prefixes=["src/"],
            collection_ids=["k"],
            document_ids=["m"],
        ),
        search_type=retrieval_pb2.SEARCH_TYPE_SEMANTIC,
        query="where is vat",
        top_k=3,
        rrf_k=9,
        rerank=retrieval_pb2.RERANK_KEYWORD,
        explain=True,
    )


@pytest.mark.usefixtures("answers")
def test_expand_prints_a_tree_and_the_edges(run: Run) -> None:
    lines = [line.rstrip() for line in run("expand", SEED).stdout.splitlines()]
    assert lines[:3] == ["seeds", f"└── {SEED}", f"    └── {TABLE}"]
    edge = next(line for line in lines if "ReadsFrom" in line)
    assert edge.split() == [SEED, "ReadsFrom", TABLE, "0.9"]
    assert lines[-1] == "seeds: 1; nodes: 2; edges: 1; index: v1; truncated: limit_reached"


def test_expand_without_a_visible_seed_prints_no_edges(run: Run) -> None:
    output = run("expand", SEED)
    assert output.code == 0
    assert "confidence" not in output.stdout


def test_expand_sends_its_options(server: FakeServer, run: Run) -> None:
    flags = ["--depth", "0", "--max-nodes", "7", "--edge-type", "Calls", "--edge-type", "FK", "--direction", "both"]
    run("expand", SEED, TABLE, *flags)
    run("expand", SEED)
    first, second = (attempt.request for attempt in server.attempts)
    assert isinstance(first, retrieval_pb2.ExpandDependencyTreeRequest)
    assert isinstance(second, retrieval_pb2.ExpandDependencyTreeRequest)
    assert list(first.seed_ids) == [SEED, TABLE]
    assert (first.max_depth, first.max_nodes, list(first.edge_allowlist)) == (0, 7, ["Calls", "FK"])
    assert first.direction == retrieval_pb2.DIRECTION_BOTH
    assert (second.max_depth, second.max_nodes, list(second.edge_allowlist)) == (2, 50, ["*"])
    assert second.direction == retrieval_pb2.DIRECTION_OUTGOING


@pytest.mark.usefixtures("answers")
def test_fetch_prints_texts_and_what_was_skipped(run: Run) -> None:
    printed = run("fetch", SEED, TABLE).stdout
    assert "src/Invoice.cs:10-11 · seed · 9 tokens" in printed
    assert SEED in printed
    assert "10 int [bold]x␛[31m;" in printed
    assert "11 int y;" in printed
    assert "12" not in printed
    assert next(line for line in printed.splitlines() if TABLE in line).split() == [TABLE, "over_budget"]
    assert "texts: 1; tokens: 9; characters: 28; index: v1; skipped: 1" in printed


def test_a_text_without_a_place_is_named_by_its_symbol(server: FakeServer, run: Run) -> None:
    text = retrieval_pb2.NodeText(id=TABLE, text="CREATE TABLE", depth=2, token_count=2, symbol="dbo.Invoice")
    server.answer(retrieval_pb2.FetchNodeTextsResponse(texts=[text]))
    assert "dbo.Invoice · depth 2 · 2 tokens" in run("fetch", TABLE).stdout


@pytest.mark.parametrize(
    ("flags", "budget", "amount", "mode"),
    [
        ("", "budget_tokens", 4_000, retrieval_pb2.PRIORITIZATION_MODE_BALANCED),
        ("--budget-tokens 9 --mode seed_first", "budget_tokens", 9, retrieval_pb2.PRIORITIZATION_MODE_SEED_FIRST),
        ("--max-chars 8 --mode graph_first", "max_chars", 8, retrieval_pb2.PRIORITIZATION_MODE_GRAPH_FIRST),
    ],
)
def test_fetch_sends_its_options(
    server: FakeServer, run: Run, flags: str, budget: str, amount: int, mode: retrieval_pb2.PrioritizationMode.ValueType
) -> None:
    run("fetch", SEED, *flags.split())
    request = server.attempts[0].request
    assert isinstance(request, retrieval_pb2.FetchNodeTextsRequest)
    assert request.WhichOneof("budget") == budget
    assert getattr(request, budget) == amount
    assert request.prioritization_mode == mode


@pytest.mark.parametrize("command", ["expand", "fetch"])
def test_ids_may_come_from_standard_input(server: FakeServer, run: Run, command: str) -> None:
    assert run(command, "first", "-", "last", stdin=f"{SEED}\r\n\n{TABLE}").code == 0
    request = server.attempts[0].request
    assert isinstance(request, retrieval_pb2.ExpandDependencyTreeRequest | retrieval_pb2.FetchNodeTextsRequest)
    assert list(request.seed_ids) == ["first", SEED, TABLE, "last"]


@pytest.mark.usefixtures("answers")
def test_json_is_one_object_of_the_fields_in_order(run: Run) -> None:
    found = json.loads(run("search", "vat", "--json").stdout)
    assert list(found) == ["hits", "index", "exact", "debug"]
    assert list(found["hits"][0]) == ["id", "score", "rank", "legs", "matched_tokens"]
    assert found["hits"][0]["legs"][0] == {"leg": "semantic", "rank": 1, "score": 0.75}
    assert found["debug"]["path"] == "exact"
    graph = json.loads(run("expand", SEED, "--json").stdout)
    assert list(graph) == ["seed_ids", "nodes", "edges", "debug", "index"]
    assert graph["edges"] == [{"from_id": SEED, "to_id": TABLE, "edge_type": "ReadsFrom", "confidence": 0.9}]
    texts = json.loads(run("fetch", SEED, "--json").stdout)
    assert list(texts) == ["texts", "skipped", "used_tokens", "used_chars", "index"]
    assert texts["texts"][0]["text"] == "int [bold]x\x1b[31m;\r\nint y;\n"
    assert texts["skipped"] == [{"id": TABLE, "reason": "over_budget"}]


@pytest.mark.usefixtures("answers")
@pytest.mark.parametrize("command", ALL_COMMANDS)
def test_a_pipe_gets_no_escape_sequences(run: Run, command: tuple[str, ...]) -> None:
    assert "\x1b" not in run(*command).stdout


@pytest.mark.parametrize("command", ALL_COMMANDS)
@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_a_failed_call_is_one_line_on_standard_error(
    server: FakeServer, run: Run, command: tuple[str, ...], flags: tuple[str, ...]
) -> None:
    info = error_details_pb2.ErrorInfo(reason="ERROR_REASON_SCOPE_NOT_FOUND", domain="groundwire")
    server.fail(grpc.StatusCode.NOT_FOUND, "no index of\nshop\x1b[31m, main", [info])
    output = run(*command, *flags)
    assert (output.code, output.stdout) == (1, "")
    assert output.stderr == "error: SCOPE_NOT_FOUND: no index of shop␛[31m, main\n"


def test_bad_input_names_each_field(server: FakeServer, run: Run) -> None:
    violation = error_details_pb2.BadRequest.FieldViolation
    violations = [
        violation(field="top_k", reason="ERROR_REASON_VALUE_OUT_OF_RANGE", description="0 is below 1"),
        violation(field="query", reason="ERROR_REASON_FIELD_REQUIRED", description="is empty"),
    ]
    details = [error_details_pb2.BadRequest(field_violations=violations)]
    server.fail(grpc.StatusCode.INVALID_ARGUMENT, "top_k: 0 is below 1; query: is empty", details)
    output = run("search", "", "--top-k", "0")
    assert output.code == 1
    assert output.stderr.splitlines() == [
        "error: VALUE_OUT_OF_RANGE: top_k: 0 is below 1",
        "error: FIELD_REQUIRED: query: is empty",
    ]


def test_a_status_that_is_not_ours_is_named_by_its_code(server: FakeServer, run: Run) -> None:
    server.fail(grpc.StatusCode.UNIMPLEMENTED, "no such method")
    assert run("search", "vat").stderr == "error: UNIMPLEMENTED: no such method\n"


def test_the_timeout_is_the_callers(server: FakeServer, run: Run) -> None:
    run("search", "vat", "--timeout", "50")
    assert 40 < server.attempts[0].time_remaining <= 50


@pytest.mark.parametrize("command", ALL_COMMANDS)
def test_the_server_may_come_from_the_environment(server: FakeServer, command: tuple[str, ...]) -> None:
    assert _invoke(*command, *SCOPE, env={"GROUNDWIRE_SERVER": server.target}).code == 0
    assert len(server.attempts) == 1


@pytest.mark.parametrize("command", ALL_COMMANDS)
def test_a_server_must_be_named(command: tuple[str, ...]) -> None:
    output = _invoke(*command, *SCOPE, env={"GROUNDWIRE_SERVER": None})
    assert output.code == 2
    assert "--server" in output.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "vat", "--type", "fuzzy"),
        ("search", "vat", "--top-k", "99999999999"),
        ("search", "\udcff"),
        ("search", "vat", "--timeout", "0"),
        ("search", "vat", "--timeout", "nan"),
        ("search", "vat", "--tls-ca", "absent.pem"),
        ("search", "vat", "--tls-key", __file__),
        ("fetch", "a", "--budget-tokens", "1", "--max-chars", "1"),
        ("fetch",),
    ],
)
def test_wrong_usage_ends_with_two_and_reaches_no_server(
    server: FakeServer, run: Run, arguments: tuple[str, ...]
) -> None:
    output = run(*arguments)
    assert (output.code, output.stdout) == (2, "")
    assert output.stderr
    assert server.attempts == []


def test_ids_that_are_not_utf_8_are_wrong_usage(run: Run) -> None:
    assert run("fetch", "-", stdin=b"\xff\n").code == 2


def test_tls_files_secure_the_call(tls_server: FakeServer, certificates: Path) -> None:
    files = ("--tls-ca", "authority.pem", "--tls-cert", "client.pem", "--tls-key", "client.key")
    arguments = [part if part.startswith("--") else str(certificates / part) for part in files]
    output = _invoke("search", "vat", *SCOPE, "--server", tls_server.target, *arguments)
    assert output.code == 0
    assert tls_server.methods == ["SearchNodes"]


def test_the_commands_join_another_app(server: FakeServer) -> None:
    other = typer.Typer()
    register(other)
    arguments = ["search", "vat", *SCOPE, "--server", server.target, "--json"]
    assert CliRunner().invoke(other, arguments).exit_code == 0
    assert CliRunner().invoke(other, ["--help"]).stdout.count("Walk the dependency graph") == 1
