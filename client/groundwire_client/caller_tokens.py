"""The tokens of those who call an HTTP server of ours: each goes on to the server with the calls of its request.

A token is kept nowhere. It belongs to the task that answers a request, so callers at the same time cannot get each
other's.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

from groundwire_client._async_client import AsyncGroundwireClient
from groundwire_client._errors import UnauthenticatedError

NO_TOKEN = "send one header Authorization: Bearer TOKEN\n"
"""The answer to a request without a token, with the status 401."""
CHALLENGE: Mapping[str, str] = MappingProxyType({"WWW-Authenticate": 'Bearer realm="groundwire"'})
"""The headers of that answer."""
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]{1,16384}=*")

_token: ContextVar[str] = ContextVar("token of the HTTP request that is being answered")


def request_token() -> str:
    """The bearer token of the request that this task answers: a client's `token` where each caller has its own."""
    return _token.get()


@contextmanager
def answering_as(token: str) -> Iterator[None]:
    """Calls of this task, and of those that it starts meanwhile, are made with a token."""
    restored = _token.set(token)
    try:
        yield
    finally:
        _token.reset(restored)


def bearer_of(authorization: str | None) -> str:
    """The token in a header `Authorization`; empty for none."""
    scheme, _, token = (authorization or "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def only_bearer(headers: Sequence[str]) -> str:
    """The token of a request, given all of its headers `Authorization`; empty unless there is one with a token."""
    token = bearer_of(headers[0]) if len(headers) == 1 else ""
    return token if _TOKEN.fullmatch(token) else ""


async def check_that_tokens_are_demanded(client: AsyncGroundwireClient, server: str, option: str) -> None:
    """Any word would do as a token for a server that checks none.

    Args:
        client: A client without a token.
        server: The server's address, for the message.
        option: The option that makes callers bring their tokens, for the message.

    Raises:
        ValueError: The server answers a call without a token.
        GroundwireError: Whether it checks tokens is not known.
    """
    try:
        await client.list_indexes()
    except UnauthenticatedError:
        return
    raise ValueError(
        f"{option}: {server} answers callers without a token, so it would not check theirs: set its access_mode to jwt"
    )
