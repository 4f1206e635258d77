"""What the commands send, and to which server."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
import typer
from typer.testing import CliRunner

from groundwire.v1 import query_pb2, retrieval_pb2, scope_pb2
from groundwire_client.cli import register

if TYPE_CHECKING:
    from pathlib import Path

    from client.cli.conftest import Command, Run
    from client.conftest import Caller, FakeServer

SEED = "shop::main::cs::Shop.Invoice.[Create]"
TABLE = "shop::main::sql::dbo.Invoice|TABLE"
ALL_COMMANDS = [
    ("query", "vat"),
    ("search", "vat"),
    ("expand", SEED),
    ("paths", "--from", SEED, "--to", TABLE),
    ("fetch", SEED),
]


def test_search_sends_its_options(server: FakeServer, run: Run) -> None:
    flags = "--type Semantic --top-k 3 --rerank keyword --rrf-k 9 --explain --kind cs --kind sql --data-type d"
    filters = "--corpus-type c --language l --path ./src/ --collection k --document m"
    access = "--tenant acme --acl-tag a --acl-tag b --label secret --clearance 2 --index v7 --lifecycle deleted"
    assert run("search", "where is vat", *flags.split(), *filters.split(), *access.split()).code == 0
    assert server.attempts[0].request == retrieval_pb2.SearchNodesRequest(
        scope=scope_pb2.IndexScope(repository="shop", branch="main", active_index="v7"),
        access=scope_pb2.AccessContext(
            tenant_id="acme", acl_tags_any=["a", "b"], classification_labels_all=["secret"], clearance_level=2
        ),
        filter=scope_pb2.NodeFilter(
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
        lifecycle=scope_pb2.LIFECYCLE_DELETED,
    )


def test_bounds_are_sent_by_name(server: FakeServer, run: Run) -> None:
    assert run("search", "q", "--bind", "cases=7", "--bind", "cases=8", "--bind", "workflows=a=b").code == 0
    request = server.attempts[0].request
    assert isinstance(request, retrieval_pb2.SearchNodesRequest)
    assert request.access == scope_pb2.AccessContext(
        cases=scope_pb2.Bound(values=["7", "8"]), workflows=scope_pb2.Bound(values=["a=b"])
    )


@pytest.mark.parametrize("pair", ["tenants=acme", "cases", "=7"])
def test_what_is_no_bound_is_refused(server: FakeServer, run: Run, pair: str) -> None:
    result = run("search", "q", "--bind", pair)
    assert result.code == 2
    assert pair in result.stderr
    assert not server.attempts


def test_expand_sends_its_options(server: FakeServer, run: Run) -> None:
    flags = ["--depth", "0", "--max-nodes", "7", "--edge-type", "Calls", "--edge-type", "FK", "--direction", "both"]
    run("expand", SEED, TABLE, *flags, "--min-confidence", "0.5", "--no-tests", "--lifecycle", "all")
    run("expand", SEED)
    first, second = server.actions
    assert isinstance(first, retrieval_pb2.ExpandDependencyTreeRequest)
    assert isinstance(second, retrieval_pb2.ExpandDependencyTreeRequest)
    assert list(first.seed_ids) == [SEED, TABLE]
    assert (first.max_depth, first.max_nodes, list(first.edge_allowlist)) == (0, 7, ["Calls", "FK"])
    assert first.direction == retrieval_pb2.EDGE_DIRECTION_BOTH
    assert (second.max_depth, second.max_nodes, list(second.edge_allowlist)) == (2, 50, ["*"])
    assert second.direction == retrieval_pb2.EDGE_DIRECTION_OUTGOING
    assert (first.min_confidence, first.filter) == (0.5, scope_pb2.NodeFilter(is_test=False))
    assert (first.lifecycle, second.lifecycle) == (scope_pb2.LIFECYCLE_ALL, scope_pb2.LIFECYCLE_UNSPECIFIED)
    assert (second.min_confidence, second.filter) == (0.0, scope_pb2.NodeFilter())


def test_paths_sends_its_options(server: FakeServer, run: Run) -> None:
    flags = ["--max-hops", "3", "--max-paths", "2", "--max-nodes", "7", "--edge-type", "Calls", "--direction", "both"]
    run("paths", "--from", SEED, "--from", "b", "--to", TABLE, *flags, "--min-confidence", "0.5", "--no-tests")
    run("paths", "--from", SEED, "--to", TABLE)
    first, second = server.actions
    assert isinstance(first, retrieval_pb2.FindPathsRequest)
    assert isinstance(second, retrieval_pb2.FindPathsRequest)
    assert (list(first.from_ids), list(first.to_ids)) == ([SEED, "b"], [TABLE])
    assert (first.max_hops, first.max_paths, first.max_nodes, list(first.edge_allowlist)) == (3, 2, 7, ["Calls"])
    assert (first.direction, first.min_confidence) == (retrieval_pb2.EDGE_DIRECTION_BOTH, 0.5)
    assert first.filter == scope_pb2.NodeFilter(is_test=False)
    assert (second.max_hops, second.max_paths, second.max_nodes, list(second.edge_allowlist)) == (6, 5, 2_000, ["*"])
    assert second.direction == retrieval_pb2.EDGE_DIRECTION_OUTGOING


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
    run("fetch", SEED, "--json", *flags.split())
    request = server.attempts[0].request
    assert isinstance(request, retrieval_pb2.FetchNodeTextsRequest)
    assert request.WhichOneof("budget") == budget
    assert getattr(request, budget) == amount
    assert request.prioritization_mode == mode


@pytest.mark.parametrize("name", ["expand", "fetch"])
def test_ids_may_come_from_standard_input(server: FakeServer, run: Run, name: str) -> None:
    assert run(name, "first", "-", "last", stdin=f"{SEED}\r\n\n{TABLE}").code == 0
    request = server.attempts[0].request
    assert isinstance(request, retrieval_pb2.ExpandDependencyTreeRequest | retrieval_pb2.FetchNodeTextsRequest)
    assert list(request.seed_ids) == ["first", SEED, TABLE, "last"]


def test_the_timeout_is_the_callers(server: FakeServer, run: Run) -> None:
    run("search", "vat", "--timeout", "50")
    assert 40 < server.attempts[0].time_remaining < 51


@pytest.mark.parametrize("arguments", ALL_COMMANDS)
def test_the_server_may_come_from_the_environment(
    server: FakeServer, command: Command, arguments: tuple[str, ...]
) -> None:
    assert command(*arguments, environment_server=server.target).code == 0
    assert len(server.attempts) == 1


def test_tls_files_secure_the_call(tls_server: FakeServer, command: Command, certificates: Path) -> None:
    files = ("--tls-ca", "authority.pem", "--tls-cert", "client.pem", "--tls-key", "client.key")
    arguments = [part if part.startswith("--") else str(certificates / part) for part in files]
    output = command("search", "vat", "--server", tls_server.target, *arguments)
    assert output.code == 0
    assert tls_server.methods == ["SearchNodes"]


@pytest.mark.parametrize("by", ["option", "environment"])
def test_the_token_comes_from_a_file(
    server: FakeServer, run: Run, tmp_path: Path, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "token"
    path.write_text("aa.bb.cc\n")
    if by == "environment":
        monkeypatch.setenv("GROUNDWIRE_TOKEN_FILE", str(path))
    assert run("search", "vat", *(["--token-file", str(path)] if by == "option" else [])).code == 0
    (attempt,) = server.attempts
    assert attempt.metadata["authorization"] == "Bearer aa.bb.cc"
    assert isinstance(attempt.request, retrieval_pb2.SearchNodesRequest)
    assert not attempt.request.HasField("access")


@pytest.mark.parametrize("arguments", ALL_COMMANDS)
def test_a_token_needs_tls_or_a_word_beyond_this_machine(
    command: Command, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    path = tmp_path / "token"
    path.write_text("aa.bb.cc\n")
    elsewhere = (*arguments, "--server", "192.0.2.1:1", "--token-file", str(path), "--timeout", "0.01")
    refused = command(*elsewhere)
    assert refused.code == 2
    assert "--plaintext-token" in refused.stderr
    assert command(*elsewhere, "--plaintext-token").code == 1


def test_the_commands_join_another_app(server: FakeServer) -> None:
    other = typer.Typer()
    register(other)
    arguments = ["search", "vat", "-r", "shop", "-b", "main", "--server", server.target, "--json"]
    assert CliRunner().invoke(other, arguments).exit_code == 0
    assert CliRunner().invoke(other, ["--help"]).stdout.count("Walk the dependency graph") == 1


def test_the_clients_have_the_same_defaults(server: FakeServer, call: Caller, run: Run) -> None:
    """But for enum values that commands spell out and clients leave to the server, which has the same defaults."""
    scope = scope_pb2.IndexScope(repository="shop", branch="main")
    call(server.target, lambda client: client.search(scope, "q"))
    call(server.target, lambda client: client.expand(scope, ["a"]))
    call(server.target, lambda client: client.find_paths(scope, ["a"], ["b"]))
    call(server.target, lambda client: client.fetch(scope, ["a"]))
    of_client = server.actions
    for arguments in (("search", "q"), ("expand", "a"), ("paths", "--from", "a", "--to", "b"), ("fetch", "a")):
        run(*arguments)
    of_commands = server.actions[len(of_client) :]
    for request in (*of_client, *of_commands):
        for field in ("filter", "rerank", "direction", "prioritization_mode"):
            if field in request.DESCRIPTOR.fields_by_name:
                request.ClearField(field)
    assert of_commands == of_client


@pytest.mark.parametrize("arguments", ALL_COMMANDS, ids=lambda arguments: arguments[0])
def test_every_command_asks_several_scopes(server: FakeServer, run: Run, arguments: tuple[str, ...]) -> None:
    """`run` adds a repository and a branch."""
    run(*arguments)
    scope = cast("query_pb2.QueryRequest", server.attempts[0].request).scope
    read_scopes = [
        (("-r", "other"), [("other", scope.branch), (scope.repository, scope.branch)]),
        (("-b", "dev"), [(scope.repository, "dev"), (scope.repository, scope.branch)]),
        (("-r", "team-*", "-b", "*"), [("team-*", "*"), (scope.repository, scope.branch)]),
    ]
    for options, expected in read_scopes:
        assert run(*arguments, *options).code == 0
        request = cast("query_pb2.QueryRequest", server.attempts[-1].request)
        assert not request.HasField("scope")
        assert [(scope.repository, scope.branch) for scope in request.scopes] == expected
    count = len(server.attempts)
    for options in (("-r", "other", "--index", "v1"), ("-r", "other", "-r", "third", "-b", "dev")):
        assert run(*arguments, *options).code == 2
    assert len(server.attempts) == count
