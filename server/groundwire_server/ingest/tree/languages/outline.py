"""Finding a file's declarations without going into the bodies of its functions."""

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from groundwire_server.ingest.tree.languages.syntax import Shape, Syntax, end_row


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


@dataclass(frozen=True, slots=True)
class _Container:
    """A node whose children may be declarations; `first_row` is set where it is itself part of the first one."""

    node: Node
    parent: Declared | None
    namespace: str
    first_row: int | None = None


def outline(syntax: Syntax, root: Node) -> tuple[Declared, ...]:
    """Every declaration outside function bodies, in document order, an outer one before those inside it.

    A part that could not be parsed is looked through: what was recognised in it is declared all the same.
    """
    found: list[Declared] = []
    pending = [_Container(root, None, "")]
    while pending:
        for item in _scan(syntax, pending.pop()):
            if isinstance(item, Declared):
                found.append(item)
                if item.shape.inside is not None:
                    pending.append(_Container(item.shape.inside, item, ""))
            else:
                pending.append(item)
    return tuple(sorted(found, key=lambda item: (item.node.start_byte, -item.node.end_byte)))


def _scan(syntax: Syntax, container: _Container) -> Iterator[Declared | _Container]:
    """What the children of one container declare, and those that are containers in turn."""
    namespace, first_row = container.namespace, container.first_row
    lead_start, lead_end, last_row = -1, -1, -1
    for child in container.node.children:
        row = child.start_point.row
        if child.type in syntax.leading:
            if row > last_row:
                lead_start = row if row > lead_end + 1 or lead_start < 0 else lead_start
                lead_end = end_row(child)
            last_row = end_row(child)
            continue
        if not child.is_named:
            last_row = end_row(child)
            continue
        start = lead_start if lead_start >= 0 and lead_end >= row - 1 else row
        start = start if first_row is None else min(first_row, start)
        lead_start, last_row = -1, end_row(child)
        shape = syntax.shape(child)
        opened = syntax.namespace(child)
        if shape is not None:
            first_row = None
            yield _declared(child, shape, start, container.parent, namespace)
        elif opened is not None:
            inner = ".".join(filter(None, (namespace, opened)))
            body = child.child_by_field_name("body")
            if body is None:
                namespace = inner
            else:
                yield _Container(body, container.parent, inner)
        elif child.type in syntax.transparent or child.type == "ERROR":
            yield _Container(child, container.parent, namespace, start if child.type in syntax.wrappers else None)
            first_row = None


def _declared(node: Node, shape: Shape, first_row: int, parent: Declared | None, namespace: str) -> Declared:
    outer = parent.symbol if parent else namespace
    return Declared(node, shape, first_row, ".".join(filter(None, (outer, shape.owner, shape.name))), parent)
