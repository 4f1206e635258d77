"""The bearer token of a call (RFC 6750), read from the call's metadata; and callers who need no more than that."""

from hmac import compare_digest

import grpc.aio

from groundwire_server.domain.access.grants import ANYBODY, Caller
from groundwire_server.domain.errors import Reason, UnauthenticatedError
from groundwire_server.rpc.bodies import CallContext
from groundwire_server.rpc.identity.authenticator import Authenticator, refused

AUTHORIZATION_KEY = "authorization"
MAX_TOKEN_BYTES = 16_384
_SCHEME = "bearer"


def bearer_token(metadata: grpc.aio.Metadata | None) -> str:
    """The call's only token; only its length is checked here. Raises UnauthenticatedError."""
    given = [value for key, value in metadata or () if key == AUTHORIZATION_KEY]
    if not given:
        raise UnauthenticatedError(
            Reason.IDENTITY_REQUIRED, f"no token; send the metadata `{AUTHORIZATION_KEY}: Bearer <token>`"
        )
    (value, *others) = given
    if others:
        raise refused("repeated", f"the metadata {AUTHORIZATION_KEY} is sent {len(given)} times; send it once")
    if len(value) > len(_SCHEME) + 1 + MAX_TOKEN_BYTES:
        raise refused("too_long", f"the token is longer than {MAX_TOKEN_BYTES} bytes")
    scheme, _, token = value.partition(" ") if isinstance(value, str) else ("", "", "")
    if scheme.lower() != _SCHEME or not token:
        raise refused("malformed", f"the metadata {AUTHORIZATION_KEY} must be `Bearer <token>`")
    return token


class HolderOfToken(Authenticator):
    """A server for one program, which starts it and alone knows its token; a caller that sends it gets everything.

    Other users of this machine can connect, but do not know it.
    """

    def __init__(self, token: str) -> None:
        self._token = token.encode()

    async def authenticate(self, context: CallContext) -> Caller:
        """Everything. Raises UnauthenticatedError."""
        if not compare_digest(bearer_token(context.invocation_metadata()).encode(), self._token):
            raise refused("signature", "the token is not the one of this server")
        return ANYBODY
