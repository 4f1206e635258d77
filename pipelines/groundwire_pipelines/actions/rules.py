"""Rules about the keys of a step, each with the stable name that a broken one is reported by."""

from enum import StrEnum
from typing import LiteralString, TypeVar

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

_MAX_RRF_K = 1_000_000
_Choice = TypeVar("_Choice", bound=StrEnum)


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
    raise broken(rule, f"{value!r} is unknown: use one of {', '.join(choices)}")


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
