"""What C# code names without calling it."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.facts import Reference
from groundwire_ingest.tree.languages.nodes import Nodes, first_child, text_of, type_of
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.types import names_in

_TYPED = {
    "parameter": "type",
    "property_declaration": "type",
    "variable_declaration": "type",
    "method_declaration": "returns",
    "delegate_declaration": "type",
    "typeof_expression": "type",
    "cast_expression": "type",
    "declaration_pattern": "type",
    "catch_declaration": "type",
    "array_creation_expression": "type",
    "as_expression": "right",
}
_VALUED = ("argument", "return_statement", "assignment_expression", "member_access_expression")
REFERENCING = frozenset({*_TYPED, *_VALUED, "type_argument_list", "attribute"})
_NAMES = frozenset({"identifier", "member_access_expression"})
_PREDEFINED = frozenset({"predefined_type", "implicit_type"})


def csharp_references(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Reference]:
    """Types by name, then attributes, then names that are passed on as values and members that are read or set."""
    for kind, field in _TYPED.items():
        for node in nodes[kind]:
            yield from _types(node, node.child_by_field_name(field), places)
    for node in nodes["type_argument_list"]:
        for argument in node.named_children:
            yield from _types(node, argument, places)
    for node in nodes["attribute"]:
        name = text_of(node.child_by_field_name("name"))
        for written in (name, f"{name}Attribute") if name else ():
            yield Reference(places.key(node), places.scope(node), written, node.start_point.row + 1, "decorator")
    for kind in _VALUED:
        for node in nodes[kind]:
            yield from _value(syntax, node, _valued(node), places)


def _valued(node: Node) -> Node | None:
    """What a node passes on, returns, sets something to, or reads."""
    match node.type:
        case "assignment_expression":
            return node.child_by_field_name("right")
        case "member_access_expression":
            is_called = node.parent is not None and node.parent.type == "invocation_expression"
            return None if is_called else node
    return first_child(node)


def _types(node: Node, written: Node | None, places: Places) -> Iterator[Reference]:
    if written is not None and written.type not in _PREDEFINED:
        for name in names_in(type_of(written)):
            yield Reference(places.key(node), places.scope(node), name, written.start_point.row + 1, "type")


def _value(syntax: Syntax, node: Node, value: Node | None, places: Places) -> Iterator[Reference]:
    path = ".".join(syntax.path(value)) if value is not None and value.type in _NAMES else ""
    if path:
        yield Reference(places.key(node), places.scope(node), path, node.start_point.row + 1, "value")
