"""HTML and its templates (Jinja, Twig, ERB, Blade, Go, ...), and single-file components of Vue, Svelte and Astro."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from groundwire_index.repository_edges.requests import Request
from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.files.facts_about_code import CodePart, ComponentFacts, ComponentTag
from groundwire_ingest.tree.files.lexer import numbered
from groundwire_ingest.tree.files.markup.angular_templates import is_angular, template_names
from groundwire_ingest.tree.files.markup.elements import (
    LineNumbers,
    component_tag,
    element_parts,
    is_raw,
    raw_end,
    tags_of,
)
from groundwire_ingest.tree.files.markup.expressions import expressions
from groundwire_ingest.tree.files.markup.tags import Tag, balanced_end
from groundwire_ingest.tree.files.parts import Part, write_parts
from groundwire_ingest.tree.files.reading import FileReading, PathReference
from groundwire_ingest.tree.languages.urls import url_in

_BLOCK = re.compile(
    r"\{%[-~+]?[ \t]*(?:(?P<open>block|macro|snippet)[ \t]+(?P<name>[\w.-]+)|(?P<close>end(?:block|macro|snippet))\b)"
    r"|\{\{-?[ \t]*(?:define|block)[ \t]+\"(?P<go_name>[^\"\n]{1,200})\"|\{\{-?[ \t]*(?P<go_open>if|range|with)\b"
    r"|\{\{-?[ \t]*(?P<go_end>end)\b"
)
_QUOTED = r"[\"'](?P<{}>[^\"'\n]{{1,300}})[\"']"
_TAG_PATH = re.compile(
    r"\{%[-~+]?[ \t]*(?P<verb>extends|include|import|from|embed|use|render|layout|ssi)[ \t]+"
    + _QUOTED.format("path")
    + r"|\{\{[#<]?>[ \t]*[\"']?(?P<partial>[\w./-]{1,300})"
    r"|(?:<%[-=]?[ \t]*(?:include|render)[ (]+(?:partial:[ \t]*|template:[ \t]*)?"
    r"|@(?P<at>extends|include|includeIf|component|each)[ \t]*\([ \t]*)"
    + _QUOTED.format("called")
    + r"|\{\{-?[ \t]*template[ \t]+"
    + _QUOTED.format("go_path")
)
_ROUTE_NAME = re.compile(
    r"\{%[-~+]?[ \t]*url[ \t]+[\"'](?P<django>[\w.:-]{1,200})[\"']"
    r"|\b(?:url_(?:path_)?for|route)\([ \t]*[\"']\.?(?P<called>[\w.:-]{1,200})[\"']"
)
"""`{% url "shop:order" %}`, `url_for("shop.order")`, `url_for(".order")` and `route("orders.show")`."""
_TAG_FILES = {"script": "src", "link": "href", "iframe": "src"}
_SUFFIXES = ("", *".html .hbs .handlebars .mustache .html.erb .erb .ejs .njk .liquid .twig .blade.php".split())


def read_template(file: SourceFile) -> FileReading:
    """Blocks, macros, definitions and elements of several lines as parts.

    `Inherits` leads to the template that it extends, `Imports` to those that it includes, `References` to scripts,
    styles and frames that are files of the tree.
    """
    lines = LineNumbers(file.text)
    tags = list(tags_of(file.text))
    parts = [*_block_parts(file.text), *element_parts(file.text, tags, lines)]
    references = (*_path_references(file), *tag_references(file, tags, lines))
    requests = (*links_of(file, tags, lines), *_named_requests(file.text))
    view_names = template_names(file.text) if is_angular(file.text, tags) else None
    return FileReading(write_parts(file, parts), references, facts=view_names, requests=requests)


def _named_requests(text: str) -> Iterator[Request]:
    for match, line in numbered(_ROUTE_NAME, text):
        yield Request("", match["django"] or match["called"], line, is_name=True)


def tag_references(file: SourceFile, tags: Sequence[Tag], lines: LineNumbers) -> Iterator[PathReference]:
    """The targets of the scripts, links and frames of a file."""
    for tag in tags:
        wanted = _TAG_FILES.get(tag.name.lower())
        for item in tag.attributes:
            value = file.text[item.value_start : item.value_end]
            if item.name.lower() == wanted and value and not tag.is_closing:
                yield PathReference(file.path, (value,), "References", lines[tag.start])


def _block_parts(text: str) -> Iterator[Part]:
    opened: list[tuple[str, int]] = []
    for match, line in numbered(_BLOCK, text):
        name = match["name"] or match["go_name"] or ""
        if match["close"] or match["go_end"]:
            name, first = opened.pop() if opened else ("", line)
            if name and line > first:
                yield Part((name,), first, line)
        else:
            opened.append((name, line))


def _path_references(file: SourceFile) -> Iterator[PathReference]:
    for match, line in numbered(_TAG_PATH, file.text):
        written = match["path"] or match["partial"] or match["called"] or match["go_path"]
        written = written.replace(".", "/") if match["at"] else written
        edge_type = "Inherits" if (match["verb"] or match["at"]) in {"extends", "layout"} else "Imports"
        folder, _, name = written.rpartition("/")
        lead = f"{folder}/" if folder else ""
        marks = ("",) if match["verb"] else ("", "_")
        spellings = tuple(f"{lead}{mark}{name}{suffix}" for suffix in _SUFFIXES for mark in marks)
        yield PathReference(file.path, spellings, edge_type, line)


_FRONT_MATTER = re.compile(r"\s*---[ \t]*\r?\n(?s:(.*?))^---[ \t]*\r?$", re.MULTILINE)
_LANGUAGES = {"ts": "typescript", "typescript": "typescript", "tsx": "typescript"}
_BUILT_IN = frozenset({"template", "slot", "component", "transition", "keep-alive"})


def read_component(file: SourceFile) -> FileReading:
    """The script of a component, and Astro's part between the dashes, as nodes of their own, its elements as parts.

    The facts are ComponentFacts: each script with its language, the expressions in the markup, and the elements that
    are components.
    """
    lines = LineNumbers(file.text)
    tags = list(tags_of(file.text))
    code = list(_scripts(file.text, tags, lines))
    parts = [replace(part, is_own=part.path[0].startswith("script")) for part in element_parts(file.text, tags, lines)]
    front_matter = _FRONT_MATTER.match(file.text) if file.language == "astro" else None
    if front_matter is not None:
        last_line = lines[front_matter.end() - 1]
        parts.append(Part(("script",), 1, last_line, is_own=True))
        code.insert(0, CodePart("script", front_matter.group(1), lines[front_matter.start(1)], "typescript"))
    start = front_matter.end() if front_matter is not None else 0
    used = expressions(file.text, file.language, tags, lines, start)
    facts = ComponentFacts(code=tuple(code), tags=tuple(_components(file.text, tags, lines)), expressions=tuple(used))
    references = tuple(tag_references(file, tags, lines))
    links = (*links_of(file, tags, lines), *_named_requests(file.text))
    return FileReading(write_parts(file, parts), references, facts=facts, requests=links)


def _scripts(text: str, tags: Sequence[Tag], lines: LineNumbers) -> Iterator[CodePart]:
    for tag in tags:
        if tag.name.lower() == "script" and is_raw(tag):
            stated = {item.name: text[item.value_start : item.value_end] for item in tag.attributes}
            language = _LANGUAGES.get(stated.get("lang", ""), "javascript")
            inside = text[tag.end : raw_end(text, tag)]
            if inside.strip():
                yield CodePart("script", inside, lines[tag.end], language)


def _components(text: str, tags: Sequence[Tag], lines: LineNumbers) -> Iterator[ComponentTag]:
    for tag in tags:
        is_component = tag.name[0].isupper() or "-" in tag.name or "." in tag.name
        if is_component and not tag.is_closing and tag.name.lower() not in _BUILT_IN:
            yield component_tag(text, tag, lines)


_THYMELEAF = ("th:", "data-th-")
# What is put into a value when the page is made: in double braces, in `<% %>` and `<? ?>`.
_INSERTED = re.compile(r"\{\{\{?+[^{}]*+\}\}\}?+|<[%?][^%?<>]*+[%?]>")
_PREPROCESSED = re.compile(r"__\$\{[^{}]*+\}__|\$\{[^{}]*+\}")
_CONCATENATED = re.compile(r"'([^']*+)'|[^'+]++")
_RELATIVE = re.compile(r"(?=(?:\{\}|[/.])*+[\w-])(?:[\w\-.~]|\{\})++(?:/(?:[\w\-.~]|\{\})++)*+", re.ASCII)


def links_of(
    file: SourceFile, tags: Sequence[Tag], lines: LineNumbers, inserted: re.Pattern[str] | None = None
) -> Iterator[Request]:
    """The URLs of links, forms and htmx's attributes, without keys of nodes; that of a form without action is empty.

    `inserted` matches what else is put into a value when the page is made.
    """
    for tag in (tag for tag in tags if not tag.is_closing):
        for written, method in _targets(tag.name.lower(), _attributes(file.text, tag)):
            url = _INSERTED.sub("{}", written)
            url = (inserted.sub("{}", url) if inserted is not None else url).removeprefix("~")
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


def _targets(name: str, given: dict[str, str]) -> Iterator[tuple[str, str]]:
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
