"""The stdio transport, as agents start it."""

import os

from mcp import Client

from client.mcp.conftest import SECRET, Site
from support.mcp_calls import Told, call, over_stdio


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
    repositories, found, secret, refused = over_stdio(talk, "--scope", "shop::main::v1", environment=environment)
    assert [line["repository"] for line in repositories.structured["repositories"]] == ["shop::main"]
    assert [hit["symbol"] for hit in found.structured["hits"]] == ["shop.order"]
    assert "names no node" in secret.text
    assert "is no argument of ask" in refused.text
