"""Rules about the keys of a step; a broken rule is reported by its stable name."""

from collections.abc import Iterable
from typing import LiteralString

from pydantic import BeforeValidator, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

_MAX_RRF_K = 2**31 - 1
"""The greatest number that the field of the request holds."""


def broken(rule: LiteralString, message: str) -> PydanticCustomError:
    """The validation error of a broken rule; `rule` is kebab-case."""
    return PydanticCustomError(rule, "{message}", {"message": message})


class OneOf:
    """A validator: the value must be one of the names, in any case, such as the `choices` of an enum."""

    def __init__(self, names: Iterable[str], rule: LiteralString) -> None:
        self._names = list(names)
        self._rule: LiteralString = rule

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self.checked, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"enum": self._names, "type": "string"}

    def checked(self, value: object) -> object:
        """Returns the name as it is written here. Raises a validation error for none of them."""
        name = value.lower() if isinstance(value, str) else value
        if name not in self._names:
            raise broken(self._rule, f"{value!r} is unknown: use one of {', '.join(self._names)}")
        return name


def check_rrf_k(rrf_k: int | None) -> None:
    """The constant of reciprocal rank fusion must be 1 or more, whether or not the step uses it."""
    if rrf_k is not None and rrf_k < 1:
        raise broken("rrf-k-not-positive", f"rrf_k ({rrf_k}) is too small: it must be 1 or more")
    if rrf_k is not None and rrf_k > _MAX_RRF_K:
        raise broken("rrf-k-too-great", f"rrf_k ({rrf_k}) is too great: it must be {_MAX_RRF_K:,} or less")


def at_least_one(rule: LiteralString) -> BeforeValidator:
    """A number must be 1 or more."""

    def check(value: object) -> object:
        if isinstance(value, int) and value < 1:
            raise broken(rule, f"{value} is too small: it must be 1 or more")
        return value

    return BeforeValidator(check)
