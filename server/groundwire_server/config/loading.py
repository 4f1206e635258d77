"""Reads settings: flags over environment over file over defaults, all checked before anything starts."""

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from pydantic import SecretStr, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import EnvSettingsSource

from groundwire_configuration.rule_words import rule_in_words
from groundwire_configuration.yaml_model import YamlFileError, read_yaml
from groundwire_index.embedding.model_names import without_user
from groundwire_server.config.settings import Settings, SettingsError

_CONFIG_FILE_VARIABLE = "GROUNDWIRE_CONFIG"
_SECRETS = frozenset(name for name, field in Settings.model_fields.items() if field.annotation is SecretStr)


def load_settings(config_file: Path | None, **flags: object) -> Settings:
    """The settings in effect: flags over `GROUNDWIRE_*` over the YAML file over defaults.

    A flag that is None was not given. Without `config_file`, the file that the variable GROUNDWIRE_CONFIG names is
    read, if any. An empty variable counts as unset. Raises SettingsError for a file that cannot be read, an unknown
    setting or a value that breaks its rule.
    """
    variable = os.environ.get(_CONFIG_FILE_VARIABLE)
    if config_file is None and variable:
        config_file = Path(variable)
    from_file = _read_file(config_file) if config_file else {}
    from_environment = EnvSettingsSource(Settings)()
    given_flags = {name: value for name, value in flags.items() if value is not None}
    try:
        return Settings.model_validate({**from_file, **from_environment, **given_flags})
    except ValidationError as error:
        # A default that follows from other settings is no problem of its own when one of these is broken.
        problems = [details for details in error.errors() if details["type"] != "default_factory_not_called"]
        raise SettingsError("\n".join(map(_line, problems))) from None


def _read_file(path: Path) -> Mapping[str, object]:
    try:
        content = read_yaml(path)
    except OSError as error:
        raise SettingsError(f"config: {path}: {error.strerror}") from None
    except YamlFileError as error:
        raise SettingsError(f"config: {path}: {error}") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise SettingsError(f"config: {path}: must hold `setting: value` lines")
    values = {str(name): value for name, value in cast("dict[object, object]", content).items()}
    unknown = [name for name in values if name not in Settings.model_fields]
    if unknown:
        raise SettingsError("\n".join(f"{name}: {path}: {_unknown_rule(name)}" for name in unknown))
    return values


def _unknown_rule(name: str) -> str:
    (nearest,) = difflib.get_close_matches(name, Settings.model_fields, n=1, cutoff=0)
    return f"is no setting; the nearest is {nearest}"


def _line(details: ErrorDetails) -> str:
    """One problem as `setting: value: rule`; rules over several settings bring their own line."""
    rule = rule_in_words(details)
    if not details["loc"]:
        return rule
    setting = ".".join(str(part) for part in details["loc"])
    if setting in _SECRETS:
        return f"{setting}: {rule}"
    shown = without_user(details["input"]) if isinstance(details["input"], str) else details["input"]
    return f"{setting}: {shown!r}: {rule}"
