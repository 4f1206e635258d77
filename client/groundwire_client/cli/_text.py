"""Texts of the command line: those of a server made safe for a terminal, and values of options read."""

import json
from typing import NoReturn

_CONTROL_PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {127: 0x2421}
_C1_CONTROLS = range(128, 160)
_DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SURROGATES = range(0xD800, 0xE000)
_REPLACEMENTS = _CONTROL_PICTURES | dict.fromkeys((*_C1_CONTROLS, *_DIRECTIONS, *_SURROGATES), 0xFFFD)


def printable(text: str) -> str:
    """A text that shows what it holds: every output for people has what a server, a file or a model says from here.

    Control characters become visible signs, so that no text steers the reader's terminal. So do characters that change
    the direction of writing, which would show another text than there is, and halves of surrogate pairs, which UTF-8
    has none of. Tabs and line feeds stay; a carriage return before a line feed goes.
    """
    return text.replace("\r\n", "\n").translate(_REPLACEMENTS)


def one_line(text: str) -> str:
    """As `printable`, without line breaks: for labels, messages and cells of a table."""
    return printable(" ".join(text.split()))


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
