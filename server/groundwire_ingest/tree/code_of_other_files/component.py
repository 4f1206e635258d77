"""A file of markup with code: what is kept of it until its code is read, and how that is put into its nodes."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from groundwire_index.nodes.node import CONTAINS
from groundwire_index.scope import node_key
from groundwire_ingest.records import SkippedFile, SourceEdge, SourceNode
from groundwire_ingest.tree.code_facts import CodeFacts, Reference, Role
from groundwire_ingest.tree.file_analysis import FileAnalysis, SourceFile
from groundwire_ingest.tree.files.facts_about_code import ComponentFacts
from groundwire_ingest.tree.files.reading import FileReading

_NAME = re.compile(r"@?\(?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\)?")


@dataclass(frozen=True, slots=True)
class Component:
    """A file of markup with code.

    `keys` has the node at each of its lines, "" where there is none. `code_nodes` are those of whole code blocks; the
    nodes of the members in them replace them.
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
    """The result of reading a component's code: nodes with their Contains edges, facts, and the unreadable parts."""

    path: str
    nodes: tuple[SourceNode, ...]
    edges: tuple[SourceEdge, ...] = ()
    facts: CodeFacts | None = None
    skipped: tuple[SkippedFile, ...] = ()


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


def unread_code(component: Component, why: str = "") -> ComponentCode:
    """The whole code blocks as written, for code that cannot be parsed, or not be read for `why`."""
    skipped = (SkippedFile(component.path, f"the code in it {why}"),) if why else ()
    nodes = component.code_nodes
    return ComponentCode(component.path, nodes, tuple(_contained(component, nodes)), skipped=skipped)


def component_code(
    component: Component, nodes: Sequence[SourceNode], edges: Iterable[SourceEdge], facts: CodeFacts
) -> ComponentCode:
    """Nodes, edges and facts without the keys of what is no node: those are of the markup on their line.

    A node whose local id is the file's own gets another, for the markup has it.
    """
    file_key = node_key(nodes[0].kind, component.path) if nodes else ""
    script = f"{component.path}#script"
    named = tuple(replace(node, local_id=script) if node.key == file_key else node for node in nodes)
    kept = {node.key: new.key for node, new in zip(nodes, named, strict=True)}
    inside = tuple(
        replace(edge, from_key=kept[edge.from_key], to_key=kept[edge.to_key])
        for edge in edges
        if edge.from_key in kept and edge.to_key in kept
    )
    contained = {edge.to_key for edge in inside}
    outer = _contained(component, [node for node in named if node.key not in contained])
    return ComponentCode(component.path, named, (*inside, *outer), _rekeyed(facts, component, kept))


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
        kept_parameters=tuple(replace(item, from_key=at(item.from_key, item.line)) for item in facts.kept_parameters),
        field_values=tuple(replace(item, from_key=at(item.from_key, item.line)) for item in facts.field_values),
        routes=tuple(replace(item, from_key=at(item.from_key, item.line)) for item in facts.routes),
        requests=tuple(replace(item, from_key=at(item.from_key, item.line)) for item in facts.requests),
        registrations=tuple(replace(item, from_key=at(item.from_key, item.line)) for item in facts.registrations),
        topics=tuple(replace(item, from_key=at(item.from_key, item.line)) for item in facts.topics),
        mappings=(),
        table_changes=(),
    )


class VirtualText:
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


def tag_references(
    component: Component, scope: int, role: Role, named: Callable[[str], str] = str
) -> Iterator[Reference]:
    """The names in the elements of a component: other components as `named`, and members of its own in attributes."""
    for tag in component.facts.tags:
        key = component.key_at(tag.line)
        yield Reference(key, scope, named(tag.name), tag.line, role)
        for attribute in tag.attributes:
            match = _NAME.fullmatch(attribute.value)
            if match is not None:
                yield Reference(key, scope, match[1], attribute.line, "value")
