"""JSON-like values with the line that they were read from, and the values of unquoted scalars.

An unquoted scalar is read by the core schema of YAML 1.2: `on`, `yes`, `2025-12-14` and `12:30` are texts.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from pydantic import JsonValue

Scalar: TypeAlias = str | int | float | bool | None

MAX_DEPTH: Final = 32
"""How deep lists and mappings may be nested."""
_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_BASES = {"0o": 8, "0x": 16}
_MAX_INTEGER_LENGTH = 20


@dataclass(frozen=True, slots=True)
class Origin:
    """The place in a file that a value was read from. `line` is 1-based; settings given at run time have no file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Located:
    """A value of a file, with the line of its key, or its own line if it has no key."""

    value: "Scalar | tuple[Located, ...] | Mapping[str, Located]"
    origin: Origin

    def plain(self) -> JsonValue:
        """The value without its lines."""
        if isinstance(self.value, Mapping):
            return {key: entry.plain() for key, entry in self.value.items()}
        if isinstance(self.value, tuple):
            return [item.plain() for item in self.value]
        return self.value

    @property
    def entries(self) -> "Mapping[str, Located]":
        """The entries of a mapping. Raises TypeError, a defect, for another value."""
        if not isinstance(self.value, Mapping):
            raise TypeError(f"bug: the value at {self.origin} is no mapping")
        return self.value

    def innermost(self, place: Iterable[int | str]) -> "Located":
        """The value at a place, given by keys and numbers; if there is none, the innermost value around the place."""
        value = self
        for key in place:
            if isinstance(value.value, Mapping) and str(key) in value.value:
                value = value.value[str(key)]
            elif isinstance(value.value, tuple) and isinstance(key, int) and key < len(value.value):
                value = value.value[key]
            else:
                break
        return value


def located(value: JsonValue, origin: Origin, most_levels: int = MAX_DEPTH) -> Located:
    """A plain value that comes from one place as a whole. Raises ValueError if it is nested too deeply."""
    if most_levels < 0:
        raise ValueError(f"is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, dict):
        return Located({key: located(entry, origin, most_levels - 1) for key, entry in value.items()}, origin)
    if isinstance(value, list):
        return Located(tuple(located(item, origin, most_levels - 1) for item in value), origin)
    return Located(value, origin)


def unquoted(text: str) -> Scalar:
    """The value of an unquoted scalar.

    Raises:
        ValueError: It is a number that JSON does not have, or an integer of more than 20 characters.
    """
    if text in _NULL:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text):
        if len(text) > _MAX_INTEGER_LENGTH:
            raise ValueError("the number is too large")
        return int(text, _BASES.get(text[:2], 10))
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"{text} is no finite number")
    if _FLOAT.fullmatch(text):
        number = float(text)
        if not math.isfinite(number):
            raise ValueError("the number is too large")
        return number
    return text
