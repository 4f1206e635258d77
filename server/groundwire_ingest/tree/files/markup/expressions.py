"""The expressions in the markup of Vue, Svelte, Astro and Angular: handlers of events, bound values, texts."""

import re
from collections.abc import Iterator, Sequence

from groundwire_ingest.tree.files.facts_about_code import CodePart
from groundwire_ingest.tree.files.markup.elements import LineNumbers, is_raw, raw_end
from groundwire_ingest.tree.files.markup.tags import Tag, balanced_end

_BOUND = {"vue": ("@", ":", "v-", "#"), "angular": ("(", "[", "*")}
_BETWEEN_TAGS = re.compile(r">[^<>{}]*+<")
_PATH = re.compile(r"(?<![\w$])(?:(?<!\.)|(?<=\.\.\.))[A-Za-z_$][\w$]*+(?:\??\.[A-Za-z_$][\w$]*+)*+(?![\w$]*\s*:(?!:))")
_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?")


def expressions(text: str, language: str, tags: Sequence[Tag], lines: LineNumbers, start: int = 0) -> list[CodePart]:
    """The expressions of a component from an offset on, by line.

    Those of Vue and Angular are in attributes and `{{ }}`, others in `{ }`.
    """
    parts: list[CodePart] = []
    bound = _BOUND.get(language, ())
    if bound:
        for tag in tags:
            for item in tag.attributes:
                value = text[item.value_start : item.value_end]
                if item.name.startswith(bound) and value.strip():
                    parts.append(CodePart("expression", value, lines[item.value_start], language))
    opening = "{{" if bound else "{"
    for first, end in _markup(text, tags, start):
        position = text.find(opening, first, end)
        while position >= 0:
            behind = min(balanced_end(text, position), end)
            inside = text[position + 1 : behind - 1]
            parts.append(CodePart("expression", inside, lines[position], language))
            position = text.find(opening, behind, end)
    return sorted(parts, key=lambda part: part.line)


def _markup(text: str, tags: Sequence[Tag], start: int) -> Iterator[tuple[int, int]]:
    """The offsets of what is outside of scripts and styles."""
    for tag in tags:
        if is_raw(tag) and tag.start >= start:
            yield start, tag.start
            start = raw_end(text, tag)
    yield start, len(text)


def names_in(expression: str) -> Iterator[str]:
    """The dotted names that an expression uses, without those in its strings, keys of objects and text of elements."""
    code = _BETWEEN_TAGS.sub("><", _STRING.sub('""', expression))
    yield from dict.fromkeys(match[0].replace("?.", ".") for match in _PATH.finditer(code))
