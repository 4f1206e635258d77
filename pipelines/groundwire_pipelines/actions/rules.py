"""Rules about the keys of a step, each with the stable name that a broken one is reported by."""

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, LiteralString, TypeVar

from pydantic import BeforeValidator, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from groundwire_client import choices

if TYPE_CHECKING:  # generic to type checkers alone
    from google.protobuf.internal.enum_type_wrapper import _EnumTypeWrapper as EnumTypeWrapper

_MAX_RRF_K = 1_000_000
_Choice = TypeVar("_Choice", bound=StrEnum)
_Value = TypeVar("_Value", bound=int)


def broken(rule: LiteralString, message: str) -> PydanticCustomError:
    """The error of a validator whose rule is broken; `rule` is kebab-case."""
    return PydanticCustomError(rule, "{message}", {"message": message})


def one_of(choices: type[_Choice], rule: LiteralString) -> BeforeValidator:
    """The value must be one of the names of `choices`."""
    return BeforeValidator(lambda value: choice_of(choices, rule, value))


def choice_of(choices: type[_Choice], rule: LiteralString, value: object) -> _Choice:
    """The choice of that name. Raises the error of a validator where there is none."""
    for choice in choices:
        if value == choice.value:
            return choice
    raise _unknown(rule, value, choices)


class NameIn:
    """The value must be the short name of a value of an enum of the contract, such as `bm25` for SEARCH_TYPE_BM25."""

    def __init__(self, enum: "EnumTypeWrapper[_Value]", rule: LiteralString) -> None:
        self._names, self._rule = list(choices(enum)), rule

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"enum": self._names, "type": "string"}

    def _checked(self, value: object) -> object:
        if value not in self._names:
            raise _unknown(self._rule, value, self._names)
        return value


def _unknown(rule: LiteralString, value: object, names: Iterable[str]) -> PydanticCustomError:
    return broken(rule, f"{value!r} is unknown: use one of {', '.join(names)}")


def check_rrf_k(rrf_k: int | None) -> None:
    """The constant of a fusion by reciprocal rank that takes place must be of 1 to 1,000,000."""
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
