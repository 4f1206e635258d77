"""What Rust code names without calling it."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.facts import Reference, Role
from groundwire_ingest.tree.languages.nodes import Nodes, text_of
from groundwire_ingest.tree.languages.syntax import Places, Syntax

REFERENCING = frozenset({"type_identifier", "scoped_type_identifier", "scoped_identifier", "arguments"})
_DECLARING = frozenset(
    {"struct_item", "enum_item", "union_item", "trait_item", "type_item", "type_parameter", "associated_type"}
)
_PATHS = frozenset(
    {"scoped_identifier", "scoped_type_identifier", "use_declaration", "use_as_clause", "scoped_use_list"}
)


def rust_references(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Reference]:
    """Types by name, then what is before the last `::` of a path, then functions and constants that are passed on."""
    for node in nodes["type_identifier"]:
        if not _is_name(node) and (node.parent is None or node.parent.type not in _PATHS):
            yield Reference(places.key(node), places.scope(node), text_of(node), node.start_point.row + 1, "type")
    for node in nodes["scoped_type_identifier"]:
        yield from _path(syntax, node, "type", places)
    for node in nodes["scoped_identifier"]:
        if node.parent is not None and node.parent.type not in _PATHS and node.parent.type != "use_list":
            owner = node.child_by_field_name("path")
            yield from _path(syntax, owner, "type", places)
            if node.parent.type != "call_expression":
                yield from _path(syntax, node, "value", places)
    for node in nodes["arguments"]:
        for argument in node.named_children:
            if argument.type == "identifier":
                yield from _path(syntax, argument, "value", places)


def _path(syntax: Syntax, node: Node | None, role: Role, places: Places) -> Iterator[Reference]:
    path = ".".join(syntax.path(node)) if node is not None else ""
    if node is not None and path not in ("", "Self", "self", "crate", "super"):
        yield Reference(places.key(node), places.scope(node), path, node.start_point.row + 1, role)


def _is_name(node: Node) -> bool:
    """Whether a name is the one that a declaration gives, or in the head of an `impl` block."""
    parent = node.parent
    if parent is not None and parent.type == "generic_type":
        parent = parent.parent
    if parent is not None and parent.type == "impl_item":
        return True
    parent = node.parent
    return parent is not None and parent.type in _DECLARING and parent.child_by_field_name("name") == node
