"""The variables of PHP code: properties, parameters, locals and loop variables."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.facts import Binding
from groundwire_ingest.tree.languages.nodes import Nodes, last_child, text_of
from groundwire_ingest.tree.languages.php.type_names import documented_type, php_type
from groundwire_ingest.tree.languages.syntax import Places, Syntax

VALUES = frozenset(
    """property_declaration property_promotion_parameter simple_parameter assignment_expression foreach_statement
    catch_clause""".split()
)
_DOCUMENTED = re.compile(r"@var\s+([\\\w|?\[\]<>,]+)")
_MEMBERS = frozenset({"member_access_expression", "scoped_property_access_expression"})


def php_bindings(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Binding]:
    """Properties by their type or `@var`, promoted and other parameters, locals, `$this->x = ...`, loop variables."""
    for node in nodes["property_declaration"]:
        stated = php_type(node.child_by_field_name("type")) or _documented(node)
        for element in node.named_children:
            name = text_of(element.child_by_field_name("name")).lstrip("$")
            if name and stated:
                yield Binding(places.type_scope(node), name, stated, True)
    for kind in ("simple_parameter", "property_promotion_parameter"):
        for node in nodes[kind]:
            name, stated = text_of(node.child_by_field_name("name")), php_type(node.child_by_field_name("type"))
            yield Binding(places.scope(node), name, stated, bool(stated))
            if kind == "property_promotion_parameter":
                yield Binding(places.type_scope(node), name.lstrip("$"), stated, bool(stated))
    for node in nodes["catch_clause"]:
        yield Binding(
            places.scope(node),
            text_of(node.child_by_field_name("name")),
            php_type(node.child_by_field_name("type")),
            True,
        )
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
