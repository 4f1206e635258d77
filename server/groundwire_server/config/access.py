"""The identity of callers, and their permissions."""

from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field
from pydantic_settings import NoDecode

from groundwire_server.config.group import SettingsGroup
from groundwire_server.config.values import Names, PathOrUrl, SigningAlgorithm, split_names


class AccessSettings(SettingsGroup):
    """How callers are identified, and which services they get."""

    access_mode: Literal["trusted", "jwt", "mtls"] = "trusted"
    """Where a caller's access comes from: the request itself, a verified token, or a client certificate."""
    access_mapping: Path | None = None
    """YAML file that says what claims (`jwt`) or certificates (`mtls`) grant."""
    jwt_keys: PathOrUrl = ""
    """JSON Web Key Set with the keys that tokens are signed with: a file, or an https URL."""
    jwt_issuer: str = ""
    """The `iss` that tokens must have."""
    jwt_audiences: Names = ()
    """The accepted audiences; a token's `aud` must have one of them."""
    jwt_algorithms: Annotated[
        tuple[SigningAlgorithm, ...], NoDecode, BeforeValidator(split_names), Field(min_length=1)
    ] = get_args(SigningAlgorithm)
    """How tokens may be signed. Symmetric keys and unsigned tokens are never accepted."""
    jwt_leeway_seconds: Annotated[float, Field(ge=0, le=300, allow_inf_nan=False)] = 30
    """How far the issuer's clock may differ from this server's."""
    jwt_max_lifetime_seconds: Annotated[float, Field(ge=60, le=31_536_000, allow_inf_nan=False)] = 86_400
    """How far from now a token may expire at most."""
    jwt_refresh_seconds: Annotated[float, Field(ge=10, le=86_400, allow_inf_nan=False)] = 300
    """How often the keys at a URL are read: the longest that a withdrawn key is still accepted."""
    allow_admin: bool = False
    """True if callers may activate and delete indexes."""
    reflection: bool = True
    """True if gRPC reflection is answered."""
