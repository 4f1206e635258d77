"""From options to a server that runs: the connection, the tools over it, and the transport."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import Protocol, TypeAlias

import typer

from groundwire_client import AccessContext, AsyncGroundwireClient
from groundwire_client.caller_tokens import check_that_tokens_are_demanded, request_token
from groundwire_client.cli import ConnectionOptions
from groundwire_mcp.http import HttpOptions, serve_http
from groundwire_mcp.scopes import AllowedScope, AllowedScopes
from groundwire_mcp.server import make_server
from groundwire_mcp.stdio import serve_stdio
from groundwire_mcp.tool_calls import ToolCalls
from groundwire_mcp.tool_errors import ToolError


class ServedFolder(Protocol):
    """A folder that a server in this process answers for."""

    async def listening(self) -> str:
        """The server's address, once it listens there. Raises ValueError when it cannot start."""
        ...

    @property
    def token(self) -> str:
        """The identity that the server demands of callers."""
        ...

    @property
    def scope(self) -> tuple[str, str]:
        """Repository and branch."""
        ...

    def pending(self) -> str:
        """Why there is no index yet; empty when there is one."""
        ...

    def notes(self) -> list[str]:
        """What a reader of results needs to know of the index, such as that files have changed: sentences."""
        ...


ServeFolder: TypeAlias = Callable[[Path, Path | None, str], AbstractAsyncContextManager[ServedFolder]]
"""Serves a folder, given where to keep its index (None: in the user's cache) and the name of an embedder (or "")."""


async def serve_scopes(
    connection: ConnectionOptions, access: AccessContext | None, scopes: AllowedScopes | None, http: HttpOptions | None
) -> None:
    """Serves scopes of a Groundwire server; None for all that it lists.

    Raises:
        GroundwireError: Callers need tokens of their own, and whether the server checks them is unknown.
        ValueError: It does not check them; or an option of the connection cannot be used.
        OSError: A file cannot be read, or the address cannot be had.
    """
    of_callers = http is not None and http.caller_tokens
    if of_callers:
        async with connection.async_client(None) as without_token:
            await check_that_tokens_are_demanded(without_token, connection.server, "--caller-tokens")
    token = request_token if of_callers else connection.token
    async with connection.async_client(token, access=access) as client:

        async def connected() -> AsyncGroundwireClient:
            return client

        await _serve(ToolCalls(connected, scopes), http)


async def serve_local(folder: AbstractAsyncContextManager[ServedFolder], http: HttpOptions | None) -> None:
    """Serves a folder for as long as this runs. Raises OSError when the address cannot be had.

    The protocol is answered at once, for agents wait only so long; tools wait for the folder's server.
    """
    async with folder as served, AsyncExitStack() as clients:
        made: list[AsyncGroundwireClient] = []

        async def connected() -> AsyncGroundwireClient:
            try:
                address = await served.listening()
            except ValueError as error:
                raise ToolError(f"the server of the folder cannot start: {error}: tell the user") from None
            if not made:
                made.append(AsyncGroundwireClient(address, token=served.token, check_values=False))
                clients.push_async_callback(made[0].close)
            return made[0]

        await _serve(
            ToolCalls(connected, AllowedScopes([AllowedScope(*served.scope)]), served.pending, served.notes), http
        )


async def _serve(calls: ToolCalls, http: HttpOptions | None) -> None:
    server = make_server(calls)
    if http is not None:
        await serve_http(server, http, lambda url: typer.echo(f"serving MCP at {url}", err=True))
    else:
        await serve_stdio(server)
