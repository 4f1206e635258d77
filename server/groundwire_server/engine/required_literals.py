"""Finds literals that each match of a regular expression holds, so that a search can leave out texts without them."""

import re

_TOKEN = re.compile(
    r"""
    \\(?P<escaped>[^a-zA-Z0-9_])
    | (?P<other_escape>\\.)
    | (?P<characters>\[\^?\]?(?:\\.|[^\]\\])*\]?)
    | (?P<count>\{\d*(?:,\d*)?\})
    | (?P<operator>[()|*?+.^$])
    | (?P<plain>.)
    """,
    re.DOTALL | re.VERBOSE,
)
_CHANGES_THE_REST = re.compile(r"\\[^a-zA-Z0-9_]|(?P<change>\\[^dDwWsSaftnrvAzbB]|\(\?(?!:|P<)|\[:)", re.DOTALL)
"""Finds `\\Q`, which quotes, flags such as `(?i)`, escapes of several characters, such as `\\x41`, and `[:alpha:]`."""


def required_literals(expression: str) -> tuple[str, ...]:
    """Literals of which each match holds at least one; empty if none are known.

    One literal for each alternative, the longest outside of groups. Parts that may be missing in a match do not count.

    Args:
        expression: A regular expression that RE2 has accepted.
    """
    if any(escape["change"] for escape in _CHANGES_THE_REST.finditer(expression)):
        return ()
    alternatives = [[""]]
    depth = 0
    for token in _TOKEN.finditer(expression):
        literals, kind, text = alternatives[-1], token.lastgroup, token[0]
        if kind == "operator":
            depth += (text == "(") - (text == ")")
        if depth == 0 and kind in ("plain", "escaped"):
            literals[-1] += token["plain"] or token["escaped"]
        elif depth == 0 and text == "|":
            alternatives.append([""])
        else:
            if depth == 0 and (kind == "count" or text in ("*", "?")):
                literals[-1] = literals[-1][:-1]
            literals.append("")
    longest = [max(literals, key=len) for literals in alternatives]
    return tuple(dict.fromkeys(longest)) if all(longest) else ()
