"""Texts of the command line: those of a server made safe for a terminal, and values of options read."""

import json
from typing import NoReturn

_CONTROL_PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {127: 0x2421}
_C1_CONTROLS = dict.fromkeys(range(128, 160), 0xFFFD)
_REPLACEMENTS = _CONTROL_PICTURES | _C1_CONTROLS


def printable(text: str) -> str:
    """`text` with control characters as visible signs, so that indexed sources cannot steer the reader's terminal.

    Tabs and line feeds stay; a carriage return before a line feed goes.
    """
    return text.replace("\r\n", "\n").translate(_REPLACEMENTS)


def json_or_text(value: str) -> object:
    """The value of an option such as `--filter KEY=VALUE`: JSON, or the text itself where it is none.

    Text also where no reader could take the number or the nesting.
    """
    try:
        parsed: object = json.loads(value, parse_constant=_no_json)
    except (ValueError, RecursionError):
        return value
    return parsed


def _no_json(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
