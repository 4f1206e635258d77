"""Razor pages, views and Blazor components."""

import re
from collections.abc import Iterator

from groundwire_ingest.frameworks.aspnet.razor_scan import RazorScan
from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.files.facts_about_code import CodePart, ComponentFacts, ComponentTag
from groundwire_ingest.tree.files.lexer import unquoted
from groundwire_ingest.tree.files.markup.elements import element_parts
from groundwire_ingest.tree.files.markup.templates import links_of, tag_references
from groundwire_ingest.tree.files.parts import write_parts
from groundwire_ingest.tree.files.reading import FileReading, PathReference

_PARTIAL_CALL = re.compile(r"(?:await\s+)?Html\.(?:Partial|RenderPartial)(?:Async)?\(\s*(\"[^\"\n]{1,300}\")")
_INSERTED = re.compile(r"@\([^()]*+\)|@[A-Za-z_][\w.]*+")
_LAYOUT = re.compile(r"\bLayout\s*=\s*(\"[^\"\n]{1,300}\")")


def read_razor(file: SourceFile) -> FileReading:
    """Each `@code` and `@functions` block as a node of its own, elements of several lines as parts, and ComponentFacts.

    `Imports` leads to partial views by name and `Inherits` to the layout of a view; scripts and styles are references.
    """
    scan = RazorScan(file.text)
    parts = [*scan.blocks, *element_parts(file.text, scan.tags, scan.lines)]
    facts = ComponentFacts(tuple(scan.directives), tuple(scan.code), tuple(scan.components))
    references = (
        *tag_references(file, scan.tags, scan.lines),
        *_partials(file.path, scan.components),
        *_named_views(file.path, scan.code),
    )
    links = tuple(links_of(file, scan.tags, scan.lines, _INSERTED))
    return FileReading(write_parts(file, parts), references, facts=facts, requests=links)


def _partials(path: str, tags: list[ComponentTag]) -> Iterator[PathReference]:
    for tag in tags:
        for attribute in tag.attributes:
            if tag.name == "partial" and attribute.name == "name" and "@" not in attribute.value:
                yield PathReference(path, _view_files(attribute.value), "Imports", tag.line)


def _named_views(path: str, code: list[CodePart]) -> Iterator[PathReference]:
    for part in code:
        for pattern, edge_type in ((_PARTIAL_CALL, "Imports"), (_LAYOUT, "Inherits")):
            for match in pattern.finditer(part.text):
                line = part.line + part.text.count("\n", 0, match.start())
                yield PathReference(path, _view_files(unquoted(match.group(1))), edge_type, line)


def _view_files(name: str) -> tuple[str, ...]:
    return (name,) if name.endswith(".cshtml") else (f"{name}.cshtml",)
