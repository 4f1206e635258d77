"""How messages about pipeline files name values and suggest names."""

import difflib
import json
from collections.abc import Iterable

_SHOWN_CHARACTERS = 60


def did_you_mean(name: str, known: Iterable[str], prefix: str = "") -> str:
    """`; did you mean 'top_k'?` for the known name nearest to `name`; "" if none is near.

    `prefix` is written before the names, such as `walk.`.
    """
    near = difflib.get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {prefix + near[0]!r}?" if near else ""


def listed(names: Iterable[str]) -> str:
    """Names as a message lists them, in their order: `'a', 'b'`; `none` if there are none."""
    return ", ".join(map(repr, names)) or "none"


def shown(value: object) -> str:
    """A JSON-like value as YAML on one line, cut after 60 characters."""
    text = json.dumps(value, default=str)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."


def refused_text(value: object, meaning: str) -> str:
    """The message for a value that is not the text that it should be, such as `the id of a step`."""
    return f"must be {meaning}, not {shown(value)}{'; quote it' if isinstance(value, int | float) else ''}"
