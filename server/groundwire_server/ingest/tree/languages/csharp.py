"""C#: namespaces, types with their members, and the tables that Entity Framework maps."""

from collections.abc import Iterator

import tree_sitter_c_sharp
from tree_sitter import Language, Node

from groundwire_server.ingest.tree.facts import Binding, Import, TableMapping
from groundwire_server.ingest.tree.languages.syntax import CallForm, Nodes, Places, Shape, Syntax, first_child, last_child, text_of, type_name

DB_SET_CONFIDENCE = 0.8
"""Entity Framework names the table of a `DbSet<Entity> Name` property after the property unless told otherwise."""

_MAX_ANCESTORS = 10
_TYPES = ("class_declaration", "struct_declaration", "interface_declaration", "record_declaration")


class CSharpSyntax(Syntax):
    """C# up to version 12, as far as the grammar goes."""

    kind = "cs"
    language = "csharp"
    grammar = Language(tree_sitter_c_sharp.language())
    declarations = {
        **dict.fromkeys((*_TYPES, "enum_declaration"), "type"),
        "method_declaration": "callable",
        "constructor_declaration": "callable",
        "destructor_declaration": "callable",
        "operator_declaration": "callable",
        "conversion_operator_declaration": "callable",
        "property_declaration": "value",
        "indexer_declaration": "value",
        "event_declaration": "value",
        "delegate_declaration": "value",
    }
    transparent = frozenset({"preproc_if", "preproc_elif", "preproc_else"})
    leading = frozenset({"comment"})
    adornments = frozenset({"attribute_list"})
    members = {
        "member_access_expression": ("expression", "name"),
        "member_binding_expression": ("expression", "name"),
        "qualified_name": ("qualifier", "name"),
    }
    words = frozenset({"identifier", "generic_name", "this", "base"})
    unwrapped = frozenset({"parenthesized_expression", "await_expression", "postfix_unary_expression"})
    conditionals = frozenset({"conditional_access_expression"})
    calls = {
        "invocation_expression": CallForm("function", "arguments"),
        "object_creation_expression": CallForm("type", "arguments", constructs=True),
    }
    strings = frozenset(
        {"string_literal", "verbatim_string_literal", "raw_string_literal", "interpolated_string_expression"}
    )
    facts = frozenset(
        {
            *_TYPES,
            "using_directive",
            "variable_declaration",
            "parameter",
            "property_declaration",
            "foreach_statement",
            "declaration_pattern",
        }
    )

    def shape(self, node: Node) -> Shape | None:
        construct = self.declarations.get(node.type)
        if construct is None:
            return None
        name = text_of(node.child_by_field_name("name"))
        match node.type:
            case "indexer_declaration":
                name = "this[]"
            case "destructor_declaration":
                name = f"~{name}"
            case "operator_declaration":
                name = f"operator {text_of(node.child_by_field_name('operator'))}"
            case "conversion_operator_declaration":
                name = f"operator {type_name(node.child_by_field_name('type'))}"
        fields = ("body", "accessors", "value")
        body = next((part for part in map(node.child_by_field_name, fields) if part is not None), None)
        return Shape(name, construct, body, body if construct == "type" else None) if name else None

    def namespace(self, node: Node) -> str | None:
        if node.type in ("namespace_declaration", "file_scoped_namespace_declaration"):
            return text_of(node.child_by_field_name("name"))
        return None

    def is_partial(self, node: Node) -> bool:
        return any(child.type == "modifier" and child.text == b"partial" for child in node.children)

    def is_raw(self, prefix: str, quote: str) -> bool:
        return "@" in prefix or len(quote) > 1

    def bases(self, node: Node) -> tuple[str, ...]:
        return tuple(filter(None, (type_name(base) for base in _base_types(node))))

    def imports(self, nodes: Nodes) -> Iterator[Import]:
        for node in nodes["using_directive"]:
            alias = text_of(node.child_by_field_name("name"))
            target = type_name(last_child(node))
            tree_wide = any(child.type == "global" for child in node.children)
            module, name = (target.rpartition(".")[0], target.rpartition(".")[2]) if alias else (target, "*")
            if target:
                yield Import(module, name, alias, node.start_point.row + 1, tree_wide)

    def bindings(self, nodes: Nodes, places: Places) -> Iterator[Binding]:
        for node in nodes["variable_declaration"]:
            yield from _declared_variables(node, places)
        named = (*nodes["parameter"], *nodes["property_declaration"], *nodes["declaration_pattern"])
        variables = [(node, "name") for node in named] + [(node, "left") for node in nodes["foreach_statement"]]
        for node, field in variables:
            name, stated = text_of(node.child_by_field_name(field)), type_name(node.child_by_field_name("type"))
            if name and stated:
                yield Binding(places.scope(node), name, stated, True)

    def mappings(self, nodes: Nodes, places: Places) -> Iterator[TableMapping]:
        configured: dict[int, str] = {}
        for node_type in _TYPES:
            for node in nodes[node_type]:
                for base in _base_types(node):
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
            yield from self._to_table(node, places, configured.get(places.type_scope(node), ""))

    def _to_table(self, node: Node, places: Places, configured: str) -> Iterator[TableMapping]:
        """`Entity<Invoice>().ToTable("x", "schema")`, or in a configuration class for the entity `configured`."""
        callee, arguments = self.callee(node), node.child_by_field_name("arguments")
        if callee is None or callee[1] != "ToTable" or arguments is None:
            return
        values = [_plain_string(first_child(argument)) for argument in arguments.named_children[:2]]
        if values and values[0]:
            table = ".".join(filter(None, reversed(values)))
            entity = _entity_around(node) or configured
            yield TableMapping(places.key(node), places.scope(node), entity, table, 1.0)


def _base_types(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        if child.type == "base_list":
            for base in child.named_children:
                yield base.child_by_field_name("type") or base


def _declared_variables(node: Node, places: Places) -> Iterator[Binding]:
    declared = node.child_by_field_name("type")
    for variable in node.named_children:
        if variable.type != "variable_declarator":
            continue
        value = last_child(variable)
        stated = declared is not None and declared.type != "implicit_type"
        made = value.child_by_field_name("type") if value and value.type == "object_creation_expression" else None
        name, type_of_value = text_of(variable.child_by_field_name("name")), type_name(declared if stated else made)
        if name and type_of_value:
            yield Binding(places.scope(variable), name, type_of_value, stated)


def _table_attributes(node: Node, places: Places) -> Iterator[TableMapping]:
    """`[Table("x", Schema = "s")]` on a type."""
    lists = (child for child in node.named_children if child.type == "attribute_list")
    for attribute in (item for listed in lists for item in listed.named_children if item.type == "attribute"):
        if type_name(attribute.child_by_field_name("name")).rpartition(".")[2] not in ("Table", "TableAttribute"):
            continue
        table = schema = ""
        arguments = last_child(attribute)
        for argument in arguments.named_children if arguments else ():
            value = _plain_string(last_child(argument))
            if text_of(argument.child_by_field_name("name") or first_child(argument)) == "Schema":
                schema = value
            elif argument.named_child_count == 1:
                table = value
        if table:
            yield TableMapping(places.key(node), places.scope(node), "", ".".join(filter(None, (schema, table))), 1.0)


def _entity_around(node: Node) -> str:
    """The type argument of the `Entity<...>` call that a call is chained to or stands in a lambda of."""
    for step in (_chain(node), _ancestors(node)):
        for call in step:
            function = call.child_by_field_name("function")
            name = function.child_by_field_name("name") if function else None
            if name is not None and name.type == "generic_name" and type_name(name) == "Entity":
                return _type_argument(name)
    return ""


def _chain(node: Node) -> Iterator[Node]:
    """The calls that a call is chained to, from the last to the first."""
    current: Node | None = node
    for _ in range(_MAX_ANCESTORS):
        function = current.child_by_field_name("function") if current else None
        current = function.child_by_field_name("expression") if function else None
        if current is None or current.type != "invocation_expression":
            return
        yield current


def _ancestors(node: Node) -> Iterator[Node]:
    current: Node | None = node
    for _ in range(_MAX_ANCESTORS):
        current = current.parent if current else None
        if current is not None and current.type == "invocation_expression":
            yield current


def _type_argument(node: Node | None) -> str:
    """The name of a generic type's only argument; empty when there is none or more."""
    text = text_of(node)
    arguments = text.partition("<")[2].rstrip("?> ")
    return arguments.rpartition(".")[2] if arguments.replace(".", "").isidentifier() else ""


def _plain_string(node: Node | None) -> str:
    text = text_of(node)
    return text[1:-1] if node is not None and node.type == "string_literal" and "\\" not in text else ""
