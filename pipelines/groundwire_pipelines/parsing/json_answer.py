"""Parses JSON answers and checks them with a JSON Schema."""

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from itertools import count
from math import isfinite
from typing import Final, NoReturn, TypeAlias

from jsonschema import Draft202012Validator, SchemaError, ValidationError
from jsonschema.exceptions import best_match
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from pydantic import JsonValue
from referencing import Registry
from referencing.exceptions import Unresolvable

from groundwire_pipelines.errors import StepError
from groundwire_pipelines.parsing.tolerant_json import unfenced
from groundwire_pipelines.wording import shown

_Check: TypeAlias = Callable[[Validator, JsonValue, JsonValue, JsonValue], Iterable[ValidationError]]
"""The function that checks one keyword; its arguments are the validator, the keyword's value, the instance, and the
schema."""

_QUOTED_CHARACTERS: Final = 300
"""The most characters that an error message quotes of the validator's message or of a path in an answer."""
MAX_NESTING: Final = 64
"""The deepest nesting of an answer; everything that reads it later, traces too, can handle this depth."""
MAX_REFERENCES: Final = 50_000
"""The most references of a schema that are followed for one answer. Alternatives that refer to their own schema double
the work with every level of an answer, and a check that has begun cannot be stopped otherwise.
"""


def schema_problem(schema: Mapping[str, JsonValue]) -> str:
    """The problem of a JSON Schema (draft 2020-12); empty if there is none.

    References may only lead to the same schema.
    """
    try:
        Draft202012Validator.check_schema(schema)
        _validator(schema, MAX_REFERENCES).is_valid(None)
    except SchemaError as error:
        return f"no JSON Schema: {error.message[:_QUOTED_CHARACTERS]} at {error.json_path}"
    except Unresolvable as error:
        return f"no whole JSON Schema: {str(error)[:_QUOTED_CHARACTERS]}"
    except RecursionError:
        return "no JSON Schema: it refers to itself without end"
    except ValueError as error:  # a reference that is no URI
        return f"no JSON Schema: {str(error)[:_QUOTED_CHARACTERS]}"
    return ""


def read_structured(text: str, schema: Mapping[str, JsonValue], max_references: int = MAX_REFERENCES) -> JsonValue:
    """The value of an answer; a code fence around it is removed.

    Raises:
        StepError: `response-malformed`, when it is no JSON, nested deeper than MAX_NESTING or holds half of a surrogate
            pair; `response-mismatched`, when the schema refuses it, or the check takes more than `max_references`.
    """
    value = _value(text)
    try:
        wrong = best_match(_validator(schema, max_references).iter_errors(value))
    except RecursionError as error:
        raise StepError("response-malformed", "the answer is nested too deep to be checked") from error
    except OverflowError as error:
        raise StepError("response-mismatched", "the answer holds a number too large to be checked") from error
    except Unresolvable as error:
        raise StepError("response-mismatched", f"the schema refers to what it does not hold: {error}") from error
    if wrong is not None:
        # The validator's own message quotes the answer; a refused answer appears only in a trace with texts.
        rule = f"{wrong.validator}: {shown(wrong.validator_value)}"
        place = wrong.json_path[:_QUOTED_CHARACTERS]
        raise StepError("response-mismatched", f"the answer does not match its schema at {place}: {rule}")
    return value


def _value(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(unfenced(text.strip()), parse_constant=_no_json, parse_float=_finite)
    except ValueError as error:
        raise StepError("response-malformed", f"the answer must be JSON, and is none: {error}") from error
    except RecursionError as error:
        raise _nested_too_deep() from error
    if _is_deeper(value, MAX_NESTING):
        raise _nested_too_deep()
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise StepError("response-malformed", "the answer holds half of a surrogate pair, which is no text") from error
    return value


def _nested_too_deep() -> StepError:
    return StepError("response-malformed", f"the answer is nested too deep: at most {MAX_NESTING} levels are read")


def _is_deeper(value: JsonValue, most: int) -> bool:
    """True if lists and objects are nested deeper than a limit."""
    if not isinstance(value, list | dict):
        return False
    inside = value.values() if isinstance(value, dict) else value
    return most == 0 or any(_is_deeper(inner, most - 1) for inner in inside)


def _validator(schema: Mapping[str, JsonValue], max_references: int) -> Draft202012Validator:
    """A validator for one answer whose work is linear in the answer's size."""
    followed = count(1)

    def counted(keyword: str) -> _Check:
        follow: _Check = Draft202012Validator.VALIDATORS[keyword]

        def check(
            validator: Validator, target: JsonValue, value: JsonValue, within: JsonValue
        ) -> Iterator[ValidationError]:
            if next(followed) > max_references:
                raise StepError(
                    "response-mismatched",
                    f"the check of the answer against its schema did not end after {max_references} references: "
                    "let alternatives refer to different definitions",
                )
            yield from follow(validator, target, value, within)

        return check

    counting = {keyword: counted(keyword) for keyword in ("$ref", "$dynamicRef")}
    kind: type[Draft202012Validator] = extend(  # type: ignore[no-untyped-call]
        Draft202012Validator, {**counting, "uniqueItems": _unique_items}
    )
    # With `$schema`, a reference to the whole schema would use the validator that is registered for it. The registry is
    # empty, so nothing is fetched, wherever a reference leads.
    return kind({key: value for key, value in schema.items() if key != "$schema"}, registry=Registry())


def _unique_items(
    validator: Validator, wanted: JsonValue, value: JsonValue, within: JsonValue
) -> Iterator[ValidationError]:
    """Like the validator's own check, but without comparing every item with every other."""
    if wanted and isinstance(value, list) and len({_identity(item) for item in value}) < len(value):
        yield ValidationError("has items that are equal")


def _identity(value: JsonValue) -> Hashable:
    """A key that is equal for values that are equal as JSON: 1 and 1.0 are, 1 and true are not."""
    if isinstance(value, list):
        return ("list", *map(_identity, value))
    if isinstance(value, dict):
        return frozenset((key, _identity(inner)) for key, inner in value.items())
    return isinstance(value, bool), value


def _finite(digits: str) -> float:
    number = float(digits)
    return number if isfinite(number) else _no_json(digits)


def _no_json(name: str) -> NoReturn:
    raise ValueError(f"{name[:_QUOTED_CHARACTERS]} is no number of JSON")
