"""MCP over streamable HTTP: who may connect, and with which token.

Every request is complete by itself: there are no sessions, so one caller's data never reaches another.
"""

import asyncio
import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import uvicorn
from mcp.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from groundwire_client.cli import is_loopback_host
from groundwire_mcp.server import bearer_of

PATH = "/mcp"
_MAX_REQUEST_BYTES = 1 << 20
_MAX_CONNECTIONS = 256
_REQUEST_SECONDS = 10
"""How long a request may take to arrive, and a connection may be idle."""
_NO_TOKEN = "send one header Authorization: Bearer TOKEN\n"
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]{1,16384}=*")


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """Where to listen and who may connect.

    Attributes:
        host: Name or address to listen at.
        port: 0 takes a free one.
        caller_tokens: Every request needs a bearer token, which is handed on.
        expose: Listen beyond this machine without `caller_tokens`.
        allowed_hosts: Further values of the header `Host` besides the address, such as the name of a proxy.

    Raises:
        ValueError: Whoever reaches the address could ask, which was not allowed.
    """

    host: str
    port: int
    caller_tokens: bool = False
    expose: bool = False
    allowed_hosts: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not (is_loopback_host(self.host) or self.caller_tokens or self.expose):
            raise ValueError(
                f"--http {self.host}: other machines could ask with this server's access: add --caller-tokens, so that "
                "each caller needs a token of its own, or listen at 127.0.0.1, or allow it with --expose"
            )


async def serve_http(server: Server[Any], options: HttpOptions, announce: Callable[[str], None]) -> None:
    """Serves until SIGTERM or SIGINT; `announce` is given the URL. Raises OSError when it cannot listen."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    with socket.create_server((options.host, options.port), family=family) as listener:
        port: int = listener.getsockname()[1]
        app: ASGIApp = server.streamable_http_app(
            streamable_http_path=PATH,
            json_response=True,
            stateless_http=True,
            max_request_body_size=_MAX_REQUEST_BYTES,
            transport_security=_allowed(options, port),
        )
        if options.caller_tokens:
            app = _RequiresToken(app)
        # Its own log has addresses and paths of every request.
        config = uvicorn.Config(
            app,
            http=TimedH11Protocol,
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=_MAX_CONNECTIONS,
            timeout_keep_alive=_REQUEST_SECONDS,
        )
        announce(f"http://{_in_url(options.host)}:{port}{PATH}")
        await uvicorn.Server(config).serve(sockets=[listener])


class _RequiresToken:
    """Refuses requests without a bearer token. The Groundwire server checks the token."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        if scope["type"] == "http":
            given = Headers(scope=scope).getlist("authorization")
            if len(given) != 1 or not _TOKEN.fullmatch(bearer_of(given[0])):
                app = PlainTextResponse(_NO_TOKEN, 401, {"WWW-Authenticate": 'Bearer realm="groundwire"'})
        await app(scope, receive, send)


def _allowed(options: HttpOptions, port: int) -> TransportSecuritySettings:
    """Headers `Host` and `Origin` as a page of this address would send them: a rebound name is none of them."""
    own = {"127.0.0.1", "localhost", "[::1]"} if is_loopback_host(options.host) else {_in_url(options.host)}
    hosts = [*sorted(f"{name}:{port}" for name in own), *options.allowed_hosts]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")],
    )


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


class TimedH11Protocol(H11Protocol):
    """uvicorn's HTTP/1.1, with a deadline for the arrival of each request, its body included.

    uvicorn closes connections that are idle after a response (`timeout_keep_alive`), but waits without end for a first
    request, and for the rest of one, so that silent connections would fill `limit_concurrency`. Here the same seconds
    count from the connection, and from the first byte of each later request; single bytes now and then do not help.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Counts from here on."""
        super().connection_made(transport)
        self._count()

    def data_received(self, data: bytes) -> None:
        """Counts as long as a request is incomplete."""
        super().data_received(data)
        if not self.cycle or self.cycle.more_body or self.cycle.response_complete:
            self._count()
        else:
            self._stop_counting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Counts no more."""
        self._stop_counting()
        super().connection_lost(exc)

    def _count(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.timeout_keep_alive, self.transport.close)

    def _stop_counting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
