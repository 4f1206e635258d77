"""Razor pages, views and components as C#: a class of the file's name."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from groundwire_ingest.frameworks.aspnet.routes import route_pattern
from groundwire_ingest.records import SourceNode
from groundwire_ingest.tree.code_facts import CodeAnalysis
from groundwire_ingest.tree.code_of_other_files.component import (
    Component,
    ComponentCode,
    VirtualText,
    component_code,
    tag_references,
    unread_code,
)
from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.files.facts_about_code import CodePart, ComponentFacts, Directive
from groundwire_ingest.tree.framework_facts import Route

SHARED = frozenset({"_Imports.razor", "_ViewImports.cshtml"})
"""The files whose directives hold for all files in their folder and below."""

_MARK = "__markup"
"""Stands on the lines that are put around the code of a component, and in no component."""
_NO_NAME = re.compile(r"\W")
_STRING = re.compile(r'"([^"\n]*)"')


def razor_file(component: Component, shared: Sequence[Component], root_namespaces: Mapping[str, str]) -> SourceFile:
    """A class of the component's name; `@inject`, `@model` and `@code` are its members, markup is a method."""
    directives = [directive for item in (*shared, component) for directive in item.facts.directives]
    text = VirtualText()
    text.put(1, _class_head(component.path, directives, root_namespaces))
    in_method = False
    for piece in _pieces(component.facts):
        is_member = piece.kind == "members"
        if is_member and in_method:
            text.put(piece.line, f"}} /*{_MARK}*/")
        elif not is_member and not in_method:
            text.put(piece.line, f"void {_MARK}() {{")
        in_method = not is_member
        text.put(piece.line, f"_ = ({piece.text});" if piece.kind == "expression" else piece.text)
    return SourceFile(component.path, f"{text.text}\n}} /*{_MARK}*/", "csharp")


def _class_head(path: str, directives: Sequence[Directive], root_namespaces: Mapping[str, str]) -> str:
    folder, _, name = path.rpartition("/")
    usings = "".join(f"using {item.text.rstrip(';')}; " for item in directives if item.name == "using")
    bases = [item.text for item in directives if item.name in ("inherits", "implements")]
    stated = (item.text for item in reversed(directives) if item.name == "namespace")
    namespace = next(stated, _namespace(folder, root_namespaces))
    head = f"{usings}namespace {namespace}; " if namespace else usings
    after = f" : {', '.join(dict.fromkeys(bases))}" if bases else ""
    return f"{head}partial class {_identifier(name.partition('.')[0])}{after} {{ /*{_MARK}*/"


def _namespace(folder: str, root_namespaces: Mapping[str, str]) -> str:
    """The project's root namespace and the folders below it."""
    below: list[str] = []
    while folder not in root_namespaces:
        if not folder:
            return ""
        folder, _, name = folder.rpartition("/")
        below.append(_identifier(name))
    return ".".join((root_namespaces[folder], *reversed(below)))


def razor_code(component: Component, analysis: CodeAnalysis) -> ComponentCode:
    """The members of the class, with the components that its elements name and the URLs of `@page`."""
    if analysis.facts is None or len(analysis.facts.definitions) < 2:
        return unread_code(component)
    nodes = [_without_marks(node) for node in analysis.file.nodes if _MARK not in node.symbol]
    facts = replace(
        analysis.facts,
        references=(*analysis.facts.references, *tag_references(component, 1, "type")),
        routes=(*analysis.facts.routes, *_pages(component)),
    )
    return component_code(
        component, [node for node in nodes if any(map(str.isalnum, node.text))], analysis.file.edges, facts
    )


def _pieces(facts: ComponentFacts) -> list[CodePart]:
    """The code of a Razor file in the order of its lines, what is injected as properties."""
    pieces = [part for part in facts.code if part.kind != "script"]
    for directive in facts.directives:
        if directive.name in ("inject", "model"):
            declared = directive.text if directive.name == "inject" else f"{directive.text} Model"
            pieces.append(CodePart("members", f"public {declared} {{ get; set; }}", directive.line, "csharp"))
    return sorted(pieces, key=lambda part: part.line)


def _without_marks(node: SourceNode) -> SourceNode:
    """A node without the lines that were put around it."""
    if _MARK not in node.text and _MARK not in node.context_prefix:
        return replace(node, language="razor")
    lines = [line for line in node.text.split("\n") if _MARK not in line and line.strip()]
    return replace(node, text="\n".join(lines), language="razor")


def _pages(component: Component) -> Iterator[Route]:
    for directive in component.facts.directives:
        match = _STRING.search(directive.text) if directive.name == "page" else None
        if match is not None and match[1]:
            yield Route(component.first_key, 1, route_pattern(match[1]), "", directive.line)


def _identifier(name: str) -> str:
    return _NO_NAME.sub("_", name)
