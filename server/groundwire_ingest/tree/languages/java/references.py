"""What Java code names without calling it."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.facts import Reference
from groundwire_ingest.tree.languages.nodes import Nodes, first_child, last_child, text_of, type_name, type_of
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.types import names_in

_TYPED = {
    "formal_parameter": "type",
    "field_declaration": "type",
    "constant_declaration": "type",
    "local_variable_declaration": "type",
    "enhanced_for_statement": "type",
    "resource": "type",
    "method_declaration": "type",
    "cast_expression": "type",
    "instanceof_expression": "right",
    "array_creation_expression": "type",
}
# Where the first child is a type.
_LEADING = ("class_literal", "spread_parameter", "type_pattern", "record_pattern")
_LISTS = ("type_arguments", "catch_type", "throws")
_ANNOTATIONS = ("annotation", "marker_annotation")
# Where values are passed on: by kind the field that holds the value; empty for all that is in it.
_VALUED = {
    "argument_list": "",
    "return_statement": "",
    "assignment_expression": "right",
    "variable_declarator": "value",
    "binary_expression": "",
    "element_value_pair": "value",
    "annotation_argument_list": "",
}
REFERENCING = frozenset({*_TYPED, *_LEADING, *_LISTS, *_ANNOTATIONS, *_VALUED, "method_reference", "field_access"})
_IGNORED = frozenset({"var", "String", "Object", "Array"})


def java_references(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Reference]:
    """Types by name, then annotations, then names that are passed on as values, and members that are read."""
    yield from _named_types(nodes, places)
    for node in (node for kind in _ANNOTATIONS for node in nodes[kind]):
        name = text_of(node.child_by_field_name("name"))
        if name:
            yield Reference(places.key(node), places.scope(node), name, _line(node), "decorator")
    for node in _values(nodes):
        yield Reference(places.key(node), places.scope(node), text_of(node), _line(node), "value")
    for node in (*nodes["field_access"], *nodes["method_reference"]):
        path = _member_path(syntax, node)
        if path:
            yield Reference(places.key(node), places.scope(node), path, _line(node), "value")


def _named_types(nodes: Nodes, places: Places) -> Iterator[Reference]:
    for kind, field in _TYPED.items():
        for node in nodes[kind]:
            yield from _types(node.child_by_field_name(field), places)
    for node in (node for kind in _LEADING for node in nodes[kind]):
        leading = (child for child in node.named_children if child.type != "modifiers" and not child.is_extra)
        yield from _types(next(leading, None), places)
    for node in (node for kind in _LISTS for node in nodes[kind]):
        for child in node.named_children:
            yield from _types(child, places)


def _values(nodes: Nodes) -> Iterator[Node]:
    """The plain names that are passed on, returned, compared or that something is set to."""
    for kind, field in _VALUED.items():
        for node in nodes[kind]:
            for value in (node.child_by_field_name(field),) if field else node.named_children:
                if value is not None and value.type == "identifier":
                    yield value


def _member_path(syntax: Syntax, node: Node) -> str:
    """`Foo.bar` of `Foo::bar` and of `Foo.bar`; the type of `Foo::new`."""
    if node.type == "field_access":
        return ".".join(syntax.path(node))
    owner, member = first_child(node), last_child(node)
    before = type_name(owner) if owner is not None and "type" in owner.type else ".".join(syntax.path(owner))
    if node.children[-1].type == "new":
        return before
    return f"{before}.{text_of(member)}" if before and member is not None else ""


def _types(written: Node | None, places: Places) -> Iterator[Reference]:
    if written is not None:
        for name in names_in(type_of(written)):
            if name not in _IGNORED:
                yield Reference(places.key(written), places.scope(written), name, _line(written), "type")


def _line(node: Node) -> int:
    return node.start_point.row + 1
