"""Who may speak to the HTTP transport at all."""

import asyncio
import json
import select
import socket
import time
from contextlib import ExitStack, suppress

import grpc
import httpx2
import pytest

from client.conftest import FakeServer
from client.mcp.conftest import Front
from groundwire_client import InternalError
from groundwire_client.cli import ConnectionOptions
from groundwire_mcp.http import HttpOptions
from groundwire_mcp.scopes import AllowedScope, AllowedScopes
from groundwire_mcp.serving import serve_scopes

CONNECTIONS = 300
"""More than the transport admits."""
REQUEST_SECONDS = 10
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
CALL = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_repositories", "arguments": {}}}
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
ACCEPT_BYTES = [(name.encode(), value.encode()) for name, value in ACCEPT.items()]


def post(front: Front, body: object = CALL, **headers: str) -> httpx2.Response:
    token = {"Authorization": f"Bearer {front.site.token('shop')}"}
    return httpx2.post(front.url, verify=False, content=json.dumps(body), headers={**ACCEPT, **token, **headers})


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "mcp.example", "Origin": "https://mcp.example"}, 200),
        ({"Host": "mcp.example:1"}, 421),
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:80"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content-Type": "text/plain"}, 400),
        ({"Host": "evil.example", "MCP-Protocol-Version": "2026-07-28"}, 421),
        ({"Origin": "http://evil.example", "MCP-Protocol-Version": "2026-07-28"}, 403),
    ],
)
def test_a_page_of_another_site_is_refused(front: Front, headers: dict[str, str], status: int) -> None:
    assert post(front, **headers).status_code == status


def test_a_page_of_the_same_address_is_not(front: Front) -> None:
    assert post(front, Origin=front.url.removesuffix("/mcp")).status_code == 200


@pytest.mark.parametrize("authorization", [None, "", "Bearer", "Basic eDp5", "Bearer a b", "Bearer é", "x" * 20_000])
@pytest.mark.parametrize("body", [INITIALIZE, CALL])
def test_a_request_without_a_token_is_refused(front: Front, authorization: str | None, body: object) -> None:
    headers = {} if authorization is None else {b"Authorization": authorization.encode()}
    answer = httpx2.post(front.url, verify=False, content=json.dumps(body), headers=[*ACCEPT_BYTES, *headers.items()])
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


def test_two_tokens_are_refused(front: Front) -> None:
    tokens = [("Authorization", f"Bearer {front.site.token(name)}") for name in ("shop", "vault")]
    answer = httpx2.post(front.url, verify=False, content=json.dumps(CALL), headers=[*ACCEPT.items(), *tokens])
    assert answer.status_code == 401


def test_a_session_id_of_somebody_else_gives_nothing_of_theirs(front: Front) -> None:
    first = post(front, INITIALIZE)
    session = first.headers.get("mcp-session-id", "made-up")
    vault = {"Authorization": f"Bearer {front.site.token('vault')}", "Mcp-Session-Id": session}
    content = post(front, CALL, **vault).json()["result"]["structuredContent"]
    assert [line["repository"] for line in content["repositories"]] == ["vault::main"]


def test_a_request_that_is_too_large_is_refused(front: Front) -> None:
    assert post(front, {**CALL, "padding": "x" * (1 << 20)}).status_code == 413


def test_there_is_no_stream_to_hold(front: Front) -> None:
    """A GET of the protocol opens a stream that its client may keep for ever."""
    token = {"Authorization": f"Bearer {front.site.token('shop')}", "Accept": "text/event-stream"}
    for method in ("GET", "DELETE", "HEAD", "PUT"):
        answer = httpx2.request(method, front.url, verify=False, headers=token)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_two_origins_are_refused(front: Front) -> None:
    origin = front.url.removesuffix("/mcp")
    token = f"Bearer {front.site.token('shop')}"
    for origins in ((origin, "http://evil.example"), (origin, origin)):
        headers = [*ACCEPT.items(), ("Authorization", token), *(("Origin", origin) for origin in origins)]
        answer = httpx2.post(front.url, verify=False, content=json.dumps(CALL), headers=headers)
        assert answer.status_code == 403


def test_connections_that_send_nothing_more_hold_no_place(front: Front) -> None:
    """Silent ones, and those with a part of a head or of a body: the oldest goes for each that comes."""
    address = httpx2.URL(front.url)
    head = f"POST /mcp HTTP/1.1\r\nHost: {address.host}:{address.port}\r\n"
    token = f"Authorization: Bearer {front.site.token('shop')}\r\n"
    body = f"{head}{token}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{"
    with ExitStack() as opened:
        for number in range(CONNECTIONS):
            attacker = opened.enter_context(socket.create_connection((address.host, address.port), timeout=300))
            attacker.sendall(("", head, body)[number % 3].encode())
        assert post(front).status_code == 200


def test_refused_requests_are_not_a_line_each(front: Front) -> None:
    before = len(front.log)
    for number in range(50):
        assert post(front, Host=f"evil-{number}.example").status_code == 421
    assert post(front).status_code == 200
    assert len([line for line in front.log[before:] if "evil-" in line]) <= 1


def is_open(connection: socket.socket) -> bool:
    try:
        return connection.recv(65_536) != b""
    except ConnectionResetError:
        return False


@pytest.mark.slow
def test_connections_whose_requests_do_not_arrive_are_closed(front: Front) -> None:
    """Silent ones, and such as send a byte now and then: of a head, of a body, and of a second request."""
    address = httpx2.URL(front.url)
    head = f"POST /mcp HTTP/1.1\r\nHost: {address.host}:{address.port}\r\n"
    token = f"Authorization: Bearer {front.site.token('shop')}\r\n"
    body = f"{head}{token}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{"
    refused = f"{head}Content-Length: 0\r\n\r\n"
    with ExitStack() as opened:
        attackers = [
            opened.enter_context(socket.create_connection((address.host, address.port), timeout=300))
            for _ in range(CONNECTIONS)
        ]
        for number, attacker in enumerate(attackers):
            attacker.sendall(("", head, body, refused + head)[number % 4].encode())
        began = time.monotonic()
        while attackers:
            assert time.monotonic() < began + 6 * REQUEST_SECONDS
            readable, _, _ = select.select(attackers, [], [], 0.5)
            attackers = [each for each in attackers if each not in readable or is_open(each)]
            for attacker in attackers[:8]:
                with suppress(OSError):
                    attacker.send(b"x")
    assert post(front).status_code == 200


def test_a_connection_may_wait_between_two_requests(front: Front) -> None:
    with httpx2.Client(verify=False) as client:
        token = {"Authorization": f"Bearer {front.site.token('shop')}"}
        for _ in range(3):
            assert client.post(front.url, content=json.dumps(CALL), headers={**ACCEPT, **token}).status_code == 200


@pytest.mark.parametrize("character", ["\\ud800", "\\u0000"])
def test_characters_that_cannot_be_sent_are_told_and_others_match_nothing(front: Front, character: str) -> None:
    call = json.dumps({**CALL, "params": {"name": "search_code", "arguments": {"query": "X"}}}).replace("X", character)
    headers = {**ACCEPT, "Authorization": f"Bearer {front.site.token('shop')}"}
    answer = httpx2.post(front.url, verify=False, content=call, headers=headers)
    assert answer.status_code in (200, 400)
    result = answer.json().get("result", {"isError": True})
    assert result["isError"] or (character == "\\u0000" and result["structuredContent"]["hits"] == [])


def test_tokens_of_callers_need_a_server_that_checks_them(server: FakeServer) -> None:
    """Any word would do for a server that checks none."""
    scopes, http = AllowedScopes([AllowedScope("shop", "main")]), HttpOptions("127.0.0.1", 0, caller_tokens=True)
    with pytest.raises(ValueError, match="access_mode"):
        asyncio.run(serve_scopes(ConnectionOptions(server=server.target), None, scopes, http))
    server.fail(grpc.StatusCode.INTERNAL)
    with pytest.raises(InternalError):
        asyncio.run(serve_scopes(ConnectionOptions(server=server.target), None, scopes, http))
