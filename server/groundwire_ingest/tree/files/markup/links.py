"""The requests of a page's links and forms, written in HTML or in its templates."""

import re
from collections.abc import Iterator, Sequence

from groundwire_ingest.tree.facts import Request
from groundwire_ingest.tree.files.markup.elements import LineNumbers
from groundwire_ingest.tree.files.markup.tags import Tag, balanced_end
from groundwire_ingest.tree.languages.urls import url_in
from groundwire_ingest.tree.model import SourceFile

_THYMELEAF = ("th:", "data-th-")
# What is put into a value when the page is made: in double braces, in `<% %>` and `<? ?>`, and in Razor.
_INSERTED = re.compile(r"\{\{\{?+[^{}]*+\}\}\}?+|<[%?][^%?<>]*+[%?]>")
_RAZOR = re.compile(r"@\([^()]*+\)|@[A-Za-z_][\w.]*+")
_RAZOR_FILES = (".cshtml", ".razor")
_PREPROCESSED = re.compile(r"__\$\{[^{}]*+\}__|\$\{[^{}]*+\}")
_CONCATENATED = re.compile(r"'([^']*+)'|[^'+]++")
_RELATIVE = re.compile(r"(?=(?:\{\}|[/.])*+[\w-])(?:[\w\-.~]|\{\})++(?:/(?:[\w\-.~]|\{\})++)*+", re.ASCII)


def links_of(file: SourceFile, tags: Sequence[Tag], lines: LineNumbers) -> Iterator[Request]:
    """The URLs of links, forms and htmx's attributes, without keys of nodes; that of a form without action is empty."""
    for tag in (tag for tag in tags if not tag.is_closing):
        for written, method in _asked(tag.name.lower(), _attributes(file.text, tag)):
            url = _INSERTED.sub("{}", written)
            url = (_RAZOR.sub("{}", url) if file.path.endswith(_RAZOR_FILES) else url).removeprefix("~")
            match = url_in(url)
            plain = match[2] if match is not None else re.split(r"[?#]", url, maxsplit=1)[0].rstrip("/")
            has_base = match is not None and match[1] == "{}"
            if match is not None or _RELATIVE.fullmatch(plain) or not url.partition("?")[0]:
                path = f"{{}}{plain}" if has_base else plain
                yield Request("", path, lines[tag.start], method, is_sent=True, has_base=has_base)


def _attributes(text: str, tag: Tag) -> dict[str, str]:
    """The values of a tag's attributes; values computed by Thymeleaf replace those for designers."""
    plain: dict[str, str] = {}
    computed: dict[str, str] = {}
    for item in tag.attributes:
        name, value = item.name.lower(), text[item.value_start : item.value_end].strip()
        prefix = next(filter(name.startswith, _THYMELEAF), "")
        (computed if prefix else plain)[name.removeprefix(prefix)] = _thymeleaf(value) if prefix else value
    return plain | computed


def _asked(name: str, given: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The target of a tag as written, and the method of HTTP."""
    if name in ("a", "area") and given.get("href"):
        yield given["href"], "GET"
    if name == "form":
        yield given.get("action", ""), (given.get("method") or "get").upper()
    for method in ("get", "post", "put", "patch", "delete"):
        if given.get(f"hx-{method}"):
            yield given[f"hx-{method}"], method.upper()


def _thymeleaf(value: str) -> str:
    """The URL of `@{/orders/{id}(id=${order.id})}` without its parameters; any other value is no URL but a hole.

    Parts may be put into it as `__${id}__`, and it may be joined of strings: `@{'/orders/' + ${id}}`.
    """
    if not value.startswith("@{"):
        return value if "{" not in value else "{}"
    inner = value[2 : balanced_end(value, 1) - 1].strip()
    url = _PREPROCESSED.sub("{}", inner)
    if "'" in url:
        return "".join(
            part[1] if part[1] is not None else "{}" for part in _CONCATENATED.finditer(url) if part[0].strip()
        )
    return url.strip("|").partition("(")[0]
