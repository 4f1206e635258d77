"""The value of an unquoted scalar, by the core schema of YAML 1.2: `on`, `yes`, `2025-12-14` and `12:30` are texts."""

import math
import re

from groundwire_pipelines.definition.values import Scalar

_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_BASES = {"0o": 8, "0x": 16}
_MAX_INTEGER_LENGTH = 20


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
