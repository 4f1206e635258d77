"""The names of templates that controllers of Spring return."""

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from groundwire_ingest.tree.languages.java.annotations import annotations
from groundwire_ingest.tree.languages.nodes import Nodes, first_child, line_of, text_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.model import StringLiteral


def views(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[StringLiteral]:
    """The results of methods of Spring's controllers: strings, and constants of the file.

    Those that return the body of the response itself name no template.
    """
    constants = dict(_constants(syntax, nodes))
    controllers = {places.declared(node) for node in nodes["class_declaration"] if _names_views(node)}
    bodies = {
        places.declared(node) for node in nodes["method_declaration"] if "ResponseBody" in dict(annotations(node))
    }
    for node in nodes["return_statement"]:
        if places.type_scope(node) in controllers and places.scope(node) not in bodies:
            for value in _alternatives(first_child(node)):
                is_string = value.type in syntax.strings
                name = string_value(syntax, value) if is_string else constants.get(text_of(value), "")
                yield StringLiteral(places.key(node), name, line_of(value))


def _names_views(node: Node) -> bool:
    found = dict(annotations(node))
    return "Controller" in found and "ResponseBody" not in found


def _alternatives(value: Node | None) -> Sequence[Node]:
    """A value, or the two that a condition chooses from."""
    if value is None or value.type != "ternary_expression":
        return (value,) if value is not None else ()
    return value.named_children[1:]


def _constants(syntax: Syntax, nodes: Nodes) -> Iterator[tuple[str, str]]:
    """The fields of the file's types that are set to a string, by name."""
    for node in nodes["field_declaration"]:
        for variable in node.children_by_field_name("declarator"):
            value = variable.child_by_field_name("value")
            if value is not None and value.type in syntax.strings:
                yield text_of(variable.child_by_field_name("name")), string_value(syntax, value)
