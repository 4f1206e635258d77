"""How the commands fail: a line on standard error and an exit code."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import grpc
import pytest
import typer
import typer.core
from google.rpc import error_details_pb2
from typer.testing import CliRunner

from groundwire.v1 import evidence_pb2, query_pb2, retrieval_pb2, scope_pb2
from groundwire_client.cli import ConnectionOptions, app
from groundwire_client.cli._option_names import OPTION_FIELDS, option_of

if TYPE_CHECKING:
    from client.cli.conftest import Command, Run
    from client.conftest import FakeServer

SEED = "shop::main::cs::Shop.Invoice.[Create]"
MESSAGES = (
    retrieval_pb2.SearchNodesRequest,
    retrieval_pb2.SearchTextRequest,
    retrieval_pb2.ExpandDependencyTreeRequest,
    retrieval_pb2.FindPathsRequest,
    retrieval_pb2.FetchNodeTextsRequest,
    query_pb2.QueryRequest,
    evidence_pb2.GatherEvidenceRequest,
)
ALL_COMMANDS = [
    ("query", "vat"),
    ("search", "vat"),
    ("grep", "vat"),
    ("expand", SEED),
    ("paths", "--from", SEED, "--to", SEED),
    ("fetch", SEED),
]


@pytest.mark.parametrize("arguments", ALL_COMMANDS)
@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_a_failed_call_is_one_line_on_standard_error(
    server: FakeServer, run: Run, arguments: tuple[str, ...], flags: tuple[str, ...]
) -> None:
    info = error_details_pb2.ErrorInfo(reason="ERROR_REASON_SCOPE_NOT_FOUND", domain="groundwire")
    server.fail(grpc.StatusCode.NOT_FOUND, "no index of\nshop\x1b[31m, main", [info])
    output = run(*arguments, *flags)
    assert (output.code, output.stdout) == (1, "")
    assert output.stderr == "error: SCOPE_NOT_FOUND: no index of shop␛[31m, main\n"


def test_of_several_scopes_the_absent_one_is_named(server: FakeServer, run: Run) -> None:
    names = {"repository": "team-x", "branch": "main"}
    info = error_details_pb2.ErrorInfo(reason="ERROR_REASON_SCOPE_NOT_FOUND", domain="groundwire", metadata=names)
    for message in ("there is none", "there is none: team-x main"):
        server.fail(grpc.StatusCode.NOT_FOUND, message, [info])
        assert run("query", "vat").stderr == "error: SCOPE_NOT_FOUND: there is none: team-x main\n"


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
        "error: VALUE_OUT_OF_RANGE: --top-k: 0 is below 1",
        "error: FIELD_REQUIRED: query: is empty",
    ]


@pytest.mark.parametrize(
    ("field", "option"),
    [
        ("hybrid.top_k", "--top-k"),
        ("edge_allowlist[2]", "--edge-type"),
        ("filter.kinds[0]", "--kind"),
        ("filter.metadata.team", "--filter team"),
        ("scope.repository", "--repository"),
        ("scopes[3].branch", "--branch"),
        ("access.collections.values", "--bind collections.values"),
        ("hybrid.diversify_strength", "--diversify"),
        ("max_depth", "--depth"),
        ("query", "query"),
    ],
)
def test_fields_are_named_by_their_options(field: str, option: str) -> None:
    assert option_of(field) == option


def test_every_option_of_a_field_is_one_of_a_command() -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    commands = group.commands.values()
    known = {name for command in commands for parameter in command.params for name in parameter.opts}
    fields = {field for message in MESSAGES for field in message.DESCRIPTOR.fields_by_name}
    fields |= {f"filter.{name}" for name in scope_pb2.NodeFilter.DESCRIPTOR.fields_by_name}
    fields |= {f"hybrid.{name}" for name in query_pb2.HybridParameters.DESCRIPTOR.fields_by_name}
    named = {option_of(field) for field in fields} - fields
    of_access = {f"access.{name}" for name in scope_pb2.AccessContext.DESCRIPTOR.fields_by_name}
    of_scope = {f"scope.{name}" for name in scope_pb2.IndexScope.DESCRIPTOR.fields_by_name}
    assert {field.removeprefix("hybrid.") for field in fields} | of_access | of_scope >= OPTION_FIELDS
    assert {name for option in named for name in option.split() if name.startswith("--")} <= known
    assert {"--top-k", "--kind", "--depth", "--alpha"} <= named


@pytest.mark.parametrize("reason", ["VECTORS_MISSING", "EMBEDDER_MISMATCH", "RERANKER_NOT_CONFIGURED"])
def test_cures_are_options_and_not_fields(server: FakeServer, run: Run, reason: str) -> None:
    info = error_details_pb2.ErrorInfo(reason=f"ERROR_REASON_{reason}", domain="groundwire")
    server.fail(grpc.StatusCode.FAILED_PRECONDITION, "index 'v1' lacks it; send no query_vector", [info])
    stderr = run("query", "vat").stderr
    assert stderr.startswith(f"error: {reason}: index 'v1' lacks it; ")
    assert "query_vector" not in stderr
    assert "--" in stderr


def test_a_status_that_is_not_ours_is_named_by_its_code(server: FakeServer, run: Run) -> None:
    server.fail(grpc.StatusCode.UNIMPLEMENTED, "no such method")
    assert run("search", "vat").stderr == "error: UNIMPLEMENTED: no such method\n"


def test_where_nothing_answers_the_address_is_named(command: Command) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        output = command("query", "vat", "--server", address)
    assert output.code == 1
    assert output.stderr.endswith(f"; is `groundwire serve` running at {address}?\n")


def test_the_server_is_on_this_machine_unless_it_is_named() -> None:
    assert ConnectionOptions().server == "localhost:50051"
    result = CliRunner().invoke(app, ["search", "--help"], env={"COLUMNS": "300"})
    assert "[default: localhost:50051]" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("search", "vat", "--type", "fuzzy"), "fuzzy"),
        (("search", "vat", "--top-k", "99999999999"), "99999999999"),
        (("search", "\udcff"), "surrogates"),
        (("search", "vat", "--timeout", "0"), "timeout"),
        (("search", "vat", "--timeout", "nan"), "timeout"),
        (("search", "vat", "--tls-ca", "absent.pem"), "absent.pem"),
        (("search", "vat", "--tls-key", __file__), "client_certificate"),
        (("fetch", "a", "--budget-tokens", "1", "--max-chars", "1"), "exactly one"),
        (("fetch",), "nodes"),
    ],
)
def test_wrong_usage_ends_with_two_and_reaches_no_server(
    server: FakeServer, run: Run, arguments: tuple[str, ...], named: str
) -> None:
    output = run(*arguments)
    assert (output.code, output.stdout) == (2, "")
    assert named in output.stderr.lower()
    assert server.attempts == []


def test_ids_that_are_not_utf_8_are_wrong_usage(run: Run) -> None:
    assert run("fetch", "-", stdin=b"\xff\n").code == 2
