"""Which repository and branch a command reads when options do not name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import pytest
from google.rpc import error_details_pb2
from typer.testing import CliRunner

from groundwire.v1 import index_pb2, retrieval_pb2
from groundwire_client.cli import app

if TYPE_CHECKING:
    from client.conftest import FakeServer

WEB, SHOP, OLD = ("web", "main"), ("shop", "main"), ("shop", "old")


def searched(server: FakeServer, *arguments: str, **environment: str) -> tuple[int, str, list[tuple[str, str]]]:
    """The exit code, standard error, and the scopes that are searched."""
    command = ["search", "vat", "--server", server.target, *arguments]
    result = CliRunner().invoke(app, command, env={"COLUMNS": "200", **environment})
    requests = [request for request in server.actions if isinstance(request, retrieval_pb2.SearchNodesRequest)]
    scopes = [
        scope for request in requests for scope in ([request.scope] if request.HasField("scope") else request.scopes)
    ]
    return result.exit_code, result.stderr, [(scope.repository, scope.branch) for scope in scopes]


def listing(server: FakeServer, *scopes: tuple[str, str]) -> None:
    """The server lists these as active, and another branch that has no active version."""
    active = [
        index_pb2.IndexVersion(repository=repository, branch=branch, active=True) for repository, branch in scopes
    ]
    server.answer(
        index_pb2.ListIndexesResponse(indexes=[*active, index_pb2.IndexVersion(repository="web", branch="draft")])
    )


@pytest.mark.parametrize(
    ("listed", "arguments", "expected"),
    [
        ([WEB], [], [WEB]),
        ([WEB, SHOP], ["-r", "web"], [WEB]),
        ([WEB, OLD], ["-b", "old"], [OLD]),
        ([WEB, SHOP, OLD], ["-r", "web", "-r", "w*"], [WEB, WEB]),
        ([], ["-r", "absent", "-b", "main"], [("absent", "main")]),
    ],
)
def test_the_only_repository_and_branch_are_read(
    server: FakeServer, listed: list[tuple[str, str]], arguments: list[str], expected: list[tuple[str, str]]
) -> None:
    listing(server, *listed)
    code, stderr, scopes = searched(server, *arguments)
    assert (code, scopes) == (0, expected), stderr


@pytest.mark.parametrize(
    ("listed", "arguments", "option", "said"),
    [
        ([WEB, SHOP], [], "--repository", "since there are several: web main, shop main"),
        ([SHOP, OLD, WEB], ["-r", "shop"], "--branch", "since there are several: shop main, shop old"),
        ([SHOP, WEB], ["-b", "main"], "--repository", "since there are several: shop main, web main"),
        (
            [SHOP, WEB],
            ["-r", "absent"],
            "--repository",
            "there is no index of 'absent'; there are: shop main, web main",
        ),
        ([SHOP], ["-b", "absent"], "--branch", "there is no index of 'absent'; there are: shop main"),
        ([("evil\x9b31m", "main"), WEB], [], "--repository", "there are several: evil\ufffd31m main, web main"),
        ([SHOP, WEB], ["--index", "v9"], "--repository", "the server has no index that you may see"),
        ([], [], "--repository", "the server has no index that you may see"),
    ],
)
def test_a_choice_is_asked_for_with_what_there_is(
    server: FakeServer, listed: list[tuple[str, str]], arguments: list[str], option: str, said: str
) -> None:
    listing(server, *listed)
    code, stderr, scopes = searched(server, *arguments)
    assert (code, scopes) == (2, [])
    message = " ".join(stderr.replace("│", " ").split())
    assert f"Invalid value for {option}: " in message
    assert said in message


def test_the_environment_names_them_too(server: FakeServer) -> None:
    given = {"GROUNDWIRE_REPOSITORY": "shop", "GROUNDWIRE_BRANCH": "old"}
    assert searched(server, **given)[2] == [OLD]
    assert searched(server, "-r", "web", **given)[2] == [OLD, ("web", "old")]


def test_of_a_scope_that_is_not_there_those_that_are_there_are_told(server: FakeServer) -> None:
    listing(server, WEB, SHOP)
    info = error_details_pb2.ErrorInfo(reason="ERROR_REASON_SCOPE_NOT_FOUND", domain="groundwire")
    server.fail(grpc.StatusCode.NOT_FOUND, "no such index", [info])
    code, stderr, _ = searched(server, "-r", "sop", "-b", "main")
    assert code == 1
    assert "there are: web main, shop main" in stderr
