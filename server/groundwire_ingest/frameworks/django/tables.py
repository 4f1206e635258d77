"""The tables that models of Django map to."""

import re
from collections.abc import Iterator

from groundwire_ingest.tree.facts import TableMapping
from groundwire_ingest.tree.languages.nodes import Nodes, children_of, text_of, type_of
from groundwire_ingest.tree.languages.python.conventions import (
    application,
    class_statements,
    class_values,
    plain_string,
)
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.types import head

CONVENTION = 0.8
"""Django derives the name of a table from the application and the class."""

_FIELD = re.compile(r"models\.(?:\w*Field|ForeignKey)\(\)")


def tables(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[TableMapping]:
    """`db_table` of `Meta`, else `shop_order` of a model `Order` in the application `shop`."""
    for node in nodes["class_definition"]:
        inner = (child for child in class_statements(node, "class_definition"))
        meta = next((item for item in inner if text_of(item.child_by_field_name("name")) == "Meta"), None)
        options = class_values(meta) if meta is not None else {}
        table, key = plain_string(options.get("db_table")), places.key(node)
        if table:
            yield TableMapping(key, places.scope(node), "", table, 1.0)
        elif text_of(options.get("abstract")) != "True" and application(key):
            arguments = children_of(node.child_by_field_name("superclasses"))
            fields = (".".join(syntax.path(value)) for value in class_values(node).values())
            if any(head(type_of(base)) == "models.Model" for base in arguments) or any(map(_FIELD.fullmatch, fields)):
                name = text_of(node.child_by_field_name("name")).lower()
                yield TableMapping(key, places.scope(node), "", f"{application(key)}_{name}", CONVENTION)
