"""Entity Framework: the tables that C# code describes to it."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.facts import TableMapping
from groundwire_ingest.tree.languages.csharp.names import TYPE_NODES, attributes, base_types
from groundwire_ingest.tree.languages.nodes import Nodes, children_of, first_child, last_child, text_of, type_name
from groundwire_ingest.tree.languages.syntax import Places, Syntax

DB_SET_CONFIDENCE = 0.8
"""Entity Framework names the table of a `DbSet<Entity> Name` property after the property by default."""

_MAX_STEPS = 10


def tables(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[TableMapping]:
    """`[Table]` attributes, `DbSet<Entity>` properties and `ToTable` calls, with the entity that each is about."""
    configured: dict[int, str] = {}
    for node in nodes.of(*TYPE_NODES):
        for base in base_types(node):
            if type_name(base).rpartition(".")[2] == "IEntityTypeConfiguration":
                configured[places.scope(node)] = _type_argument(base)
        yield from _table_attributes(node, places)
    for node in nodes["property_declaration"]:
        declared = node.child_by_field_name("type")
        entity = _type_argument(declared) if type_name(declared) in ("DbSet", "IDbSet") else ""
        if entity:
            table = text_of(node.child_by_field_name("name"))
            yield TableMapping(places.key(node), places.scope(node), entity, table, DB_SET_CONFIDENCE)
    for node in nodes["invocation_expression"]:
        table = _to_table(syntax, node)
        if table:
            entity = _entity_around(node) or configured.get(places.type_scope(node), "")
            yield TableMapping(places.key(node), places.scope(node), entity, table, 1.0)


def _to_table(syntax: Syntax, node: Node) -> str:
    """The table of `x.ToTable("table", "schema")`, qualified by the schema; empty for any other call."""
    callee, arguments = syntax.callee(node), node.child_by_field_name("arguments")
    if callee is None or callee[1] != "ToTable" or arguments is None:
        return ""
    table, schema, *_ = [*(_plain_string(first_child(argument)) for argument in arguments.named_children), "", ""]
    return ".".join(filter(None, (schema, table))) if table else ""


def _table_attributes(node: Node, places: Places) -> Iterator[TableMapping]:
    """`[Table("x", Schema = "s")]` on a type."""
    for attribute in attributes(node):
        if type_name(attribute.child_by_field_name("name")).rpartition(".")[2] not in ("Table", "TableAttribute"):
            continue
        table = schema = ""
        arguments = last_child(attribute)
        for argument in children_of(arguments):
            names = [text_of(child) for child in argument.named_children if child.type == "identifier"]
            if names == ["Schema"]:
                schema = _plain_string(last_child(argument))
            elif not names:
                table = _plain_string(last_child(argument))
        if table:
            yield TableMapping(places.key(node), places.scope(node), "", ".".join(filter(None, (schema, table))), 1.0)


def _entity_around(node: Node) -> str:
    """The type argument of the `Entity<...>` call that a call is chained to, or whose lambda contains it."""
    for calls in (_chain(node), _ancestors(node)):
        for call in calls:
            function = call.child_by_field_name("function")
            name = function.child_by_field_name("name") if function else None
            if name is not None and name.type == "generic_name" and type_name(name) == "Entity":
                return _type_argument(name)
    return ""


def _chain(node: Node) -> Iterator[Node]:
    """The calls that a call is chained to, from the last to the first."""
    current: Node | None = node
    for _ in range(_MAX_STEPS):
        function = current.child_by_field_name("function") if current else None
        current = function.child_by_field_name("expression") if function else None
        if current is None or current.type != "invocation_expression":
            return
        yield current


def _ancestors(node: Node) -> Iterator[Node]:
    """The calls that have a call among their arguments, from the innermost outwards."""
    current: Node | None = node
    for _ in range(_MAX_STEPS):
        current = current.parent if current else None
        if current is not None and current.type == "invocation_expression":
            yield current


def _type_argument(node: Node | None) -> str:
    """The name of a generic type's only argument, without its namespace; empty when there is none or more."""
    arguments = text_of(node).partition("<")[2].rstrip("?> ")
    return arguments.rpartition(".")[2] if arguments.replace(".", "").isidentifier() else ""


def _plain_string(node: Node | None) -> str:
    text = text_of(node)
    return text[1:-1] if node is not None and node.type == "string_literal" and "\\" not in text else ""


ENTITY_FRAMEWORK = Framework(languages="csharp", finders=(tables,))
