"""The tables that Python's ORMs map classes to."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from groundwire_server.ingest.tree.facts import TableMapping
from groundwire_server.ingest.tree.languages.syntax import Nodes, Places, Syntax, first_child, text_of

_PLAIN_STRING = re.compile(r"""[rRuU]?(["'])([^"'\\]+)\1""")
_SCHEMA = re.compile(r"""["']schema["']\s*:\s*["']([^"']+)["']""")


def python_mappings(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[TableMapping]:
    """`__tablename__` of SQLAlchemy, with its schema, and `db_table` of Django's `Meta`."""
    for node in nodes["class_definition"]:
        values = _class_values(node)
        table = _plain_string(values.get("__tablename__"))
        schema = _SCHEMA.search(text_of(values.get("__table_args__")))
        if table:
            table = f"{schema[1]}.{table}" if schema else table
        for inner in _statements(node, "class_definition"):
            if text_of(inner.child_by_field_name("name")) == "Meta":
                table = table or _plain_string(_class_values(inner).get("db_table"))
        if table:
            yield TableMapping(places.key(node), places.scope(node), "", table, 1.0)


def _statements(class_node: Node, statement_type: str) -> Iterator[Node]:
    body = class_node.child_by_field_name("body")
    return (child for child in (body.named_children if body else ()) if child.type == statement_type)


def _class_values(class_node: Node) -> dict[str, Node | None]:
    """The values of the plain assignments in a class body, by name."""
    assignments = (first_child(child) for child in _statements(class_node, "expression_statement"))
    return {
        text_of(node.child_by_field_name("left")): node.child_by_field_name("right")
        for node in assignments
        if node is not None and node.type == "assignment"
    }


def _plain_string(node: Node | None) -> str:
    match = _PLAIN_STRING.fullmatch(text_of(node))
    return match[2] if match else ""
