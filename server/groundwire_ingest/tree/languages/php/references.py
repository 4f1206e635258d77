"""What PHP code names without calling it."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.facts import Reference, Role
from groundwire_ingest.tree.languages.nodes import Nodes, first_child, text_of
from groundwire_ingest.tree.languages.php.type_names import php_name
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax

REFERENCING = frozenset(
    """named_type attribute class_constant_access_expression scoped_call_expression
    scoped_property_access_expression binary_expression array_creation_expression""".split()
)
_NAMES = frozenset({"name", "qualified_name"})
_OWN = frozenset({"self", "static", "parent"})


def php_references(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Reference]:
    """Types, those before `::` and behind `instanceof` included, then attributes, then `[Foo::class, 'bar']`."""
    for node in nodes["named_type"]:
        yield from _reference(node, first_child(node), "type", places)
    for kind in ("class_constant_access_expression", "scoped_call_expression", "scoped_property_access_expression"):
        for node in nodes[kind]:
            yield from _reference(node, first_child(node), "type", places)
    for node in nodes["binary_expression"]:
        if any(child.type == "instanceof" for child in node.children):
            yield from _reference(node, node.child_by_field_name("right"), "type", places)
    for node in nodes["attribute"]:
        yield from _reference(node, first_child(node), "decorator", places)
    for node in nodes["array_creation_expression"]:
        path = _method(syntax, node)
        if path:
            yield Reference(places.key(node), places.scope(node), path, node.start_point.row + 1, "value")


def _reference(node: Node, named: Node | None, role: Role, places: Places) -> Iterator[Reference]:
    name = php_name(named) if named is not None and named.type in _NAMES else ""
    if name and name not in _OWN:
        yield Reference(places.key(node), places.scope(node), name, node.start_point.row + 1, role)


def _method(syntax: Syntax, node: Node) -> str:
    """The path of a method that is named as `[Foo::class, 'bar']` or `[$this, 'bar']`."""
    if node.named_child_count != 2:
        return ""
    owner, name = (first_child(element) for element in node.named_children)
    if owner is None or name is None or name.type not in syntax.strings:
        return ""
    written = php_name(first_child(owner)) if owner.type == "class_constant_access_expression" else text_of(owner)
    method = string_value(syntax, name)
    is_class = owner.type == "class_constant_access_expression" and text_of(owner).endswith("::class")
    return f"{written}.{method}" if (is_class or written == "$this") and method.isidentifier() else ""
