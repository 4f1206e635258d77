"""Remembers which tokens were verified, and their callers."""

import hashlib
import time
from collections import OrderedDict
from dataclasses import dataclass

from groundwire_server.domain.access.grants import Caller

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
