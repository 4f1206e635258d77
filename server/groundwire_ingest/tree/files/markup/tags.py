"""Tags of HTML and its like, and where brackets end in them. Linear in the text."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

_OPENING = "([{"
_CLOSING = ")]}"
_SKIPPED = (
    r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|@\*(?:[^*]|\*(?!@))*+(?:\*@)?"
    r'|\${0,9}"""(?:[^"]|"(?!""))*+(?:"""+)?'
    r'|(?:\$@|@\$|@)"(?:[^"]|"")*+"?'
    r'|\$?"(?:[^"\\\n]|\\[^\n])*+"?'
    r"|'(?:[^'\\\n]|\\[^\n]){1,200}+'"
    r"|`(?:[^`\\]|\\(?s:.))*+`?"
    r"|[()\[\]{}]"
)
_BRACKETS = re.compile(_SKIPPED)
_STEPS = re.compile(_SKIPPED + r"|[@;]|<(?=[A-Za-z!])")


def balanced_end(text: str, start: int) -> int:
    """The offset behind the bracket that closes the one at `start`; the end of the text when none does.

    All sorts of brackets count alike, so that one that is missing costs no more than the rest of the text.
    """
    depth = 0
    for match in _BRACKETS.finditer(text, start):
        first = match.group()[0]
        if first in _OPENING:
            depth += 1
        elif first in _CLOSING and len(match.group()) == 1:
            depth -= 1
            if depth <= 0:
                return match.end()
    return len(text)


def code_step(text: str, start: int) -> re.Match[str] | None:
    """The next string, comment, bracket, `;`, `@` or what may be a tag, from `start` on; None when there is none."""
    return _STEPS.search(text, start)


VOID_ELEMENTS = frozenset("area base br col embed hr img input link meta param source track wbr".split())
RAW_ELEMENTS = frozenset({"script", "style", "textarea", "title"})

ValueEnd: TypeAlias = Callable[[str, int, str], int]
"""Given a text, the offset after a value's opening quote, and the quote: the offset of the quote that ends it."""

_START = re.compile(r"<(/?)([A-Za-z][\w.:-]*)")
_NAME = re.compile(r"[^\s\"'<>/={]+|[\"'/={]")
_EQUALS = re.compile(r"\s*=\s*")
_BARE_VALUE = re.compile(r"[^\s\"'<>`]+")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class RawAttribute:
    """An attribute by offsets into its text: the name's start, and the value's place without quotes."""

    name: str
    start: int
    value_start: int
    value_end: int


@dataclass(frozen=True, slots=True)
class Tag:
    """A start or end tag by offsets into its text; `end` is behind its `>`, or the end of a text that lacks it."""

    name: str
    start: int
    end: int
    is_closing: bool
    is_self_closing: bool
    attributes: tuple[RawAttribute, ...]


def html_value_end(text: str, start: int, quote: str) -> int:
    """The next quote of that sort, as HTML has it; the end of a text without one."""
    closing = text.find(quote, start)
    return len(text) if closing < 0 else closing


def read_tag(text: str, start: int, value_end: ValueEnd = html_value_end) -> Tag | None:
    """The tag that begins at `start`; None where none does.

    A value may be in quotes, in braces that balance (`on:click={() => a > b}`), or bare.
    """
    match = _START.match(text, start)
    if match is None:
        return None
    attributes: list[RawAttribute] = []
    position = match.end()
    while position < len(text):
        space = _SPACE.match(text, position)
        position = space.end() if space is not None else position
        if text.startswith(">", position) or text.startswith("/>", position):
            is_self_closing = text[position] == "/"
            end = position + 1 + is_self_closing
            return Tag(match.group(2), start, end, bool(match.group(1)), is_self_closing, tuple(attributes))
        if position >= len(text) or text[position] == "<":
            break
        attribute, position = _attribute(text, position, value_end)
        attributes.append(attribute)
    return Tag(match.group(2), start, min(position, len(text)), bool(match.group(1)), False, tuple(attributes))


def _attribute(text: str, start: int, value_end: ValueEnd) -> tuple[RawAttribute, int]:
    """The attribute at `start`, which is no space, `<` or `>`, and the offset behind it."""
    if text[start] == "{" or text.startswith("@(", start):
        end = balanced_end(text, start + (text[start] == "@"))
        return RawAttribute(text[start:end], start, start, end), end
    name = _NAME.match(text, start)
    name_end = name.end() if name is not None else start + 1
    equals = _EQUALS.match(text, name_end)
    if equals is None or equals.end() >= len(text):
        return RawAttribute(text[start:name_end], start, name_end, name_end), name_end
    value_start = equals.end()
    quote = text[value_start]
    if quote in "\"'":
        end = value_end(text, value_start + 1, quote)
        return RawAttribute(text[start:name_end], start, value_start + 1, end), min(end + 1, len(text))
    bare = _BARE_VALUE.match(text, value_start)
    if quote == "{":
        end = balanced_end(text, value_start)
    elif quote == "@":
        end = value_end(text, value_start, " ")
    else:
        end = bare.end() if bare is not None else value_start
    return RawAttribute(text[start:name_end], start, value_start, end), max(end, name_end)
