"""The code in components and views: Razor as C#, the scripts of Vue, Svelte and Astro as TypeScript or JavaScript."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from groundwire_server.domain.nodes import CONTAINS
from groundwire_server.domain.scope import node_key
from groundwire_server.ingest.records import SourceEdge, SourceNode
from groundwire_server.ingest.tree.as_code.virtual_text import VirtualText
from groundwire_server.ingest.tree.facts import CodeFacts, Reference, Route
from groundwire_server.ingest.tree.files.facts import CodePart, ComponentFacts, ComponentTag, Directive
from groundwire_server.ingest.tree.files.reading import FileReading
from groundwire_server.ingest.tree.languages.csharp_routes import route_pattern
from groundwire_server.ingest.tree.languages.readers import CodeReaders
from groundwire_server.ingest.tree.model import FileAnalysis, SourceFile

_MARK = "__markup"
"""Stands on the lines that are put around the code of a component, and in no component."""

_IMPORTS = frozenset({"_Imports.razor", "_ViewImports.cshtml"})
_RAZOR = (".razor", ".cshtml")
_NAME = re.compile(r"@?\(?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\)?")
_NO_NAME = re.compile(r"\W")
_STRING = re.compile(r'"([^"\n]*)"')


@dataclass(frozen=True, slots=True)
class Component:
    """A file of markup with code.

    `keys` has the node at each of its lines, "" where there is none. `code_nodes` are those of whole code blocks, which
    give way to the nodes of the members in them.
    """

    path: str
    facts: ComponentFacts
    keys: Sequence[str]
    code_nodes: tuple[SourceNode, ...]

    @property
    def first_key(self) -> str:
        """The first node of the file."""
        return next(filter(None, self.keys))

    def key_at(self, line: int) -> str:
        """The node of a line, else the file's first one."""
        return (self.keys[line - 1] if line <= len(self.keys) else "") or self.first_key


@dataclass(frozen=True, slots=True)
class ComponentCode:
    """What the code of a component adds: nodes with their Contains edges, and facts."""

    nodes: tuple[SourceNode, ...]
    edges: tuple[SourceEdge, ...] = ()
    facts: CodeFacts | None = None


def split_component(file: SourceFile, reading: FileReading, facts: ComponentFacts) -> tuple[Component, FileAnalysis]:
    """The component, and the file's nodes and edges without those of whole code blocks."""
    blocks = [
        (part.line - 1, part.line + part.text.count("\n") + 1)
        for part in facts.code
        if part.kind in ("members", "script")
    ]
    analysis = reading.analysis
    code = tuple(
        node
        for node in analysis.nodes[1:]
        if any(start <= node.start_line and node.end_line <= end for start, end in blocks)
    )
    left_out = {node.key for node in code}
    rest = replace(
        analysis,
        nodes=tuple(node for node in analysis.nodes if node.key not in left_out),
        edges=tuple(edge for edge in analysis.edges if left_out.isdisjoint((edge.from_key, edge.to_key))),
    )
    return Component(file.path, facts, replace(reading, analysis=rest).keys_by_line(file), code), rest


class ComponentReader:
    """Reads the code of a tree's components once all of them are known.

    `root_namespaces` has the root namespace of each folder that holds a .NET project.
    """

    def __init__(self, components: Iterable[Component], root_namespaces: Mapping[str, str]) -> None:
        self._components = sorted(components, key=lambda item: item.path)
        self._root_namespaces = root_namespaces
        self._imports: dict[str, list[Directive]] = {}
        for component in self._components:
            folder, _, name = component.path.rpartition("/")
            if name in _IMPORTS:
                self._imports.setdefault(folder, []).extend(component.facts.directives)
        self._readers = CodeReaders()

    def read(self) -> Iterator[ComponentCode]:
        """The code of each component, by path; those without a line that a node holds have none."""
        for component in self._components:
            if not any(component.keys):
                continue
            yield self._razor(component) if component.path.endswith(_RAZOR) else self._script(component)

    def _razor(self, component: Component) -> ComponentCode:
        """A class of the component's name; `@inject`, `@model` and `@code` are its members, markup is a method."""
        directives = [*self._imported(component.path), *component.facts.directives]
        text = VirtualText()
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
        analysis = self._readers.read(SourceFile(component.path, f"{text.text}\n}} /*{_MARK}*/", "csharp"))
        if analysis.facts is None or len(analysis.facts.definitions) < 2:
            return _unread(component)
        nodes = [_without_marks(node) for node in analysis.file.nodes if _MARK not in node.symbol]
        facts = replace(
            analysis.facts,
            references=(*analysis.facts.references, *_tag_references(component, 1, is_type=True)),
            routes=(*analysis.facts.routes, *_pages(component)),
        )
        return _code(component, [node for node in nodes if _says_something(node.text)], analysis.file.edges, facts)

    def _script(self, component: Component) -> ComponentCode:
        """A module of all scripts of the component."""
        scripts = [part for part in component.facts.code if part.kind == "script"]
        if not scripts:
            return _unread(component)
        text = VirtualText()
        for part in scripts:
            text.put(part.line, part.text)
        language = "typescript" if any(part.language == "typescript" for part in scripts) else "javascript"
        analysis = self._readers.read(SourceFile(component.path, text.text, language))
        if analysis.facts is None:
            return _unread(component)
        tags = tuple(_tag_references(component, 0, is_type=False))
        facts = replace(analysis.facts, references=(*analysis.facts.references, *tags))
        return _code(component, analysis.file.nodes, analysis.file.edges, facts)

    def _imported(self, path: str) -> list[Directive]:
        """What the files of imports in the folders above say, the outermost first."""
        found: list[Directive] = []
        folder = path.rpartition("/")[0]
        while True:
            found[:0] = self._imports.get(folder, ())
            if not folder:
                return found
            folder = folder.rpartition("/")[0]

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


def _unread(component: Component) -> ComponentCode:
    return ComponentCode(component.code_nodes, tuple(_contained(component, component.code_nodes)))


def _code(
    component: Component, nodes: Sequence[SourceNode], edges: Iterable[SourceEdge], facts: CodeFacts
) -> ComponentCode:
    """Nodes, edges and facts without the keys of what is no node: those are of the markup on their line.

    A node whose local id is the file's own gets another, for the markup has it.
    """
    own = node_key(nodes[0].kind, component.path) if nodes else ""
    script = f"{component.path}#script"
    named = tuple(replace(node, local_id=script) if node.key == own else node for node in nodes)
    kept = {node.key: new.key for node, new in zip(nodes, named, strict=True)}
    inside = tuple(
        replace(edge, from_key=kept[edge.from_key], to_key=kept[edge.to_key])
        for edge in edges
        if edge.from_key in kept and edge.to_key in kept
    )
    contained = {edge.to_key for edge in inside}
    outer = _contained(component, [node for node in named if node.key not in contained])
    return ComponentCode(named, (*inside, *outer), _rekeyed(facts, component, kept))


def _contained(component: Component, nodes: Iterable[SourceNode]) -> Iterator[SourceEdge]:
    for node in nodes:
        yield SourceEdge(component.first_key, node.key, CONTAINS, node.origin, line=node.start_line)


def _rekeyed(facts: CodeFacts, component: Component, kept: Mapping[str, str]) -> CodeFacts:
    def at(key: str, line: int) -> str:
        return kept.get(key) or component.key_at(line)

    return replace(
        facts,
        definitions=tuple(replace(item, key=kept.get(item.key, component.first_key)) for item in facts.definitions),
        calls=tuple(replace(item, from_key=at(item.from_key, item.line)) for item in facts.calls),
        references=tuple(replace(item, from_key=at(item.from_key, item.line)) for item in facts.references),
        routes=tuple(replace(item, from_key=at(item.from_key, item.line)) for item in facts.routes),
        requests=tuple(replace(item, from_key=at(item.from_key, item.line)) for item in facts.requests),
        mappings=(),
        table_changes=(),
    )


def _tag_references(component: Component, scope: int, *, is_type: bool) -> Iterator[Reference]:
    """What the elements of a component name: other components, and members of its own in attributes."""
    for tag in component.facts.tags:
        key = component.key_at(tag.line)
        if is_type:
            yield Reference(key, scope, tag.name, tag.line, "type")
        else:
            yield Reference(key, scope, _component_name(tag), tag.line, "value")
        for attribute in tag.attributes:
            match = _NAME.fullmatch(attribute.value)
            if match is not None:
                yield Reference(key, scope, match[1], attribute.line, "value")


def _component_name(tag: ComponentTag) -> str:
    """`CartMenu` of `cart-menu`."""
    return "".join(part[:1].upper() + part[1:] for part in tag.name.split("-"))


def _pages(component: Component) -> Iterator[Route]:
    for directive in component.facts.directives:
        match = _STRING.search(directive.text) if directive.name == "page" else None
        if match is not None and match[1]:
            yield Route(component.first_key, 1, route_pattern(match[1]), "", directive.line)


def _says_something(text: str) -> bool:
    return any(map(str.isalnum, text))


def _identifier(name: str) -> str:
    return _NO_NAME.sub("_", name)
