"""Reads a YAML file of rules that an operator has written, and says what is wrong with it."""

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

STRICT = ConfigDict(extra="forbid", strict=True, frozen=True)
"""No unknown key, no value of another type, no change afterwards."""

Rules = TypeVar("Rules", bound=BaseModel)

_PROBLEMS = {
    "extra_forbidden": "is no key that may stand here; remove it or correct its name",
    "missing": "is required; give it",
}


def read_rules(path: Path, form: type[Rules], example: str) -> Rules:
    """The file's content as the model `form`; `example` names what shows the form.

    Raises OSError when the file cannot be read, and ValueError naming every problem when it is no YAML or not of the
    form.
    """
    content = path.read_bytes()
    try:
        return form.model_validate(yaml.safe_load(content))
    except yaml.YAMLError as error:
        raise ValueError(f"is not YAML: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        raise ValueError("; ".join(_problem(details, example) for details in error.errors())) from None


def _problem(details: ErrorDetails, example: str) -> str:
    """One problem as `place: rule`."""
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in details["loc"]).removeprefix(".")
    rule = _PROBLEMS.get(details["type"])
    if details["type"] == "model_type":
        rule = f"must be a mapping of keys to values; see {example}"
    told = rule or f"is {details['input']!r}; {details['msg'].replace('Input should', 'must')}"
    return f"{place or 'the file'}: {told}"
