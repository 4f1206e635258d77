"""Finding a file's declarations; into the bodies of functions only where a language says so."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.languages.nodes import MAX_DEPTH, end_row
from groundwire_ingest.tree.languages.syntax import Shape, Syntax

MAX_SYMBOL_CHARACTERS = 500
"""Declarations inside one whose symbol is longer than this are ignored."""


@dataclass(frozen=True, slots=True, eq=False)
class Declared:
    """A declaration: its node, the row (0-based) where its comments and decorators start, and its names.

    `parent` is the declaration around it; `symbol` is qualified by namespaces, parents and owner.
    """

    node: Node
    shape: Shape
    first_row: int
    symbol: str
    parent: "Declared | None"

    @property
    def is_local(self) -> bool:
        """True if it is within the body of a callable."""
        return self.parent is not None and self.parent.shape.construct in ("callable", "value")


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file of code with its syntax tree, its text in UTF-8 and as lines with their ends, and its declarations."""

    syntax: Syntax
    file: SourceFile
    root: Node
    source: bytes
    lines: Sequence[str]
    declared: Sequence[Declared]


@dataclass(frozen=True, slots=True)
class _Container:
    """A node whose children may be declarations; `first_row` is set where it is itself part of the first one."""

    node: Node
    parent: Declared | None
    namespace: str
    first_row: int | None = None
    depth: int = 0


def outline(syntax: Syntax, root: Node) -> tuple[Declared, ...]:
    """Every declaration that is not the variable of a function, in document order, an outer one before those inside.

    A part that could not be parsed is looked through: what was recognised in it is declared all the same.
    """
    declared: list[Declared] = []
    pending = [_Container(root, None, "")]
    while pending:
        for item in _scan(syntax, pending.pop()):
            if isinstance(item, Declared):
                if item.is_local and item.shape.construct == "value":
                    continue
                declared.append(item)
                if item.shape.inside is not None and len(item.symbol) <= MAX_SYMBOL_CHARACTERS:
                    pending.append(_Container(item.shape.inside, item, ""))
            elif item.depth < MAX_DEPTH:
                pending.append(item)
    return tuple(sorted(declared, key=lambda item: (item.node.start_byte, -item.node.end_byte)))


def _scan(syntax: Syntax, container: _Container) -> Iterator[Declared | _Container]:
    """The declarations among the children of one container, and those that are containers in turn."""
    namespace, first_row = container.namespace, container.first_row
    for child, row in _with_leading(syntax, container.node.children):
        start = row if first_row is None else min(first_row, row)
        shape, opened = syntax.shape(child), syntax.namespace(child)
        if shape is not None:
            first_row = None
            outer = container.parent.symbol if container.parent else namespace
            symbol = ".".join(filter(None, (outer, shape.owner, shape.name)))
            yield Declared(child, shape, start, symbol, container.parent)
        elif opened is not None:
            inner = ".".join(filter(None, (namespace, opened)))
            body = child.child_by_field_name("body")
            if body is None:
                namespace = inner
            else:
                yield _Container(body, container.parent, inner, depth=container.depth + 1)
        elif child.type in syntax.transparent or child.type == "ERROR":
            first_row = None
            lead = start if child.type in syntax.wrappers else None
            yield _Container(child, container.parent, namespace, lead, container.depth + 1)


def _with_leading(syntax: Syntax, children: Sequence[Node]) -> Iterator[tuple[Node, int]]:
    """Each named child that is neither comment nor decorator, with the row where those right above it start.

    A comment on the last line of something else is not above anything.
    """
    lead_start, lead_end, last_row = 0, -2, -1
    for child in children:
        row = child.start_point.row
        if child.type in syntax.leading:
            if row > last_row:
                lead_start = row if row > lead_end + 1 else lead_start
                lead_end = end_row(child)
        elif child.is_named:
            yield child, lead_start if lead_end >= row - 1 else row
            lead_end = -2
        last_row = end_row(child)
