"""Reads the file that says what callers are granted. It is read once, before the server answers anything."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from groundwire_server.config import SettingsError

STRICT = ConfigDict(extra="forbid", strict=True, frozen=True)

Model = TypeVar("Model", bound=BaseModel)

_RULES = {
    "extra_forbidden": "is no key here; remove it or correct its name",
    "missing": "is required; give it",
    "model_type": "must be a mapping of keys to values",
}


def read_mapping(path: Path, model: type[Model]) -> Model:
    """The file's content. Raises SettingsError naming every problem, one a line."""
    try:
        return model.model_validate(yaml.load(path.read_bytes(), _UniqueKeyLoader))
    except OSError as error:
        raise _unusable(path, f"{error.strerror}; give a readable YAML file") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise _unusable(path, f"is not YAML: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        raise SettingsError("\n".join(str(_unusable(path, _problem(details))) for details in error.errors())) from None


class _UniqueKeyLoader(yaml.SafeLoader):
    """YAML lets the last of two equal keys win without a word; who is granted what must not hang on that."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        for key in keys:
            if keys.count(key) > 1:
                problem = f"the key {key!r} stands twice in one mapping"
                raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
        return super().construct_mapping(node, deep)


def _unusable(path: Path, problem: str) -> SettingsError:
    return SettingsError(f"access_mapping: {path}: {problem}")


def _problem(details: ErrorDetails) -> str:
    """One problem as `place: rule`."""
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in details["loc"]).removeprefix(".")
    message = details["msg"].removeprefix("Value error, ").replace("Input should", "must")
    rule = _RULES.get(details["type"]) or f"{details['input']!r}: {message}"
    return f"{place or 'the file'}: {rule}"
