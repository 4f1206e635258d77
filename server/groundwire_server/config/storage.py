"""Where the indexes are."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, model_validator

from groundwire_index.milvus.address import SECONDS as MILVUS_SECONDS
from groundwire_index.milvus.address import MilvusAddress, check_ca, token_in
from groundwire_server.config.group import SettingsError, SettingsGroup
from groundwire_server.config.values import DeadlineSeconds, OptionalMilvusUri, Token

_MILVUS_SETTINGS = (
    "milvus_uri",
    "milvus_database",
    "milvus_token_file",
    "milvus_token",
    "milvus_ca",
    "milvus_seconds",
)


class StorageSettings(SettingsGroup):
    """The data folder, or Milvus."""

    data: Path = Path("groundwire-data")
    """The folder that holds the indexes."""

    backend: Literal["embedded", "milvus"] = "embedded"
    """The storage of the indexes: the data folder itself, or Milvus."""
    milvus_uri: OptionalMilvusUri = ""
    """Where Milvus is, `http://HOST:PORT` or `https://HOST:PORT`."""
    milvus_database: Annotated[str, Field(min_length=1)] = "default"
    """The database of Milvus that holds the indexes."""
    milvus_token_file: Path | None = None
    """File of the token that Milvus asks for: `user:password`, or an API key."""
    milvus_token: Token = SecretStr("")
    """The token itself, for deployments that pass secrets in the environment; never logged."""
    milvus_ca: Path | None = None
    """PEM file of the CAs that https to Milvus trusts; the usual ones without it."""
    milvus_seconds: DeadlineSeconds = MILVUS_SECONDS
    """How long Milvus may take to answer one request."""

    @model_validator(mode="after")
    def _check_milvus(self) -> Self:
        """The settings of Milvus are for the backend of that name, which needs an address."""
        if self.backend == "milvus" and not self.milvus_uri:
            raise ValueError("milvus_uri: must be given with the backend milvus")
        for setting in _MILVUS_SETTINGS:
            if self.backend != "milvus" and getattr(self, setting) != type(self).model_fields[setting].default:
                raise ValueError(f"{setting}: has no use with the backend {self.backend}; set backend")
        if self.milvus_token_file is not None and self.milvus_token.get_secret_value():
            raise ValueError("milvus_token: must not be given together with milvus_token_file")
        return self

    def milvus_address(self) -> MilvusAddress:
        """How to speak to Milvus, for the backend of that name. Raises SettingsError for a file that is no use."""
        file, ca = self.milvus_token_file, self.milvus_ca
        token = self.milvus_token.get_secret_value()
        return MilvusAddress(
            uri=self.milvus_uri,
            database=self.milvus_database,
            token=token if file is None else _usable("milvus_token_file", token_in, file),
            ca=None if ca is None else _usable("milvus_ca", partial(check_ca, self.milvus_uri), ca),
            seconds=self.milvus_seconds,
        )


def _usable(setting: str, rule: Callable[[Path], str], file: Path) -> str:
    try:
        return rule(file)
    except ValueError as error:
        raise SettingsError(f"{setting}: {file}: {error}") from None
