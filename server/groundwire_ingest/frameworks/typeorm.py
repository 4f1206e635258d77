"""TypeORM, Sequelize, Drizzle and ORMs like them: the tables that code describes to them."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.framework_facts import TableMapping
from groundwire_ingest.tree.languages.nodes import Nodes, children_of, field_of, first_child, text_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.typescript.conventions import decorators_of
from groundwire_ingest.tree.languages.typescript.shapes import called_name

CONVENTION = 0.8
"""The table's name follows from the class's, by the rule of the library for tables without a name."""

_TABLE_KEYS = ("name", "tableName", "table")
_TABLE_FUNCTION = re.compile(r"(?:pg|mysql|sqlite|mssql|singlestore)\w*Table|table")
_TABLE_FIELD = frozenset({"tableName", "_tableName"})
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def tables(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[TableMapping]:
    """Classes with `@Entity("users")` or a field `tableName`, models by `define` and `init`, tables as values."""
    for node in nodes["class_declaration"]:
        yield from _decorated(syntax, node, places)
    for kind, field in (("public_field_definition", "name"), ("field_definition", "property")):
        for node in nodes[kind]:
            value = node.child_by_field_name("value")
            if text_of(node.child_by_field_name(field)) in _TABLE_FIELD and value is not None:
                yield from _mapping(syntax, node, value, places)
    for node in nodes["method_definition"]:
        if text_of(node.child_by_field_name("name")) in _TABLE_FIELD:
            statement = first_child(node.child_by_field_name("body"))
            value = first_child(statement) if statement is not None and statement.type == "return_statement" else None
            if value is not None:
                yield from _mapping(syntax, node, value, places, _class_around(node))
    for node in nodes["call_expression"]:
        yield from _table_call(syntax, node, places)


def _decorated(syntax: Syntax, node: Node, places: Places) -> Iterator[TableMapping]:
    """`@Entity("users")`, `@Entity({ name: "users" })`, `@Table({ tableName: "users" })`, `@Entity()`."""
    for decorator in decorators_of(node):
        value = first_child(decorator)
        called = field_of(value, "function")
        name = text_of(called or value)
        if name not in ("Entity", "Table", "ViewEntity"):
            continue
        arguments = field_of(value, "arguments")
        stated = next((table for table in _tables(syntax, arguments) if table), "")
        class_name = text_of(node.child_by_field_name("name")) if name == "Entity" else ""
        table = stated or _WORD_START.sub("_", class_name).lower()
        if table:
            key, scope = places.key(node), places.declared(node)
            yield TableMapping(key, scope, "", table, 1.0 if stated else CONVENTION)
        return


def _table_call(syntax: Syntax, node: Node, places: Places) -> Iterator[TableMapping]:
    """`sequelize.define("user", ..., { tableName: "users" })`, `User.init(...)`, `pgTable("users", ...)`."""
    name = called_name(node)
    is_table, is_model = _TABLE_FUNCTION.fullmatch(name) is not None, name in ("define", "init")
    if not is_table and not is_model:
        return
    path = syntax.path(node.child_by_field_name("function"))
    arguments = node.child_by_field_name("arguments")
    if not path or arguments is None:
        return
    if is_table:
        first = first_child(arguments)
        if first is not None and first.type in syntax.strings and arguments.named_child_count > 1:
            yield from _mapping(syntax, node, first, places)
    elif len(path) > 1:
        stated = next((table for table in _tables(syntax, arguments, ("tableName",)) if table), "")
        if stated:
            entity = ".".join(path[:-1]) if name == "init" else ""
            yield TableMapping(places.key(node), places.scope(node), entity, stated, 1.0)


def _tables(syntax: Syntax, arguments: Node | None, keys: tuple[str, ...] = _TABLE_KEYS) -> Iterator[str]:
    """The table that arguments state: as a string, or in an object under one of some keys."""
    for argument in children_of(arguments):
        if argument.type in syntax.strings and keys is _TABLE_KEYS:
            yield string_value(syntax, argument)
        for pair in argument.named_children if argument.type == "object" else ():
            value = pair.child_by_field_name("value")
            if text_of(pair.child_by_field_name("key")) in keys and value is not None and value.type in syntax.strings:
                yield string_value(syntax, value)


def _mapping(syntax: Syntax, node: Node, value: Node, places: Places, entity: str = "") -> Iterator[TableMapping]:
    table = string_value(syntax, value) if value.type in syntax.strings else ""
    if table:
        yield TableMapping(places.key(node), places.scope(node), entity, table, 1.0)


def _class_around(member: Node) -> str:
    body = member.parent
    return text_of(body.parent.child_by_field_name("name")) if body is not None and body.parent is not None else ""


TYPEORM = Framework(languages="typescript javascript", finders=(tables,))
