"""Where the indexes are. The settings of the backends come from their records."""

from pathlib import Path
from typing import TYPE_CHECKING, Self

from pydantic import SecretStr, create_model, model_validator

from groundwire_index.backends import DEFAULT_BACKEND, SETTINGS, checked
from groundwire_index.storage import Values
from groundwire_server.config.group import SettingsGroup

_OF_SERVERS = [setting for setting in SETTINGS.values() if not setting.builds]


class _Storage(SettingsGroup):
    """The data folder, and the backend."""

    data: Path = Path("groundwire-data")
    """The folder that holds the indexes."""

    backend: str = DEFAULT_BACKEND
    """The storage of the indexes, by the name of its backend."""

    def backend_values(self) -> Values:
        """The values of the backend's settings. Raises OptionError."""
        plain = {own.name: getattr(self, own.name) for own in _OF_SERVERS}
        plain |= {name: value.get_secret_value() for name, value in plain.items() if isinstance(value, SecretStr)}
        return checked(self.backend, plain)

    @model_validator(mode="after")
    def _check_backend(self) -> Self:
        self.backend_values()
        return self


if TYPE_CHECKING:
    StorageSettings = _Storage
else:
    _FIELDS = {
        own.name: (SecretStr, SecretStr(own.default)) if own.secret else (own.type | type(own.default), own.default)
        for own in _OF_SERVERS
    }
    StorageSettings = create_model("StorageSettings", __base__=_Storage, **_FIELDS)
