"""The code in components and views: Razor as C#, the scripts of Vue, Svelte and Astro as TypeScript or JavaScript."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from groundwire_ingest.records import SourceNode
from groundwire_ingest.tree.as_code.component import Component, ComponentCode, component_code, unread_code
from groundwire_ingest.tree.facts import CodeAnalysis, Reference, Route
from groundwire_ingest.tree.files.facts import CodePart, ComponentFacts, Directive
from groundwire_ingest.tree.folders import folders_above
from groundwire_ingest.tree.languages.csharp.routes import route_pattern
from groundwire_ingest.tree.model import SourceFile
from groundwire_ingest.workers import GivenUp

CodeReading: TypeAlias = Callable[[Iterable[SourceFile]], Iterator[CodeAnalysis | GivenUp]]
"""Analyses files of code, in their order."""

_MARK = "__markup"
"""Stands on the lines that are put around the code of a component, and in no component."""

_IMPORTS = frozenset({"_Imports.razor", "_ViewImports.cshtml"})
_NAME = re.compile(r"@?\(?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\)?")
_NO_NAME = re.compile(r"\W")
_STRING = re.compile(r'"([^"\n]*)"')


class ComponentReader:
    """Reads the code of a tree's components once all of them are known.

    `root_namespaces` has the root namespace of each folder that holds a .NET project. `may_read` says of a file which
    others its nodes may follow from.
    """

    def __init__(
        self,
        components: Iterable[Component],
        root_namespaces: Mapping[str, str],
        may_read: Callable[[str], Callable[[str], bool]],
    ) -> None:
        self._components = sorted(components, key=lambda item: item.path)
        self._root_namespaces = root_namespaces
        self._may_read = may_read
        self._imports: dict[str, list[Component]] = {}
        for component in self._components:
            folder, _, name = component.path.rpartition("/")
            if name in _IMPORTS:
                self._imports.setdefault(folder, []).append(component)

    def read(self, read_code: CodeReading) -> Iterator[ComponentCode]:
        """The code of each component, by path; those without a line that a node holds have none."""
        components = [item for item in self._components if any(item.keys)]
        files = [self._razor_file(item) if _is_razor(item) else _script_file(item) for item in components]
        analyses = read_code(file for file in files if file is not None)
        for component, file in zip(components, files, strict=True):
            analysis = next(analyses) if file is not None else None
            if analysis is None or isinstance(analysis, GivenUp):
                yield unread_code(component, "" if analysis is None else analysis.why)
            else:
                yield _razor_code(component, analysis) if _is_razor(component) else _script_code(component, analysis)

    def _razor_file(self, component: Component) -> SourceFile:
        """A class of the component's name; `@inject`, `@model` and `@code` are its members, markup is a method."""
        directives = [*self._imported(component.path), *component.facts.directives]
        text = _VirtualText()
        text.put(1, self._class_head(component.path, directives))
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

    def _imported(self, path: str) -> list[Directive]:
        """The facts of import files in the folders above, the outermost first."""
        may_read = self._may_read(path)
        found: list[Directive] = []
        for folder in folders_above(path):
            known = (item for item in self._imports.get(folder, ()) if may_read(item.path))
            found[:0] = [directive for item in known for directive in item.facts.directives]
        return found

    def _class_head(self, path: str, directives: Sequence[Directive]) -> str:
        folder, _, name = path.rpartition("/")
        usings = "".join(f"using {item.text.rstrip(';')}; " for item in directives if item.name == "using")
        bases = [item.text for item in directives if item.name in ("inherits", "implements")]
        stated = (item.text for item in reversed(directives) if item.name == "namespace")
        namespace = next(stated, self._namespace(folder))
        head = f"{usings}namespace {namespace}; " if namespace else usings
        after = f" : {', '.join(dict.fromkeys(bases))}" if bases else ""
        return f"{head}partial class {_identifier(name.partition('.')[0])}{after} {{ /*{_MARK}*/"

    def _namespace(self, folder: str) -> str:
        """The project's root namespace and the folders below it."""
        below: list[str] = []
        while folder not in self._root_namespaces:
            if not folder:
                return ""
            folder, _, name = folder.rpartition("/")
            below.append(_identifier(name))
        return ".".join((self._root_namespaces[folder], *reversed(below)))


def _is_razor(component: Component) -> bool:
    return component.path.endswith((".razor", ".cshtml"))


def _razor_code(component: Component, analysis: CodeAnalysis) -> ComponentCode:
    if analysis.facts is None or len(analysis.facts.definitions) < 2:
        return unread_code(component)
    nodes = [_without_marks(node) for node in analysis.file.nodes if _MARK not in node.symbol]
    facts = replace(
        analysis.facts,
        references=(*analysis.facts.references, *_tag_references(component, 1, is_type=True)),
        routes=(*analysis.facts.routes, *_pages(component)),
    )
    return component_code(
        component, [node for node in nodes if any(map(str.isalnum, node.text))], analysis.file.edges, facts
    )


def _script_file(component: Component) -> SourceFile | None:
    """A module of all scripts of the component; None if it has none."""
    scripts = [part for part in component.facts.code if part.kind == "script"]
    text = _VirtualText()
    for part in scripts:
        text.put(part.line, part.text)
    language = "typescript" if any(part.language == "typescript" for part in scripts) else "javascript"
    return SourceFile(component.path, text.text, language) if scripts else None


def _script_code(component: Component, analysis: CodeAnalysis) -> ComponentCode:
    if analysis.facts is None:
        return unread_code(component)
    tags = tuple(_tag_references(component, 0, is_type=False))
    facts = replace(analysis.facts, references=(*analysis.facts.references, *tags))
    return component_code(component, analysis.file.nodes, analysis.file.edges, facts)


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


def _tag_references(component: Component, scope: int, *, is_type: bool) -> Iterator[Reference]:
    """The names in the elements of a component: other components, and members of its own in attributes."""
    for tag in component.facts.tags:
        key = component.key_at(tag.line)
        if is_type:
            yield Reference(key, scope, tag.name, tag.line, "type")
        else:
            # `CartMenu` of `cart-menu`.
            name = "".join(part[:1].upper() + part[1:] for part in tag.name.split("-"))
            yield Reference(key, scope, name, tag.line, "value")
        for attribute in tag.attributes:
            match = _NAME.fullmatch(attribute.value)
            if match is not None:
                yield Reference(key, scope, match[1], attribute.line, "value")


def _pages(component: Component) -> Iterator[Route]:
    for directive in component.facts.directives:
        match = _STRING.search(directive.text) if directive.name == "page" else None
        if match is not None and match[1]:
            yield Route(component.first_key, 1, route_pattern(match[1]), "", directive.line)


def _identifier(name: str) -> str:
    return _NO_NAME.sub("_", name)


class _VirtualText:
    """Code in pieces of another file, put together as one text with every piece on its line.

    Pieces come in the order of their lines; the first line is 1.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._line = 1

    def put(self, line: int, text: str) -> None:
        """Adds a piece that starts on a line; after the text of earlier pieces that reach this line."""
        self._pieces.append("\n" * (line - self._line) or " ")
        self._pieces.append(text)
        self._line = max(line, self._line) + text.count("\n")

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self._pieces)
