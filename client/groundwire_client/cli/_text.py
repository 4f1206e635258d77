"""Values of options, read."""

import json
from typing import NoReturn


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
