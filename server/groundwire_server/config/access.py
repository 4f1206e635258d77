"""The identity of callers, and their permissions."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from groundwire_server.config.group import SettingsGroup
from groundwire_server.config.values import Names, PathOrUrl


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
    jwt_max_lifetime_seconds: Annotated[float, Field(ge=60, le=31_536_000, allow_inf_nan=False)] = 86_400
    """How far from now a token may expire at most."""
    allow_admin: bool = False
    """True if callers may activate and delete indexes."""
    reflection: bool = True
    """True if gRPC reflection is answered."""
