"""The variables of Kotlin code, and what it names without calling it."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.code_facts import RETURNED, Binding, Reference
from groundwire_ingest.tree.languages.nodes import Nodes, child_of, first_child, given_in, last_child, text_of, type_of
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.types import head

_OF_RECEIVER = frozenset({"run", "apply", "with"})
_GIVING_ITSELF = frozenset({"let", "also", "takeIf", "takeUnless"})
_MAPPING = frozenset({"map", "mapNotNull", "mapIndexed"})
_MEMBER_BODIES = frozenset({"class_body", "enum_class_body"})


def kotlin_bindings(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Binding]:
    """Properties, parameters, locals, loop variables, caught exceptions, and what `fun f() = ...` returns."""
    for node in nodes["property_declaration"]:
        yield from _property(syntax, node, places)
    for node in nodes.of("parameter", "class_parameter", "catch_block"):
        name = child_of(node, "identifier")
        if name is not None:
            yield Binding(places.scope(node), text_of(name), _stated(node), True)
    for node in nodes["lambda_literal"]:
        yield from _lambda_parameter(syntax, node, places)
    for node in nodes["lambda_parameters"]:
        variables = (child for child in node.named_children if child.type == "variable_declaration")
        yield from (_variable(child, places) for child in variables)
    for node in nodes["for_statement"]:
        yield from _item(syntax, node, places)
    for node in nodes["function_body"]:
        value = syntax.value_path(first_child(node))
        if value and node.parent is not None and node.parent.type == "function_declaration":
            yield Binding(places.scope(node.parent), RETURNED, "", False, value)


def _variable(node: Node, places: Places, value: str = "") -> Binding:
    """A variable, which is an item of `value` where it states no type."""
    stated = _stated(node)
    return Binding(places.scope(node), text_of(first_child(node)), stated, bool(stated), value, not stated)


def _lambda_parameter(syntax: Syntax, node: Node, places: Places) -> Iterator[Binding]:
    """The only parameter of a lambda, by its name or `it`: what the called method belongs to, or an item of that."""
    call = node.parent.parent if node.parent is not None and node.parent.type == "annotated_lambda" else None
    called = first_child(call)
    if call is None or called is None or called.type != "navigation_expression":
        return
    variables = given_in(child_of(node, "lambda_parameters"))
    if len(variables) > 1 or any(_stated(variable) for variable in variables):
        return
    receiver, method = first_child(called), text_of(last_child(called))
    name = text_of(first_child(variables[0])) if variables else "it"
    mapped = _mapped(syntax, receiver)
    value = mapped or syntax.value_path(receiver)
    if value and name.isidentifier() and method not in _OF_RECEIVER:
        yield Binding(places.scope(node), name, "", False, value, not mapped and method not in _GIVING_ITSELF)


def _mapped(syntax: Syntax, call: Node | None) -> str:
    """The path of what `x.map { ... }` makes of each item; empty for any other expression."""
    called = first_child(call) if call is not None and call.type == "call_expression" else None
    if called is None or text_of(last_child(called)) not in _MAPPING:
        return ""
    given = first_child(child_of(call, "annotated_lambda"))
    result = last_child(given)
    return syntax.value_path(result) if result is not None and result.type != "lambda_parameters" else ""


def _item(syntax: Syntax, node: Node, places: Places) -> Iterator[Binding]:
    variable, *others = node.named_children
    if variable.type == "variable_declaration" and others:
        yield _variable(variable, places, "" if _stated(variable) else syntax.value_path(others[0]))


def _property(syntax: Syntax, node: Node, places: Places) -> Iterator[Binding]:
    is_member = node.parent is not None and node.parent.type in _MEMBER_BODIES
    scope = places.type_scope(node) if is_member else places.scope(node)
    variable = child_of(node, "variable_declaration")
    if variable is None:
        return
    name, stated = text_of(first_child(variable)), _stated(variable)
    value = node.named_children[-1]
    if stated or value.start_byte < variable.end_byte:
        yield Binding(scope, name, stated, bool(stated))
    elif value.type == "as_expression":
        yield Binding(scope, name, type_of(value, "right"), False)
    else:
        yield Binding(scope, name, "", False, syntax.value_path(value))


def _stated(node: Node) -> str:
    return type_of(child_of(node, "user_type", "nullable_type"))


_NAMES = frozenset({"identifier", "navigation_expression"})
_BASES = frozenset({"delegation_specifier", "constructor_invocation", "explicit_delegation", "annotation"})


def kotlin_references(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Reference]:
    """Types by name, then annotations, then functions and members that are passed on or read."""
    for node in nodes["user_type"]:
        if node.parent is not None and node.parent.type not in _BASES:
            yield from places.reference(node, head(type_of(node)), "type")
    for node in nodes["annotation"]:
        named = first_child(node)
        if named is not None and named.type == "constructor_invocation":
            named = first_child(named)
        yield from places.reference(node, head(type_of(named)), "decorator")
    for node in nodes.of("navigation_expression", "value_argument", "return_expression", "callable_reference"):
        value = node if node.type == "navigation_expression" else last_child(node)
        is_called = node.parent is not None and node.parent.type == "call_expression"
        if value is not None and value.type in _NAMES and not is_called:
            yield from places.reference(node, ".".join(syntax.path(value)).removesuffix(".class"), "value")
