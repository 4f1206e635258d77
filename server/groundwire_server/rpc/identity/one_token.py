"""A server for one program, which starts it and alone knows its token."""

from hmac import compare_digest
from typing import TypeVar

import grpc.aio

from groundwire_server.domain.access.grants import ANYBODY, Caller
from groundwire_server.rpc.identity.authenticator import Authenticator, refused
from groundwire_server.rpc.identity.bearer_token import bearer_token

Request = TypeVar("Request")
Response = TypeVar("Response")


class HolderOfToken(Authenticator):
    """Grants everything to whoever sends `token`: other users of this machine can connect, but do not know it."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()

    async def authenticate(self, context: grpc.aio.ServicerContext[Request, Response]) -> Caller:
        """Everything. Raises UnauthenticatedError."""
        if not compare_digest(bearer_token(context.invocation_metadata()).encode(), self._token):
            raise refused("signature", "the token is not the one of this server")
        return ANYBODY
