"""Settings and the keys of steps as their strict models, and what the models refuse as problems at a place."""

import json
from collections.abc import Iterable, Mapping
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from groundwire_pipelines.definition.model import Origin
from groundwire_pipelines.definition.wording import did_you_mean, listed, shown
from groundwire_pipelines.errors import Problem

Model = TypeVar("Model", bound=BaseModel)


def parsed(model: type[Model], values: Mapping[str, JsonValue]) -> Model:
    """Plain values of a file as a strict model.

    They go through JSON, where a list may stand for a tuple and an integer for a float, as a file has no other way.

    Raises:
        pydantic.ValidationError: They break the model's rules.
    """
    return model.model_validate_json(json.dumps(values))


def explained(
    error: ValidationError, where: str, known: Iterable[str], origins: Mapping[str, Origin], fallback: Origin
) -> list[Problem]:
    """One problem for each broken rule.

    Args:
        error: What the model said.
        where: The key path of the model's values, such as `steps.search`.
        known: The keys that may stand there, for near misses.
        origins: Where each value came from.
        fallback: The place to name for what is missing.
    """
    problems: list[Problem] = []
    for details in error.errors(include_url=False):
        path = [where, *map(str, details["loc"])]
        if details["type"] != "missing":
            # A location also names the alternatives of a union, which are no keys of the file.
            while len(path) > 1 and ".".join(path) not in origins:
                path.pop()
        key = ".".join(path)
        place = origins.get(key, fallback)
        problems.append(Problem(place.file, place.line, key, _message(details, known)))
    return problems


def _message(details: ErrorDetails, known: Iterable[str]) -> str:
    given = details["input"]
    match details["type"]:
        case "extra_forbidden":
            name = str(details["loc"][-1])
            return f"unknown key{did_you_mean(name, known) or f'; known are {listed(known)}'}"
        case "missing":
            return "is missing"
        case "string_type":
            return f"must be a text, not {shown(given)}{'; quote it' if isinstance(given, int | float) else ''}"
        case "value_error":
            return details["msg"].removeprefix("Value error, ")
        case "literal_error":
            # pydantic lists them as 'a', 'b' or 'c'.
            expected = str(details.get("ctx", {})["expected"])
            return f"must be {expected}, not {shown(given)}{did_you_mean(str(given), expected.split(chr(39))[1::2])}"
        case _:
            rule = details["msg"].removeprefix("Input should be ")
            rule = {"a valid array": "a list", "a valid object": "a mapping"}.get(rule, rule)
            return f"must be {rule}, not {shown(given)}" if rule != details["msg"] else f"{rule}: {shown(given)}"
