"""Failed calls as a model is told of them: in words that say what to do."""

import asyncio

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from mcp import Client

from client.conftest import FakeServer
from groundwire_client import AsyncGroundwireClient
from groundwire_mcp.scopes import AllowedScope, AllowedScopes
from groundwire_mcp.server import make_server
from groundwire_mcp.tool_calls import ToolCalls
from support.mcp_calls import Told, call


def reason(name: str) -> ErrorInfo:
    return ErrorInfo(domain="groundwire", reason=f"ERROR_REASON_{name}")


def answered(server: FakeServer, pending: str = "") -> Told:
    """What a search in the only repository `shop::main` tells."""

    async def run() -> Told:
        async with AsyncGroundwireClient(server.target) as client:

            async def connected() -> AsyncGroundwireClient:
                return client

            calls = ToolCalls(connected, AllowedScopes([AllowedScope("shop", "main")]), lambda: pending)
            async with Client(make_server(calls)) as agent:
                return await call(agent, "search_code", query="invoice")

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("code", "details", "said"),
    [
        ("NOT_FOUND", [reason("SCOPE_NOT_FOUND")], "repository: 'shop::main' is not available"),
        ("PERMISSION_DENIED", [reason("SCOPE_NOT_GRANTED")], "repository: 'shop::main' is not available"),
        ("FAILED_PRECONDITION", [reason("VECTORS_MISSING")], "of search_code, or name one repository"),
        ("FAILED_PRECONDITION", [reason("INDEX_GONE")], "the operator must pin another"),
        ("UNAUTHENTICATED", [reason("IDENTITY_REFUSED")], "renew it"),
        ("UNAUTHENTICATED", [], "renew it"),
        ("RESOURCE_EXHAUSTED", [reason("OVERLOADED"), RetryInfo(retry_delay=Duration(seconds=7))], "again in 7 s"),
        ("RESOURCE_EXHAUSTED", [reason("OVERLOADED")], "again in 1 s"),
        ("DEADLINE_EXCEEDED", [reason("DEADLINE_EXCEEDED")], "narrow the call"),
        ("INTERNAL", [reason("INTERNAL")], "(request request 1): tell the user"),
        (
            "INVALID_ARGUMENT",
            [BadRequest(field_violations=[BadRequest.FieldViolation(field="query", description="is blank: say more")])],
            "query: is blank: say more",
        ),
    ],
)
def test_a_failed_call_says_what_to_do(server: FakeServer, code: str, details: list[Message], said: str) -> None:
    server.fail(grpc.StatusCode[code], "confidential", details)
    result = answered(server)
    assert result.failed
    assert said in result.text
    assert result.structured == {}


def test_a_folder_without_an_index_says_how_far_its_build_is(server: FakeServer) -> None:
    server.fail(grpc.StatusCode.NOT_FOUND, "none", [reason("SCOPE_NOT_FOUND")])
    assert answered(server, "the index is being built").text == "the index is being built"
