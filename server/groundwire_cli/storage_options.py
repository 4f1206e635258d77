"""Where the commands find indexes: options that they share with the settings, made from the records of the backends."""

import functools
import inspect
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any

import typer

from groundwire_cli.options import DEFAULT_DATA, EXIT_USAGE, Data, fail
from groundwire_index.backends import BACKENDS, DEFAULT_BACKEND, SETTINGS, checked
from groundwire_index.storage import OptionError, Setting, Storage, Values

_BACKEND = Setting("backend", str, DEFAULT_BACKEND, f"The storage of indexes: {' or '.join(BACKENDS)}.")
_OPTIONS = [_BACKEND, *(setting for setting in SETTINGS.values() if not setting.secret)]
_SERVED = [setting for setting in _OPTIONS if not setting.builds]
STORAGE_OPTIONS = ("data", *(setting.name for setting in _OPTIONS))
"""The names of the options that say where indexes are."""


@dataclass(frozen=True, slots=True)
class Place:
    """The data folder, and the backend that holds the indexes, with the values of its settings."""

    data: Path
    backend: str
    values: Values

    def open(self) -> Storage:
        """The storage, which is asked nothing yet; ends the command where an option cannot be used."""
        try:
            return BACKENDS[self.backend].storage(self.data, self.values)
        except OptionError as error:
            fail(str(error), EXIT_USAGE)


def with_storage(command: Callable[..., None], *, builds: bool = False) -> Callable[..., None]:
    """Gives a command, in place of its argument `place`, the options that say where indexes are.

    With `builds` also those that shape a build.
    """
    options = [_option(setting, setting.default, _variable(setting)) for setting in (_OPTIONS if builds else _SERVED)]
    data = Parameter("data", Parameter.KEYWORD_ONLY, default=DEFAULT_DATA, annotation=Data)
    return _in_place_of("place", command, [data, *options], _place)


def with_storage_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command, in place of its argument `storage`, flags of these settings: the values that are given."""
    return _in_place_of("storage", command, [_option(setting, None) for setting in _SERVED], dict)


def _option(setting: Setting, default: object, variable: str | None = None) -> Parameter:
    shown = typer.Option(envvar=variable, help=setting.meaning)
    annotation: object = Annotated[setting.type | None if default is None else setting.type, shown]
    return Parameter(setting.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _in_place_of(
    argument: str, command: Callable[..., None], options: Sequence[Parameter], made: Callable[..., object]
) -> Callable[..., None]:
    """The command with options in place of an argument, which is made of their values."""
    signature = inspect.signature(command, eval_str=True)
    kept = [parameter for name, parameter in signature.parameters.items() if name != argument]

    @functools.wraps(command)
    def run(**values: object) -> None:
        of_options = {option.name: values.pop(option.name) for option in options}
        command(**values, **{argument: made(**of_options)})

    run.__signature__ = signature.replace(parameters=[*kept, *options])  # type: ignore[attr-defined]
    return run


def _place(data: Path, backend: str, **values: Any) -> Place:  # noqa: ANN401 - each has the type of its setting
    """The place; ends the command for values that break a rule."""
    secrets = {
        name: os.environ.get(_variable(setting), setting.default)
        for name, setting in SETTINGS.items()
        if setting.secret
    }
    try:
        return Place(data, backend, checked(backend, values | secrets, others=True))
    except OptionError as error:
        fail(str(error), EXIT_USAGE)


def _variable(setting: Setting) -> str:
    return f"GROUNDWIRE_{setting.name.upper()}"
