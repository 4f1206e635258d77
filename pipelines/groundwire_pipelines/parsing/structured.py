"""Answers that are JSON, as a JSON Schema wants them."""

import json
from collections.abc import Mapping
from typing import Final, NoReturn

from jsonschema import Draft202012Validator, SchemaError
from jsonschema.exceptions import best_match
from pydantic import JsonValue
from referencing import Registry
from referencing.exceptions import Unresolvable

from groundwire_pipelines.definition.wording import shown
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.parsing.jsonish import unfenced

_QUOTED_CHARACTERS: Final = 300
"""The most characters of a validator's message that ours quotes; it may hold the whole schema."""


def schema_problem(schema: Mapping[str, JsonValue]) -> str:
    """What is wrong with a JSON Schema (draft 2020-12), empty where nothing is.

    References may lead to places of the same schema only.
    """
    try:
        Draft202012Validator.check_schema(schema)
        _validator(schema).is_valid(None)
    except SchemaError as error:
        return f"no JSON Schema: {error.message[:_QUOTED_CHARACTERS]} at {error.json_path}"
    except Unresolvable as error:
        return f"no whole JSON Schema: {str(error)[:_QUOTED_CHARACTERS]}"
    except RecursionError:
        return "no JSON Schema: it refers to itself without end"
    return ""


def read_structured(text: str, schema: Mapping[str, JsonValue]) -> JsonValue:
    """The value that an answer states; a code fence around it is taken off.

    Raises:
        StepError: `response-malformed`, when it is no JSON; `response-mismatched`, when the schema refuses it.
    """
    try:
        value: JsonValue = json.loads(unfenced(text.strip()), parse_constant=_no_json)
        wrong = best_match(_validator(schema).iter_errors(value))
    except ValueError as error:
        raise StepError("response-malformed", f"the answer must be JSON, and is none: {error}") from error
    except RecursionError as error:
        raise StepError("response-malformed", "the answer must be JSON, and is nested too deep to be read") from error
    except Unresolvable as error:
        raise StepError("response-mismatched", f"the schema refers to what it does not hold: {error}") from error
    if wrong is not None:
        # The validator's own message quotes the answer; what is refused is shown to nobody but a trace with texts.
        rule = f"{wrong.validator}: {shown(wrong.validator_value)}"
        raise StepError("response-mismatched", f"the answer does not match its schema at {wrong.json_path}: {rule}")
    return value


def _validator(schema: Mapping[str, JsonValue]) -> Draft202012Validator:
    # An empty registry: nothing is fetched, wherever a reference leads.
    return Draft202012Validator(dict(schema), registry=Registry())


def _no_json(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
