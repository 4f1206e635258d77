"""SQLAlchemy, also below Flask-SQLAlchemy and SQLModel: the tables that classes map to."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.framework_facts import TableMapping
from groundwire_ingest.tree.languages.nodes import Nodes, arguments_of, children_of, text_of, type_of
from groundwire_ingest.tree.languages.python.conventions import class_values, plain_string
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.types import head

CONVENTION = 0.8
"""The name of a table is derived from that of the class."""

_SCHEMA = re.compile(r"""["']schema["']\s*:\s*["']([^"']+)["']""")
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def tables(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[TableMapping]:
    """`__tablename__` with its schema, else by convention; then `Table("orders", metadata, ...)`."""
    for node in nodes["class_definition"]:
        values = class_values(node)
        table = plain_string(values.get("__tablename__"))
        if table:
            schema = _SCHEMA.search(text_of(values.get("__table_args__")))
            name = f"{schema[1]}.{table}" if schema else table
            yield TableMapping(places.key(node), places.scope(node), "", name, 1.0)
        elif text_of(values.get("__abstract__")) != "True" and _by_convention(node):
            yield TableMapping(places.key(node), places.scope(node), "", _by_convention(node), CONVENTION)
    for node in nodes["call"]:
        arguments = arguments_of(node) if syntax.path(node)[-1:] == ("Table()",) else []
        table = plain_string(arguments[0]) if len(arguments) > 1 else ""
        if table and "metadata" in ".".join(syntax.path(arguments[1])).lower():
            yield TableMapping(places.key(node), places.scope(node), "", table, 1.0)


def _by_convention(node: Node) -> str:
    """`order_item` of a model of Flask-SQLAlchemy, `orderitem` of one of SQLModel; empty for another class."""
    arguments = children_of(node.child_by_field_name("superclasses"))
    name = text_of(node.child_by_field_name("name"))
    if any(head(type_of(child)) == "db.Model" for child in arguments if child.type != "keyword_argument"):
        return _WORD_START.sub("_", name).lower()
    keywords = {"".join(text_of(child).split()) for child in arguments if child.type == "keyword_argument"}
    return name.lower() if "table=True" in keywords else ""


SQLALCHEMY = Framework(languages="python", finders=(tables,))
