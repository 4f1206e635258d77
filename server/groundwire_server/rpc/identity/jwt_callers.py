"""Mode `jwt`: callers are known by the bearer tokens that they send."""

import hashlib
import time
from collections import OrderedDict
from dataclasses import dataclass

from groundwire_server.domain.access.grants import Caller
from groundwire_server.rpc.bodies import CallContext
from groundwire_server.rpc.identity.authenticator import Authenticator
from groundwire_server.rpc.identity.bearer_token import bearer_token
from groundwire_server.rpc.identity.claim_mapping import ClaimMapping, Claims
from groundwire_server.rpc.identity.key_ring import KeyRing
from groundwire_server.rpc.identity.key_sources import KeySource
from groundwire_server.rpc.identity.token_verifier import LEEWAY_SECONDS, TokenRules, TokenVerifier, expires

MAX_TOKENS = 4_096


@dataclass(frozen=True, slots=True)
class _Verified:
    caller: Caller
    until: float


class VerifiedTokens:
    """The callers of the most recently used tokens, each until its token expires.

    Tokens are kept as digests, so none stays in memory longer than its call. Only verified tokens are added: refused
    ones cannot push others out.
    """

    def __init__(self, most: int = MAX_TOKENS) -> None:
        """Remembers at most `most` tokens."""
        self._most = most
        self._tokens: OrderedDict[bytes, _Verified] = OrderedDict()

    def find(self, token: str) -> Caller | None:
        """The token's caller; None when it is not known, or the token has expired."""
        digest = _digest(token)
        known = self._tokens.get(digest)
        if known is None:
            return None
        if known.until <= time.time():
            del self._tokens[digest]
            return None
        self._tokens.move_to_end(digest)
        return known.caller

    def add(self, token: str, caller: Caller, until: float) -> None:
        """Remembers a token until it expires, at `until` in seconds since 1970."""
        self._tokens[_digest(token)] = _Verified(caller, until)
        if len(self._tokens) > self._most:
            self._tokens.popitem(last=False)

    def clear(self) -> None:
        """Forgets all tokens: the keys that they were verified with may have been withdrawn."""
        self._tokens.clear()


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


NO_SUBJECT = "(no sub)"
MAX_REMEMBERED_SECONDS = 3_600
"""How long a verified token is accepted without another check, however late it expires."""


class TokenCallers(Authenticator):
    """Grants by the claims of a verified token."""

    def __init__(self, rules: TokenRules, source: KeySource, mapping: ClaimMapping) -> None:
        self._mapping = mapping
        self._verified = VerifiedTokens()
        self._keys = KeyRing(source, changed=self._verified.clear)
        self._verifier = TokenVerifier(rules, self._keys)

    async def start(self) -> None:
        """Reads the keys, and goes on reading them periodically."""
        await self._keys.start()

    async def authenticate(self, context: CallContext) -> Caller:
        """The subject of the call's token and what the token grants.

        Raises UnauthenticatedError, IdentityUnavailableError.
        """
        token = bearer_token(context.invocation_metadata())
        caller = self._verified.find(token)
        if caller is None:
            claims = await self._verifier.claims(token)
            caller = Caller(_subject(claims), self._mapping.grant(claims))
            until = min(expires(claims), int(time.time()) + MAX_REMEMBERED_SECONDS) + LEEWAY_SECONDS
            self._verified.add(token, caller, until)
        return caller

    async def stop(self) -> None:
        """Stops reading the keys."""
        await self._keys.stop()


def _subject(claims: Claims) -> str:
    """The claim `sub`; an issuer may leave it out (RFC 7519 §4.1.2), and all such callers count as one."""
    subject = claims.get("sub")
    return subject if isinstance(subject, str) and subject else NO_SUBJECT
