"""The bearer token of a call (RFC 6750), read from the call's metadata."""

import grpc.aio

from groundwire_server.domain.errors import Reason, UnauthenticatedError
from groundwire_server.rpc.identity.authenticator import refused

AUTHORIZATION_KEY = "authorization"
MAX_TOKEN_BYTES = 16_384
_SCHEME = "bearer"


def bearer_token(metadata: grpc.aio.Metadata | None) -> str:
    """The call's only token, of which nothing but the length is checked here. Raises UnauthenticatedError."""
    given = [value for key, value in metadata or () if key == AUTHORIZATION_KEY]
    if not given:
        raise UnauthenticatedError(
            Reason.IDENTITY_REQUIRED, f"no token; send the metadata `{AUTHORIZATION_KEY}: Bearer <token>`"
        )
    (value, *others) = given
    if others:
        raise refused("repeated", f"the metadata {AUTHORIZATION_KEY} stands {len(given)} times; send it once")
    if len(value) > len(_SCHEME) + 1 + MAX_TOKEN_BYTES:
        raise refused("too_long", f"the token is longer than {MAX_TOKEN_BYTES} bytes")
    scheme, _, token = value.partition(" ") if isinstance(value, str) else ("", "", "")
    if scheme.lower() != _SCHEME or not token:
        raise refused("malformed", f"the metadata {AUTHORIZATION_KEY} must be `Bearer <token>`")
    return token
