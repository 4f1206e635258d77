"""Which type `new()` without one makes: that of the place where its value goes."""

from tree_sitter import Node

from groundwire_ingest.tree.facts import OF_ITEMS, OF_TARGET
from groundwire_ingest.tree.languages.nodes import type_of
from groundwire_ingest.tree.languages.syntax import Syntax
from groundwire_ingest.tree.languages.types import value_type

_MEMBERS = frozenset({"method_declaration", "local_function_statement", "property_declaration", "operator_declaration"})
_ITEM_METHODS = frozenset({"Add", "Insert", "Push", "Enqueue", "AddLast", "AddFirst", "Append", "Prepend", "TryAdd"})
_MAX_STEPS = 6


def target_of(syntax: Syntax, node: Node) -> tuple[str, str] | None:
    """The type and an empty name; or a path with OF_TARGET for what it is, OF_ITEMS for what it holds.

    None where nothing is stated: an argument of a method other than those that put an item into a collection.
    """
    parent = node.parent
    for _ in range(_MAX_STEPS):
        if parent is None:
            return None
        match parent.type:
            case "variable_declarator":
                declaration = parent.parent
                return (type_of(declaration.child_by_field_name("type")), "") if declaration else None
            case "property_declaration":
                return type_of(parent.child_by_field_name("type")), ""
            case "assignment_expression":
                return syntax.value_path(parent.child_by_field_name("left")), OF_TARGET
            case "return_statement" | "arrow_expression_clause":
                return _result_around(parent), ""
            case "argument":
                return _item_of(syntax, parent)
            case "parenthesized_expression" | "conditional_expression" | "binary_expression" | "equals_value_clause":
                parent = parent.parent
            case _:
                return None
    return None


def _result_around(node: Node) -> str:
    """The type that the member around a `return` states, less what a caller waits for."""
    current: Node | None = node
    while current is not None and current.type not in _MEMBERS:
        if current.type in ("lambda_expression", "anonymous_method_expression"):
            return ""
        current = current.parent
    if current is None:
        return ""
    return value_type(type_of(current.child_by_field_name("returns") or current.child_by_field_name("type")))


def _item_of(syntax: Syntax, argument: Node) -> tuple[str, str] | None:
    call = argument.parent.parent if argument.parent is not None else None
    function = call.child_by_field_name("function") if call is not None else None
    path = syntax.path(function)
    return (".".join(path[:-1]), OF_ITEMS) if len(path) > 1 and path[-1] in _ITEM_METHODS else None
