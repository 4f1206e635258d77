"""Where the expressions of Razor end. Linear in the text."""

import re

from groundwire_ingest.tree.files.markup.tags import balanced_end

WORD = re.compile(r"[^\W\d]\w*")
_AWAIT = re.compile(r"await\s+(?=[^\W\d])")
_MEMBER_ACCESS = re.compile(r"!?\??\.[^\W\d]\w*")
_ENDS = {quote: re.compile(f"[@{quote}]") for quote in "\"' "}


def implicit_end(text: str, start: int) -> int:
    """The end of an expression without parentheses around it: a name, and members, calls and indices of it."""
    waiting = _AWAIT.match(text, start)
    word = WORD.match(text, waiting.end() if waiting is not None else start)
    position = word.end() if word is not None else start
    while position < len(text):
        access = _MEMBER_ACCESS.match(text, position)
        if access is not None:
            position = access.end()
        elif text[position] in "([" or text.startswith("?[", position):
            position = balanced_end(text, position + (text[position] == "?"))
        else:
            break
    return position


def expression_end(text: str, start: int) -> int:
    """The end of the expression behind an `@`; `start` itself when none begins there."""
    if text.startswith("(", start):
        return balanced_end(text, start)
    return implicit_end(text, start) if WORD.match(text, start) else start


def razor_value_end(text: str, start: int, quote: str) -> int:
    """Where the value of an attribute ends: at its quote, but for quotes inside of C#.

    A bare value has a blank as its quote and ends with its first expression.
    """
    position = start
    while (closing := _ENDS[quote].search(text, position)) is not None:
        if closing.group() == quote:
            return closing.start()
        position = expression_end(text, closing.start() + 1)
        if quote == " ":
            return position
    return len(text)
