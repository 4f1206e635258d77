"""Verified tokens are remembered until they expire, the keys change, or others need their place."""

import time

import pytest

from groundwire_server.domain.access.grants import Caller, Grant
from groundwire_server.rpc.identity.jwt_callers import VerifiedTokens

CALLER = Caller("alice", Grant(clearance_level=2))


@pytest.mark.parametrize(("lives_seconds", "known"), [(60, CALLER), (0, None), (-1, None)])
def test_a_token_is_known_until_it_expires(lives_seconds: float, known: Caller | None) -> None:
    tokens = VerifiedTokens()
    tokens.add("token", CALLER, time.time() + lives_seconds)
    assert tokens.find("token") == known
    assert tokens.find("other") is None


def test_all_are_forgotten_at_once() -> None:
    tokens = VerifiedTokens()
    tokens.add("token", CALLER, time.time() + 60)
    tokens.clear()
    assert tokens.find("token") is None


def test_the_one_not_used_for_longest_makes_room() -> None:
    tokens = VerifiedTokens(most=2)
    for name in ("a", "b"):
        tokens.add(name, CALLER, time.time() + 60)
    tokens.find("a")
    tokens.add("c", CALLER, time.time() + 60)
    assert [name for name in "abc" if tokens.find(name)] == ["a", "c"]


def test_no_token_is_kept() -> None:
    tokens = VerifiedTokens()
    tokens.add("secret-token", CALLER, time.time() + 60)
    assert "secret-token" not in repr(vars(tokens))
