"""MCP over streamable HTTP: who may connect, and with which token.

Every request is complete by itself: there are no sessions, so one caller's data never reaches another.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mcp.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from groundwire_client.caller_tokens import CHALLENGE, NO_TOKEN, only_bearer
from groundwire_client.cli import is_loopback_host
from groundwire_client.http_server import allowed_hosts, in_url, limited_server, listening_at

PATH = "/mcp"
_MAX_REQUEST_BYTES = 1 << 20


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
    with listening_at(options.host, options.port) as listener:
        port: int = listener.getsockname()[1]
        app: ASGIApp = server.streamable_http_app(
            streamable_http_path=PATH,
            json_response=True,
            stateless_http=True,
            max_request_body_size=_MAX_REQUEST_BYTES,
            transport_security=_allowed(options, port),
        )
        announce(f"http://{in_url(options.host)}:{port}{PATH}")
        await limited_server(_Entrance(app, options.caller_tokens)).serve(sockets=[listener])


class _Entrance:
    """Refuses requests that the protocol has no use for, and those without a token where callers need one.

    There are no sessions, so there is no stream to open with GET, which would hold a connection for as long as its
    client wants. The Groundwire server checks the token.
    """

    def __init__(self, app: ASGIApp, needs_token: bool) -> None:
        self._app = app
        self._needs_token = needs_token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if self._needs_token and not only_bearer(headers.getlist("authorization")):
            return PlainTextResponse(NO_TOKEN, 401, CHALLENGE)
        if scope["method"] != "POST":
            return PlainTextResponse("send POST: this server has no streams and no sessions\n", 405, {"Allow": "POST"})
        if len(headers.getlist("origin")) > 1:  # the SDK checks the first one only
            return PlainTextResponse("send one header Origin, or none\n", 403)
        return None


def _allowed(options: HttpOptions, port: int) -> TransportSecuritySettings:
    """Headers `Host` and `Origin` as a page of this address would send them: a rebound name is none of them."""
    hosts = allowed_hosts(options.host, port, options.allowed_hosts)
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")],
    )
