"""The tables that Python's ORMs map classes to."""

import re
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from groundwire_ingest.tree.facts import TableMapping
from groundwire_ingest.tree.languages.nodes import (
    Nodes,
    arguments_of,
    children_of,
    first_child,
    text_of,
    type_of,
)
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.types import head

CONVENTION = 0.8
"""The ORM derives the name of a table from that of the class."""

_PLAIN_STRING = re.compile(r"""[rRuU]?(["'])([^"'\\]+)\1""")
_SCHEMA = re.compile(r"""["']schema["']\s*:\s*["']([^"']+)["']""")
_DJANGO_FIELD = re.compile(r"models\.(?:\w*Field|ForeignKey)\(\)")
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def python_mappings(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[TableMapping]:
    """`__tablename__` and `Table` of SQLAlchemy, `db_table` of Django's `Meta`, and what each does without them."""
    for node in nodes["class_definition"]:
        values = _class_values(node)
        inner = [child for child in _statements(node, "class_definition") if _name(child) == "Meta"]
        meta = _class_values(inner[0]) if inner else {}
        table = _stated(values) or _plain_string(meta.get("db_table"))
        key, scope = places.key(node), places.scope(node)
        if table:
            yield TableMapping(key, scope, "", table, 1.0)
        elif text_of(meta.get("abstract")) != "True" and text_of(values.get("__abstract__")) != "True":
            table = _by_convention(syntax, node, values, key)
            if table:
                yield TableMapping(key, scope, "", table, CONVENTION)
    for node in nodes["call"]:
        yield from _table(syntax, node, places)


def _stated(values: Mapping[str, Node | None]) -> str:
    """The table that SQLAlchemy is given, with its schema."""
    table = _plain_string(values.get("__tablename__"))
    schema = _SCHEMA.search(text_of(values.get("__table_args__"))) if table else None
    return f"{schema[1]}.{table}" if schema else table


def _by_convention(syntax: Syntax, node: Node, values: Mapping[str, Node | None], key: str) -> str:
    """`shop_order` of a model `Order` in Django's application `shop`; `order_item` or `orderitem` elsewhere."""
    arguments = children_of(node.child_by_field_name("superclasses"))
    bases = {head(type_of(child)) for child in arguments if child.type != "keyword_argument"}
    keywords = {"".join(text_of(child).split()) for child in arguments if child.type == "keyword_argument"}
    if "models.Model" in bases or any(_DJANGO_FIELD.fullmatch(_path(syntax, value)) for value in values.values()):
        return f"{django_application(key)}_{_name(node).lower()}" if django_application(key) else ""
    if "db.Model" in bases:
        return _WORD_START.sub("_", _name(node)).lower()
    return _name(node).lower() if "table=True" in keywords else ""


def django_application(key: str) -> str:
    """`shop` of a node in `src/shop/models.py`, `src/shop/models/order.py` or `src/shop/migrations/0001_initial.py`."""
    folders = key.partition("::")[2].partition("#")[0].split("/")[:-1]
    for inner in ("models", "migrations"):
        if inner in folders:
            folders = folders[: folders.index(inner)]
    return folders[-1] if folders else ""


def _table(syntax: Syntax, node: Node, places: Places) -> Iterator[TableMapping]:
    """`Table("orders", metadata, ...)`."""
    if syntax.path(node)[-1:] != ("Table()",):
        return
    arguments = arguments_of(node)
    table = _plain_string(arguments[0]) if len(arguments) > 1 else ""
    if table and "metadata" in _path(syntax, arguments[1]).lower():
        yield TableMapping(places.key(node), places.scope(node), "", table, 1.0)


def _path(syntax: Syntax, node: Node | None) -> str:
    return ".".join(syntax.path(node))


def _name(class_node: Node) -> str:
    return text_of(class_node.child_by_field_name("name"))


def _statements(class_node: Node, statement_type: str) -> Iterator[Node]:
    body = class_node.child_by_field_name("body")
    return (child for child in (children_of(body)) if child.type == statement_type)


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
