"""Checks requests to this program, and sets headers that limit what a browser does with answers.

The pages themselves hold no secret and no content: they load their content with the key of the session, which only
whoever can read the terminal has. A page of another origin can neither read that key nor send it. Where callers bring
their own tokens there is no such key: a proxy adds a token to each request.
"""

import secrets
from collections.abc import Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from groundwire_client.caller_tokens import CHALLENGE, NO_TOKEN, answering_as, only_bearer
from groundwire_explore.caller_turns import CallerTurns

KEY_HEADER = "X-Groundwire-Key"

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def new_key() -> str:
    """A key of a session: 256 random bits."""
    return secrets.token_urlsafe(32)


def holds_key(headers: Headers, key: str) -> bool:
    """True if a request has the key of the session."""
    return secrets.compare_digest(headers.get(KEY_HEADER, "").encode(), key.encode())


class Guard:
    """Refuses requests to another host, as a name that an attacker points at this machine gives; adds the headers.

    Where callers bring their own tokens, it also refuses requests without one, whatever they are for, and answers the
    others with their token, a few requests of each caller at a time.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str], *, needs_token: bool) -> None:
        self._app = app
        self._hosts = hosts
        self._needs_token = needs_token
        self._turns = CallerTurns()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers.setdefault("Cache-Control", "no-cache")
            await send(message)

        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        token = only_bearer(headers.getlist("authorization")) if self._needs_token else ""
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            text = f"This page is served only at {' and '.join(f'http://{host}' for host in self._hosts)}.\n"
            await PlainTextResponse(text, 421)(scope, receive, guarded)
        elif self._needs_token and not token:
            await PlainTextResponse(NO_TOKEN, 401, CHALLENGE)(scope, receive, guarded)
        elif self._needs_token:
            async with self._turns.turn(token):
                with answering_as(token):
                    await self._app(scope, receive, guarded)
        else:
            await self._app(scope, receive, guarded)
