"""Steps of migrations in code: Alembic, Django, Entity Framework, Knex and others."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.framework_facts import TableChange
from groundwire_ingest.tree.languages.nodes import Nodes, first_child, given_in, last_child, text_of
from groundwire_ingest.tree.languages.python.conventions import application
from groundwire_ingest.tree.languages.syntax import Places, Syntax

_CREATES = re.compile(r"create_?(?:table|model)", re.IGNORECASE)
_CHANGES = re.compile(
    r"(?:add|alter|drop|rename|create|change|remove)_?"
    r"(?:table|column|field|index|foreign_?key|primary_?key|model|check_?constraint)",
    re.IGNORECASE,
)
# A statement of SQL at the start of a string or after another one, up to the name of the table.
_STATEMENT = re.compile(
    rb"""(?:\A[A-Za-z@$]{0,3}["'`]{1,3}|;)\s*+(?P<verb>CREATE|ALTER)\s++TABLE\s++(?:IF\s++NOT\s++EXISTS\s++|ONLY\s++)?"""
    rb"""(?:["`\[]?\w+["`\]]?\.)?["`\[\\]{0,2}(?P<table>\w+)""",
    re.IGNORECASE | re.ASCII,
)
_OF_MODEL = re.compile(r"Model|Field")
_OF_TABLE = frozenset({"table", "table_name", "model_name", "tableName"})
_OF_NAME = frozenset({"name"})
_QUOTES = "'\"`"


def table_changes(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[TableChange]:
    """Calls such as `CreateTable(name: "orders")`, `op.add_column("orders", ...)`, `createTable("orders", ...)`.

    The table is the argument named `table` or, of a call that creates one, `name`; else the first argument.
    """
    for node, form, callee in syntax.called(nodes):
        if form.constructs or not callee[0] or not _CHANGES.fullmatch(callee[1]):
            continue
        creates = _CREATES.fullmatch(callee[1]) is not None
        table = _table(node.child_by_field_name(form.arguments), creates)
        if table:
            if syntax.language == "python" and _OF_MODEL.search(callee[1]):
                table = f"{application(places.key(node))}_{table.lower()}"  # as Django calls the table of a model
            yield TableChange(places.key(node), table, node.start_point.row + 1, creates)
    for node in nodes.of(*sorted(syntax.strings)):
        for match in _STATEMENT.finditer(node.text or b""):
            creates = match["verb"].upper() == b"CREATE"
            yield TableChange(places.key(node), match["table"].decode(), node.start_point.row + 1, creates)


def _table(arguments: Node | None, creates: bool) -> str:
    listed = given_in(arguments)
    named = {_name(argument): _string(argument) for argument in listed if _name(argument)}
    for wanted in (_OF_TABLE, _OF_NAME if creates else frozenset[str]()):
        for name in sorted(wanted & named.keys()):
            return named[name]
    if creates and listed and listed[0].type == "new_expression":
        return _table(listed[0].child_by_field_name("arguments"), creates)
    if creates and listed and listed[0].type == "object":
        return next((_string(pair) for pair in listed[0].named_children if _name(pair) in _OF_NAME), "")
    return _string(listed[0]) if listed and not _name(listed[0]) else ""


def _name(argument: Node) -> str:
    """The name of an argument: `name: x`, `name=x`; empty for one without a name."""
    if argument.named_child_count < 2 or text_of(argument)[:1] in _QUOTES:
        return ""
    return text_of(argument.child_by_field_name("name") or first_child(argument))


def _string(argument: Node) -> str:
    """The value of an argument that is a plain string."""
    value = argument if not argument.named_child_count else last_child(argument)
    written = text_of(argument) if text_of(argument)[:1] in _QUOTES else text_of(value)
    is_plain = len(written) > 1 and written[0] in _QUOTES and written[-1] == written[0]
    return written[1:-1] if is_plain and not set(written[1:-1]) & set("\\{$" + _QUOTES) else ""


MIGRATIONS = Framework(finders=(table_changes,))
