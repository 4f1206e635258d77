"""The names in templates of Angular that lead to code: elements, attributes and pipes, and members of a component."""

import re
from collections.abc import Iterator, Sequence

from groundwire_ingest.tree.files.facts_about_code import TemplateNames
from groundwire_ingest.tree.files.markup.elements import LineNumbers, tags_of
from groundwire_ingest.tree.files.markup.expressions import expressions, names_in
from groundwire_ingest.tree.files.markup.tags import Tag

_BOUND = re.compile(r"[\[(*]")
_MARKS = str.maketrans("", "", "[]()*")
# A pipe; `a || b` has none.
_PIPE = re.compile(r"(?<!\|)\|(?!\|)\s*([A-Za-z_$][\w$]*)")
_OF_HTML = re.compile(r"(?:data|aria)-|[a-z]+\Z")
# `@if (user(); as u) {`, `@for (item of items(); track item.id) {`.
_CONTROL = re.compile(r"@(?:if|else if|for|switch|case|defer|let)\b")
_WORDS = frozenset(
    "let of as track index first last even odd count else if then true false null undefined this".split()
)


def is_angular(text: str, tags: Sequence[Tag]) -> bool:
    """True if a page has signs of a template of Angular: `(click)`, `[value]`, `*ngIf`, `@if`, elements of its own."""
    return _CONTROL.search(text) is not None or any(
        "-" in tag.name or any(_BOUND.match(item.name) for item in tag.attributes) for tag in tags
    )


def template_names(text: str) -> TemplateNames:
    """The names in a template."""
    lines, tags = LineNumbers(text), list(tags_of(text))
    selectors: dict[str, int] = {}
    names: dict[str, int] = {}
    for name, line in _selectors(tags, lines):
        selectors.setdefault(name, line)
    for part in expressions(text, "angular", tags, lines):
        for pipe in _PIPE.findall(part.text):
            selectors.setdefault(f"|{pipe}", part.line)
        for name in names_in(_PIPE.sub(" ", part.text)):
            if name.partition(".")[0] not in _WORDS:
                names.setdefault(name.removeprefix("this."), part.line)
    return TemplateNames(tuple(selectors.items()), tuple(names.items()))


def _selectors(tags: Sequence[Tag], lines: LineNumbers) -> Iterator[tuple[str, int]]:
    """Elements as `app-card`, attributes as `[appBold]`."""
    for tag in tags:
        if tag.is_closing:
            continue
        if "-" in tag.name:
            yield tag.name, lines[tag.start]
        for item in tag.attributes:
            name = item.name.translate(_MARKS)
            if name and not _OF_HTML.match(name):
                yield f"[{name}]", lines[item.start]
