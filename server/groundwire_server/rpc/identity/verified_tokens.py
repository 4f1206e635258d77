"""Remembers which tokens were verified, and whose they are."""

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
    """Whose the tokens are that were used last, until each expires.

    Tokens are known by their digest, so that none lies in memory longer than its call. Only tokens that were verified
    get in: those that are refused cannot push others out.
    """

    def __init__(self, most: int = MAX_TOKENS) -> None:
        """Remembers at most `most` tokens."""
        self._most = most
        self._tokens: OrderedDict[bytes, _Verified] = OrderedDict()

    def find(self, token: str) -> Caller | None:
        """Whose the token is, if that is known and the token has not expired."""
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
        """Forgets all: the keys that they were verified with may be withdrawn."""
        self._tokens.clear()


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
