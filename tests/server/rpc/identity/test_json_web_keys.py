"""Which keys of a set are used, and for which algorithms."""

import json
from typing import Any

import pytest

from groundwire_server.rpc.identity.json_web_keys import ALGORITHMS, KeySetError, parse_keys
from support.token_issuer import SigningKey, key_set

RSA_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
EC, RSA = SigningKey.ec("ec"), SigningKey.rsa("rsa")


def places(*entries: object) -> set[tuple[str, str]]:
    return set(parse_keys(json.dumps({"keys": entries}).encode()))


def test_a_key_serves_the_algorithms_of_its_kind() -> None:
    keys = parse_keys(key_set(EC, RSA, SigningKey.ed25519("ed")).encode())
    assert set(keys) == {("ec", "ES256"), ("ed", "EdDSA"), *(("rsa", each) for each in RSA_ALGORITHMS)}
    assert {place: key.algorithm_name for place, key in keys.items()} == {place: place[1] for place in keys}


def test_tokens_are_signed_with_private_keys_alone() -> None:
    assert {*ALGORITHMS} == {*RSA_ALGORITHMS, "ES256", "ES384", "ES512", "EdDSA"}


def test_a_key_that_states_its_algorithm_serves_that_alone() -> None:
    assert places({**RSA.public, "alg": "PS256"}) == {("rsa", "PS256")}


@pytest.mark.parametrize(
    "entry",
    [
        {"kty": "oct", "kid": "k", "k": "c2VjcmV0", "alg": "HS256"},
        {"kty": "oct", "kid": "k", "k": "c2VjcmV0"},
        {**RSA.public, "use": "enc"},
        {**RSA.public, "alg": "HS256"},
        {**RSA.public, "alg": "none"},
        {**RSA.public, "kid": None},
        {**RSA.public, "kid": ""},
        {**RSA.public, "n": 5},
        {**RSA.public, "n": "AQAB"},
        {**RSA.public, "n": "é"},
        SigningKey.rsa("short", 1024).public,
        {**EC.public, "x": "AQAB"},
        {**EC.public, "crv": "secp256k1"},
        {"kty": "EC", "kid": "k"},
        {"kty": "unheard-of", "kid": "k"},
        {},
    ],
    ids=[  # not the entries themselves: keys are new in every process
        *("symmetric", "symmetric of no algorithm", "for encryption", "of a symmetric algorithm", "of no algorithm"),
        *("nameless", "of an empty name", "a number for a modulus", "a short modulus", "no modulus", "1,024 bits"),
        *("off the curve", "another curve", "incomplete", "unheard of", "empty"),
    ],
)
def test_other_keys_are_passed_over(entry: dict[str, Any]) -> None:
    assert places(entry, EC.public) == {("ec", "ES256")}


def test_of_a_private_key_only_the_public_half_is_read() -> None:
    assert places({**EC.public, "d": "not even base64"}) == {("ec", "ES256")}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "is no JSON Web Key Set"),
        ("<html>", "is no JSON Web Key Set"),
        ("[]", "is no JSON Web Key Set"),
        ('{"keys": [1]}', "is no JSON Web Key Set"),
        ("[" * 100_000, "is no JSON Web Key Set"),
        ('{"keys": []}', "holds no public key with an id for RS256, RS384"),
        (key_set(EC, SigningKey.ec("ec")), "holds two keys of the id 'ec' for ES256"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_set_that_cannot_be_used_is_told(content: str, problem: str) -> None:
    with pytest.raises(KeySetError, match=f"^{problem}"):
        parse_keys(content.encode())
