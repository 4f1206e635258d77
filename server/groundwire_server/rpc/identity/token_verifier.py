"""Verifies a token (RFC 7519, following the advice of RFC 8725)."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import jwt
from jwt import exceptions as broken

from groundwire_server.rpc.identity.authenticator import refused
from groundwire_server.rpc.identity.claim_mapping import Claims
from groundwire_server.rpc.identity.json_web_keys import ALGORITHMS
from groundwire_server.rpc.identity.key_ring import KeyRing

_COMPACT = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*")
"""Header, claims and signature; the last is empty for unsigned tokens, which are refused for that."""
LEEWAY_SECONDS = 30
"""How far the clocks of issuer and server may differ."""
_NEEDED = ("iss", "aud", "exp")
_TIMES = ("exp", "nbf", "iat")
_TYPES = ("jwt", "at+jwt", "application/at+jwt")
"""Tokens of other types serve other purposes, such as logout, and may be signed with the same key (RFC 8725 §3.11).
Most access tokens still have the type JWT, so not only the type of RFC 9068 is accepted."""
_RULES: Mapping[type[Exception], tuple[str, str]] = {
    broken.ExpiredSignatureError: ("expired", "the token has expired; get a new one"),
    broken.ImmatureSignatureError: ("not_yet_valid", "the token is not valid yet"),
    broken.InvalidIssuerError: ("issuer", "the token is of another issuer than this server trusts"),
    broken.InvalidAudienceError: ("audience", "the token is for another audience than this server"),
    broken.MissingRequiredClaimError: ("claims", f"the token must have the claims {', '.join(_NEEDED)}"),
    broken.InvalidSignatureError: ("signature", "the token's signature is not that of the key it names"),
}
_MALFORMED = ("malformed", "the token is not a signed JSON Web Token in compact form")


@dataclass(frozen=True, slots=True)
class TokenRules:
    """The rules that a token must keep. `max_lifetime_seconds` is how far from now it may expire."""

    issuer: str
    audiences: tuple[str, ...]
    max_lifetime_seconds: float


def expires(claims: Claims) -> int:
    """When a verified token expires, in seconds since 1970, as the library has read it."""
    return int(cast("float", claims["exp"]))


class TokenVerifier:
    """Accepts tokens that keep the rules and are signed with one of the keys."""

    def __init__(self, rules: TokenRules, keys: KeyRing) -> None:
        self._rules = rules
        self._keys = keys

    async def claims(self, token: str) -> Claims:
        """The token's claims, `exp` among them. Raises UnauthenticatedError, IdentityUnavailableError.

        Awaits nothing but the look-up of a key that is not known yet.
        """
        key_id, algorithm = self._header(token)
        key = await self._keys.find(key_id, algorithm)
        if key is None:
            raise refused("key", f"the token names no key that this server knows for {algorithm}")
        try:
            claims = cast(
                "Claims",
                jwt.decode(
                    token,
                    key,
                    [algorithm],
                    audience=self._rules.audiences,
                    issuer=self._rules.issuer,
                    leeway=LEEWAY_SECONDS,
                    options={"require": list(_NEEDED)},
                ),
            )
        except (broken.PyJWTError, ValueError, OverflowError, RecursionError) as error:
            raise refused(*_RULES.get(type(error), _MALFORMED)) from None
        # The library also takes the texts of numbers, which RFC 7519 §2 does not.
        if not all(_is_number(claims[name]) for name in _TIMES if name in claims):
            raise refused("claims", f"the token's claims {', '.join(_TIMES)} must be numbers of seconds")
        # An endless token could be revoked only by withdrawing the key that signed it.
        longest = self._rules.max_lifetime_seconds
        if expires(claims) > time.time() + longest + LEEWAY_SECONDS:
            raise refused("lifetime", f"the token must expire within {longest:g} seconds; get one that does")
        return claims

    def _header(self, token: str) -> tuple[str, str]:
        """The key id and the algorithm that the token names, the latter one that the rules allow."""
        if not _COMPACT.fullmatch(token):
            raise refused(*_MALFORMED)
        try:
            header: Mapping[str, Any] = jwt.get_unverified_header(token)
        except (broken.PyJWTError, ValueError, RecursionError):
            raise refused(*_MALFORMED) from None
        algorithm, key_id = header.get("alg"), header.get("kid")
        if algorithm not in ALGORITHMS:
            raise refused("algorithm", f"the token must be signed with {', '.join(ALGORITHMS)}")
        if not isinstance(key_id, str):
            raise refused("key", "the token must name its key (header `kid`)")
        if "typ" in header and str(header["typ"]).lower() not in _TYPES:
            raise refused("type", f"the token's type (header `typ`) must be none, {', '.join(_TYPES)}")
        if "crit" in header or "b64" in header:
            raise refused("malformed", "the token's header asks for extensions that this server does not know")
        return key_id, str(algorithm)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
