"""A JSON Web Key Set (RFC 7517): which key verifies a token that names key and algorithm."""

from collections.abc import Mapping
from itertools import chain
from typing import Any, TypeAlias

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWK
from jwt.exceptions import PyJWTError
from pydantic import BaseModel, ConfigDict, Field, ValidationError

KeyTable: TypeAlias = Mapping[tuple[str, str], PyJWK]
"""Keys by key id and algorithm."""

MIN_RSA_BITS = 2_048
_RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_BY_KIND: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("RSA", ""): _RSA,
    ("EC", "P-256"): ("ES256",),
    ("EC", "P-384"): ("ES384",),
    ("EC", "P-521"): ("ES512",),
    ("OKP", "Ed25519"): ("EdDSA",),
}
"""By type and curve: only public keys, so that a server that verifies tokens cannot sign them."""
ALGORITHMS = tuple(chain.from_iterable(_BY_KIND.values()))


class KeySetError(Exception):
    """A key set that cannot be used, and why."""


class _Key(BaseModel):
    """The public members of a key; all others, private ones among them, are ignored."""

    model_config = ConfigDict(strict=True, frozen=True)

    kid: str = Field(min_length=1)
    kty: str
    alg: str | None = None
    use: str = "sig"
    crv: str = ""
    n: str = ""
    e: str = ""
    x: str = ""
    y: str = ""


class _KeySet(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)

    keys: list[dict[str, Any]]


def parse_keys(content: bytes) -> KeyTable:
    """The usable keys of a set for each algorithm that they may be used with.

    Keys that are symmetric, for encryption, too short, without an id or otherwise unusable are ignored, as RFC 7517 §5
    asks. Raises KeySetError for anything but a set, for one without a usable key, and for two keys of the same id and
    algorithm.
    """
    try:
        listed = _KeySet.model_validate_json(content).keys
    except ValidationError:
        raise KeySetError("is no JSON Web Key Set; give one, such as the issuer's jwks_uri names") from None
    table: dict[tuple[str, str], PyJWK] = {}
    for entry in listed:
        for place, key in _usable(entry):
            if place in table:
                raise KeySetError(f"holds two keys of the id {place[0]!r} for {place[1]}; give each its own id")
            table[place] = key
    if not table:
        raise KeySetError(f"holds no public key with an id for {', '.join(ALGORITHMS)}")
    return table


def _usable(entry: dict[str, Any]) -> list[tuple[tuple[str, str], PyJWK]]:
    try:
        key = _Key.model_validate(entry)
    except ValidationError:
        return []
    suited = _BY_KIND.get((key.kty, "" if key.kty == "RSA" else key.crv), ())
    if key.use != "sig":
        return []
    members = key.model_dump(exclude={"alg", "use"}, exclude_defaults=True)
    try:
        return [
            ((key.kid, algorithm), _loaded(members, algorithm)) for algorithm in suited if key.alg in (None, algorithm)
        ]
    except (PyJWTError, UnsupportedAlgorithm, ValueError):
        return []


def _loaded(members: dict[str, Any], algorithm: str) -> PyJWK:
    key = PyJWK(members, algorithm)
    if isinstance(key.key, RSAPublicKey) and key.key.key_size < MIN_RSA_BITS:
        raise ValueError("too short to be safe")
    return key
