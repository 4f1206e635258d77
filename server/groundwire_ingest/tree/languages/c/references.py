"""What C and C++ code names without calling it."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.facts import Reference
from groundwire_ingest.tree.languages.c.declarators import dotted_name
from groundwire_ingest.tree.languages.nodes import Nodes, first_child
from groundwire_ingest.tree.languages.syntax import Places, Syntax

_VALUED = ("argument_list", "initializer_list")
_SET: dict[str, str] = {
    "initializer_pair": "value",
    "assignment_expression": "right",
    "init_declarator": "value",
    "return_statement": "",
}
REFERENCING = frozenset({"type_identifier", *_VALUED, *_SET})
_VALUES = frozenset({"identifier", "pointer_expression", "qualified_identifier"})
_DECLARING = frozenset(
    """struct_specifier class_specifier union_specifier enum_specifier type_definition alias_declaration
    type_parameter_declaration optional_type_parameter_declaration concept_definition""".split()
)


def c_references(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Reference]:
    """Types by name, then functions that are given as arguments, put into tables, set to variables or returned."""
    for node in nodes["type_identifier"]:
        named = _whole(node)
        if named is not None:
            line = node.start_point.row + 1
            yield Reference(places.key(node), places.scope(node), dotted_name(named), line, "type")
    for kind in _VALUED:
        for node in nodes[kind]:
            for value in node.named_children:
                yield from _value(syntax, value, places)
    for kind, field in _SET.items():
        for node in nodes[kind]:
            given = node.child_by_field_name(field) if field else first_child(node)
            yield from _value(syntax, given, places) if given is not None else ()


def _whole(node: Node) -> Node | None:
    """The whole name that a type's name is the end of; None where it is declared or derived from."""
    parent = node.parent
    while parent is not None and parent.type in ("template_type", "qualified_identifier"):
        if parent.child_by_field_name("name") != node:
            return node
        node, parent = parent, parent.parent
    if parent is None or parent.type == "base_class_clause":
        return None
    if parent.type in _DECLARING and parent.child_by_field_name("body" if "specifier" in parent.type else "name"):
        return None if parent.child_by_field_name("name") == node else node
    return None if parent.type == "type_definition" and parent.child_by_field_name("declarator") == node else node


def _value(syntax: Syntax, value: Node, places: Places) -> Iterator[Reference]:
    path = ".".join(syntax.path(value)) if value.type in _VALUES else ""
    if path:
        yield Reference(places.key(value), places.scope(value), path, value.start_point.row + 1, "value")
