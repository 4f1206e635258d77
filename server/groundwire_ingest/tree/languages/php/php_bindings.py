"""The types and variables of PHP code, and what it names without calling it. Backslashes in names become dots."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.code_facts import Binding, Reference, Role
from groundwire_ingest.tree.languages.nodes import Nodes, first_child, has_child, last_child, text_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.types import type_text


def php_name(node: Node | None) -> str:
    r"""The name with dots; it starts with one when it is full (`\A\B`)."""
    return text_of(node).replace("\\", ".")


def php_type(node: Node | None) -> str:
    """The type that a node writes, as `documented_type` has it."""
    return documented_type(text_of(node))


def documented_type(written: str) -> str:
    """The first type of a union that is something; `Foo[]` is `Array<Foo>`. A full name starts with a dot."""
    for part in written.replace("?", "").replace("(", "").replace(")", "").split("|"):
        type_name = type_text(part.replace("\\", "."))
        if type_name:
            return f".{type_name}" if part.startswith("\\") else type_name
    return ""


_DOCUMENTED = re.compile(r"@var\s+([\\\w|?\[\]<>,]+)")
_MEMBERS = frozenset({"member_access_expression", "scoped_property_access_expression"})


def php_bindings(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Binding]:
    """Properties by their type or `@var`, promoted and other parameters, locals, `$this->x = ...`, loop variables."""
    for node in nodes["property_declaration"]:
        stated = php_type(node.child_by_field_name("type")) or _documented(node)
        for element in node.named_children:
            name = text_of(element, "name").lstrip("$")
            if name and stated:
                yield Binding(places.type_scope(node), name, stated, True)
    for node in nodes.of("simple_parameter", "property_promotion_parameter"):
        name, stated = text_of(node, "name"), php_type(node.child_by_field_name("type"))
        yield Binding(places.scope(node), name, stated, bool(stated))
        if node.type == "property_promotion_parameter":
            yield Binding(places.type_scope(node), name.lstrip("$"), stated, bool(stated))
    for node in nodes["catch_clause"]:
        stated = php_type(node.child_by_field_name("type"))
        yield Binding(places.scope(node), text_of(node, "name"), stated, True)
    for node in nodes["assignment_expression"]:
        yield from _assigned(syntax, node, places)
    for node in nodes["foreach_statement"]:
        yield from _item(syntax, node, places)


def _assigned(syntax: Syntax, node: Node, places: Places) -> Iterator[Binding]:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None:
        return
    value, scope = syntax.value_path(right), places.scope(node)
    if left.type == "variable_name":
        yield Binding(scope, text_of(left), "", False, value)
        return
    path = syntax.path(left) if left.type in _MEMBERS else ()
    if len(path) == 2 and path[0] in ("$this", "self", "static") and value:
        yield Binding(places.type_scope(node), path[1].lstrip("$"), "", False, value, written_in=scope)


def _item(syntax: Syntax, node: Node, places: Places) -> Iterator[Binding]:
    collection, *others = node.named_children
    variable = others[0] if others else None
    if variable is not None and variable.type == "pair":
        variable = last_child(variable)
    if variable is not None and variable.type == "variable_name":
        yield Binding(places.scope(node), text_of(variable), "", False, syntax.value_path(collection), True)


def _documented(node: Node) -> str:
    """The type that a comment right above a property states."""
    above = node.prev_sibling
    match = _DOCUMENTED.search((above.text or b"").decode()) if above is not None and above.type == "comment" else None
    return documented_type(match[1]) if match else ""


# Expressions and types that start with the name of a type.
_OF_TYPES = """named_type class_constant_access_expression scoped_call_expression
    scoped_property_access_expression""".split()
_NAMES = frozenset({"name", "qualified_name"})
_OWN = frozenset({"self", "static", "parent"})


def php_references(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Reference]:
    """Types, those before `::` and behind `instanceof` included, then attributes, then `[Foo::class, 'bar']`."""
    for node in nodes.of(*_OF_TYPES):
        yield from _reference(node, first_child(node), "type", places)
    for node in nodes["binary_expression"]:
        if has_child(node, "instanceof"):
            yield from _reference(node, node.child_by_field_name("right"), "type", places)
    for node in nodes["attribute"]:
        yield from _reference(node, first_child(node), "decorator", places)
    for node in nodes["array_creation_expression"]:
        yield from places.reference(node, _method(syntax, node), "value")


def _reference(node: Node, named: Node | None, role: Role, places: Places) -> Iterator[Reference]:
    name = php_name(named) if named is not None and named.type in _NAMES else ""
    if name and name not in _OWN:
        yield from places.reference(node, name, role)


def _method(syntax: Syntax, node: Node) -> str:
    """The path of a method that is named as `[Foo::class, 'bar']` or `[$this, 'bar']`."""
    if node.named_child_count != 2:
        return ""
    owner, name = (first_child(element) for element in node.named_children)
    if owner is None or name is None or name.type not in syntax.strings:
        return ""
    is_constant = owner.type == "class_constant_access_expression"
    written = php_name(first_child(owner)) if is_constant else text_of(owner)
    is_known = written == "$this" or (is_constant and text_of(owner).endswith("::class"))
    method = string_value(syntax, name)
    return f"{written}.{method}" if is_known and method.isidentifier() else ""
