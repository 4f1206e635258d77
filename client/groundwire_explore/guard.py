"""Checks requests to this program, and sets headers that limit what a browser does with answers.

The pages themselves hold no secret and no content: they load their content with the key of the session, which only
whoever can read the terminal has. A page of another origin can neither read that key nor send it.
"""

import secrets

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
    """Refuses requests to another host, as a name that an attacker points at this machine gives; adds the headers."""

    def __init__(self, app: ASGIApp, host: str) -> None:
        self._app = app
        self._host = host

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

        if Headers(scope=scope).getlist("host") != [self._host]:
            told = f"This page is served only at http://{self._host}.\n"
            await PlainTextResponse(told, status_code=421)(scope, receive, guarded)
            return
        await self._app(scope, receive, guarded)
