"""The stdio transport, as agents start it."""

import json
import os
import subprocess
from typing import Any

import pytest
from mcp import Client

from client.mcp.conftest import ORDER, SECRET, Site
from support.mcp_calls import Told, call, over_stdio
from support.program import END_SECONDS, executable


def test_an_agent_that_starts_it_sees_what_the_operator_allows(site: Site) -> None:
    async def talk(client: Client) -> list[Told]:
        return [
            await call(client, "list_repositories"),
            await call(client, "search_code", query="invoice total", search_type="bm25", top_k=1),
            await call(client, "read_code", nodes=[SECRET]),
            await call(client, "ask", query="invoice", tenant="acme"),
        ]

    environment = {
        **os.environ,
        "GROUNDWIRE_SERVER": site.address,
        "GROUNDWIRE_TOKEN_FILE": str(site.token_file("shop", "vault")),
    }
    repositories, hits, secret, refused = over_stdio(talk, "--scope", "shop::main::v1", environment=environment)
    assert [line["repository"] for line in repositories.structured["repositories"]] == ["shop::main"]
    assert [hit["symbol"] for hit in hits.structured["hits"]] == ["shop.order"]
    assert "names no node" in secret.text
    assert "is no argument of ask" in refused.text


def test_without_scopes_all_that_the_server_lists_for_the_caller_is_offered(site: Site) -> None:
    async def talk(client: Client) -> list[Told]:
        return [
            await call(client, "list_repositories"),
            await call(client, "search_code", query="invoice total", search_type="bm25"),
            await call(client, "search_code", query="invoice total", search_type="bm25", repository="vault::main"),
            await call(client, "read_code", nodes=[ORDER]),
        ]

    def talked(*callers: str) -> list[Told]:
        token = str(site.token_file(*callers))
        return over_stdio(
            talk, environment={**os.environ, "GROUNDWIRE_SERVER": site.address, "GROUNDWIRE_TOKEN_FILE": token}
        )

    repositories, hits, hidden, read = talked("shop")
    assert [line["repository"] for line in repositories.structured["repositories"]] == ["shop::main"]
    assert hits.structured["hits"]
    assert "is not available" in hidden.text
    assert "def order" in read.text
    repositories, hits, vault, read = talked("shop", "vault")
    names = [line["repository"] for line in repositories.structured["repositories"]]
    assert names == ["shop::main", "vault::main"]
    assert "repository: give one of shop::main, vault::main" in hits.text
    assert vault.structured["hits"]
    assert "def order" in read.text


CALL = {
    "jsonrpc": "2.0",
    "id": 7,
    "method": "tools/call",
    "params": {"name": "search_code", "arguments": {"query": "X"}},
}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


def answers(site: Site, *lines: str) -> list[dict[str, Any]]:
    """The answers to an introduction and these lines, by a process whose input ends then."""
    environment = {**os.environ, "GROUNDWIRE_TOKEN_FILE": str(site.token_file("shop"))}
    replies = subprocess.run(
        [executable(), "mcp", "--server", site.address, "--scope", "shop::main"],
        input="".join(f"{line}\n" for line in (json.dumps(INITIALIZE), *lines)).encode(),
        env=environment,
        capture_output=True,
        timeout=END_SECONDS,
        check=True,
    ).stdout
    return [json.loads(line) for line in replies.splitlines()]


@pytest.mark.parametrize(
    ("line", "answered"),
    [
        (json.dumps(CALL).replace("X", "\\ud800"), 7),
        (json.dumps({**CALL, "id": "seven"}).replace("X", "\\udfff a"), "seven"),
        (json.dumps({**CALL, "id": "\ud800"}), None),
        (json.dumps({**CALL, "jsonrpc": "1.0"}), None),
        ("{", None),
        ("[" * 100_000, None),
    ],
)
def test_a_line_that_is_no_message_gets_an_answer(site: Site, line: str, answered: str | int | None) -> None:
    first, last = answers(site, line)
    assert (first["id"], last["id"]) == (1, answered)
    assert "error" in last
