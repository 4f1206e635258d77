"""Patterns of URLs as Python's frameworks write them, in the form of `facts.Route`."""

import re

# `<int:id>` and `<id>` of Flask and Django, `{id}` and `{id:path}` of Starlette and aiohttp.
_PARAMETER = re.compile(r"<(?:(\w+)(?:\([^()<>]*\))?:)?(\w+)>|\{(\w+)(?::([^{}]*))?\}")
_NAMED_GROUP = re.compile(r"\(\?P<(\w+)>")
_OPTIONAL = re.compile(r"\(\?:|[?^$]")
_ESCAPED = re.compile(r"\\([^\w\s])")
_CLASS_OR_ESCAPE = re.compile(r"\\[A-Za-z][*+?]?|\[[^\]]*+(?:\][*+?]?)?|[.][*+?]?")


def plain_pattern(text: str) -> str:
    """A pattern with parameters in angle brackets or braces."""
    return _PARAMETER.sub(_parameter, text)


def regular_pattern(text: str) -> str:
    """A pattern that is a regular expression; each of its outermost groups is one parameter."""
    parts: list[str] = []
    depth, start = 0, 0
    position = 0
    while position < len(text):
        character = text[position]
        if character == "\\":
            position += 1
        elif character == "(":
            if depth == 0:
                parts.append(_plain(text[start:position]))
                start = position
            depth += 1
        elif character == ")" and depth:
            depth -= 1
            if depth == 0:
                parts.append(_group(text[start : position + 1]))
                start = position + 1
        position += 1
    return "".join((*parts, _plain(text[start:])))


def _parameter(match: re.Match[str]) -> str:
    converter, name, braced, kind = match.groups()
    return f"{{{name or braced}*}}" if "path" in (converter, kind) else f"{{{name or braced}}}"


def _group(text: str) -> str:
    """A group: what it may hold goes beyond a slash where it takes any character."""
    if text.startswith("(?:") and "/" in text:
        return ""
    name = _NAMED_GROUP.match(text)
    rest = "*" if re.search(r"\.[*+]", text) else ""
    return f"{{{name[1] if name else 'group'}{rest}}}"


def _plain(text: str) -> str:
    """Text between groups, without what anchors it or makes a slash optional."""
    text = _ESCAPED.sub(r"\1", re.sub(r"/[?*]", "/", text))
    return _OPTIONAL.sub("", _CLASS_OR_ESCAPE.sub(lambda match: match[0] if match[0] == "." else "{part}", text))
