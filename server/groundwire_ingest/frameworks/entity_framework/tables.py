"""Entity Framework: the tables that C# code describes to it."""

import re
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from groundwire_ingest.tree.framework_facts import TableMapping
from groundwire_ingest.tree.languages.csharp.csharp_bindings import TYPE_NODES, attributes, base_types
from groundwire_ingest.tree.languages.nodes import Nodes, children_of, first_child, last_child, text_of, type_name
from groundwire_ingest.tree.languages.syntax import Places, Syntax

DB_SET_CONFIDENCE = 0.8
"""Entity Framework names the table of a `DbSet<Entity> Name` property after the property by default."""

_MAX_STEPS = 10
# What tools write of a model: the state after each migration, and after the last one.
_SNAPSHOT = re.compile(r"\.designer\.cs$|modelsnapshot\.cs$", re.IGNORECASE)
_SNAPSHOT_BASES = frozenset({"ModelSnapshot", "Migration"})
_BUILDERS = frozenset({"EntityTypeBuilder", "OwnedNavigationBuilder"})


def tables(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[TableMapping]:
    """`[Table]` attributes, `DbSet<Entity>` properties and `ToTable` calls, with the entity that each is about.

    Snapshots of models and migrations map nothing: they have the names that tables had once.
    """
    if _SNAPSHOT.search(places.path) is not None or _is_of_migration(nodes):
        return
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
    constants, builders = _constants(nodes), _builders(nodes, places)
    for node in nodes["invocation_expression"]:
        callee = syntax.callee(node)
        table = _to_table(node, constants) if callee is not None and callee[1] in ("ToTable", "ToView") else ""
        if callee is not None and table:
            named = builders.get((places.scope(node), callee[0].partition(".")[0]), "")
            entity = _entity_around(node) or named or configured.get(places.type_scope(node), "")
            yield TableMapping(places.key(node), places.scope(node), entity, table, 1.0)


def _is_of_migration(nodes: Nodes) -> bool:
    """True if a file has a migration or a snapshot, which configures no model."""
    bases = (base for node in nodes["class_declaration"] for base in base_types(node))
    return any(type_name(base).rpartition(".")[2] in _SNAPSHOT_BASES for base in bases)


def _constants(nodes: Nodes) -> dict[str, str]:
    """The strings that constants and fields of the file are set to, by name; none for a name that is set twice."""
    value_of_name: dict[str, str] = {}
    for node in nodes["variable_declarator"]:
        name, value = text_of(node, "name"), _plain_string(last_child(node))
        value_of_name[name] = value if name not in value_of_name else ""
    return value_of_name


def _builders(nodes: Nodes, places: Places) -> dict[tuple[int, str], str]:
    """The entities of variables and parameters that are builders, by the definition around them and their names."""
    entity_of_variable: dict[tuple[int, str], str] = {}
    for node in nodes["variable_declarator"]:
        value = last_child(node)
        entity = _entity_of_call(value) if value is not None and value.type == "invocation_expression" else ""
        if entity:
            entity_of_variable[places.scope(node), text_of(node, "name")] = entity
    for node in nodes["parameter"]:
        declared = node.child_by_field_name("type")
        if type_name(declared).rpartition(".")[2] in _BUILDERS:
            entity_of_variable[places.scope(node), text_of(node, "name")] = _type_argument(declared)
    return entity_of_variable


def _to_table(node: Node, constants: Mapping[str, str]) -> str:
    """The table of `x.ToTable("table", "schema")`, qualified by the schema; empty if it is not plain."""
    arguments = node.child_by_field_name("arguments")
    values = [_name_in(first_child(argument), constants) for argument in arguments.named_children] if arguments else []
    table, schema, *_ = [*values, "", ""]
    return ".".join(filter(None, (schema, table))) if table else ""


def _name_in(value: Node | None, constants: Mapping[str, str]) -> str:
    """The value of a plain string, of `nameof(Device)`, or of a constant of the file."""
    if value is None:
        return ""
    if value.type == "invocation_expression" and text_of(value, "function") == "nameof":
        return text_of(last_child(value, "arguments")).rpartition(".")[2]
    if value.type in ("identifier", "member_access_expression"):
        return constants.get(text_of(value).rpartition(".")[2], "")
    return _plain_string(value)


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
            entity = _entity_of_call(call)
            if entity:
                return entity
    return ""


def _entity_of_call(call: Node) -> str:
    """`Order` of `x.Entity<Order>(...)`; empty for any other call."""
    function = call.child_by_field_name("function")
    name = function.child_by_field_name("name") if function else None
    is_entity = name is not None and name.type == "generic_name" and type_name(name) == "Entity"
    return _type_argument(name) if is_entity else ""


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
