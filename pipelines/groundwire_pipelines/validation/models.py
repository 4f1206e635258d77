"""Converts settings and keys of steps to their strict models, and the models' errors to messages."""

import json
from collections.abc import Iterable, Mapping
from typing import TypeVar, get_args

from pydantic import BaseModel, JsonValue
from pydantic_core import ErrorDetails

from groundwire_pipelines.definition.wording import did_you_mean, listed, shown

Model = TypeVar("Model", bound=BaseModel)


def parsed(model: type[Model], values: Mapping[str, JsonValue]) -> Model:
    """Plain values of a file as a strict model.

    They are validated as JSON, where a list is accepted for a tuple and an integer for a float.

    Raises:
        pydantic.ValidationError: They break the model's rules.
    """
    return model.model_validate_json(json.dumps(values))


def keys_below(model: type[BaseModel], path: Iterable[str]) -> Iterable[str]:
    """The keys of the model at a place within a model; numbers in the path, and names that are no keys, are skipped."""
    for name in path:
        field = model.model_fields.get(name)
        types = () if field is None else (field.annotation, *get_args(field.annotation))
        model = next((kind for kind in types if isinstance(kind, type) and issubclass(kind, BaseModel)), model)
    return model.model_fields


def message_of(details: ErrorDetails, known: Iterable[str], suffix: str = "") -> str:
    """The message for a value, without its place.

    Args:
        details: One error of a model.
        known: The allowed keys, to suggest for misspelt ones.
        suffix: A suffix that the file's keys may have.
    """
    given = details["input"]
    match details["type"]:
        case "extra_forbidden":
            name, names = f"{details['loc'][-1]}{suffix}", [f"{key}{suffix}" for key in known]
            return f"unknown key{did_you_mean(name, names) or f'; known are {listed(names)}'}"
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
        case rule if "-" in rule:
            return details["msg"]
        case _:
            rule = details["msg"].removeprefix("Input should be ")
            rule = {"a valid array": "a list", "a valid object": "a mapping"}.get(rule, rule)
            return f"must be {rule}, not {shown(given)}" if rule != details["msg"] else f"{rule}: {shown(given)}"
