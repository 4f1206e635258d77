"""Signs tokens as an identity provider does, and publishes the keys to verify them with."""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

ISSUER = "https://issuer.example"
AUDIENCE = "groundwire"
Claims = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key, its id, and how it signs."""

    key_id: str
    algorithm: str
    private: Any

    @classmethod
    def ec(cls, key_id: str) -> Self:
        """A new key for ES256."""
        return cls(key_id, "ES256", ec.generate_private_key(ec.SECP256R1()))

    @classmethod
    def ed25519(cls, key_id: str) -> Self:
        """A new key for EdDSA."""
        return cls(key_id, "EdDSA", ed25519.Ed25519PrivateKey.generate())

    @classmethod
    def rsa(cls, key_id: str, bits: int = 2048, algorithm: str = "RS256") -> Self:
        """A new RSA key."""
        return cls(key_id, algorithm, rsa.generate_private_key(65537, bits))

    @property
    def public(self) -> dict[str, Any]:
        """The public key as a JSON Web Key, as most providers write it: without `alg`."""
        kinds: dict[str, Any] = {"ES": ECAlgorithm, "Ed": OKPAlgorithm, "RS": RSAAlgorithm, "PS": RSAAlgorithm}
        members = kinds[self.algorithm[:2]].to_jwk(self.private.public_key(), as_dict=True)
        return {**members, "kid": self.key_id, "use": "sig"}

    def token(self, headers: dict[str, Any] | None = None, **claims: Any) -> str:
        """A token that is valid for five minutes unless the claims say otherwise; a claim of None is left out."""
        now = int(time.time())
        standard: Claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "someone", "iat": now, "exp": now + 300}
        payload = {name: value for name, value in {**standard, **claims}.items() if value is not None}
        return jwt.encode(payload, self.private, self.algorithm, {"kid": self.key_id, **(headers or {})})


def key_set(*keys: SigningKey) -> str:
    """The keys as a JSON Web Key Set."""
    return json.dumps({"keys": [key.public for key in keys]})


def bearer(token: str) -> tuple[tuple[str, str]]:
    """The metadata that carries a token."""
    return (("authorization", f"Bearer {token}"),)


def token_environment(folder: Path, key: SigningKey, mapping: str) -> dict[str, str]:
    """The environment of a server that demands tokens of a key, which grant what a mapping says; its files go there."""
    (folder / "keys.json").write_text(key_set(key), encoding="utf-8")
    (folder / "mapping.yaml").write_text(mapping, encoding="utf-8")
    return {
        "GROUNDWIRE_ACCESS_MODE": "jwt",
        "GROUNDWIRE_ACCESS_MAPPING": str(folder / "mapping.yaml"),
        "GROUNDWIRE_JWT_KEYS": str(folder / "keys.json"),
        "GROUNDWIRE_JWT_ISSUER": ISSUER,
        "GROUNDWIRE_JWT_AUDIENCES": AUDIENCE,
    }
