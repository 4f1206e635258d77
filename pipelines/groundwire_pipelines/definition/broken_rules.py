"""The rules that models of pipelines state, as messages for those who write the files."""

from collections.abc import Iterable
from typing import get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from groundwire_configuration.rule_words import rule_in_words
from groundwire_pipelines.wording import did_you_mean, listed, refused_text, shown


def keys_below(model: type[BaseModel], path: Iterable[str]) -> Iterable[str]:
    """The keys of the model at a place within a model; numbers in the path, and names that are no keys, are skipped."""
    for name in path:
        field = model.model_fields.get(name)
        model = (None if field is None else _model_in(field.annotation)) or model
    return model.model_fields


def _model_in(annotation: object) -> type[BaseModel] | None:
    """The model that an annotation is or has in it, such as that of the items of a list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)


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
            return refused_text(given, "a text")
        case "value_error":
            return rule_in_words(details)
        case "literal_error":
            # pydantic lists them as 'a', 'b' or 'c'.
            expected = str(details.get("ctx", {})["expected"])
            return f"must be {expected}, not {shown(given)}{did_you_mean(str(given), expected.split(chr(39))[1::2])}"
        case rule if "-" in rule:
            return details["msg"]
        case _:
            return f"{rule_in_words(details)}, not {shown(given)}"
