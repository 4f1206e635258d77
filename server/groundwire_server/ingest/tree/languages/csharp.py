"""C#: namespaces, types with their members, and the tables that Entity Framework maps."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import tree_sitter_c_sharp
from tree_sitter import Language, Node

from groundwire_server.ingest.tree.facts import Binding, Construct, Import, TableMapping
from groundwire_server.ingest.tree.languages.entity_framework import (
    TYPE_NODES,
    base_types,
    entity_framework_mappings,
)
from groundwire_server.ingest.tree.languages.syntax import (
    CallForm,
    Nodes,
    Places,
    Shape,
    Syntax,
    last_child,
    text_of,
    type_name,
)


class CSharpSyntax(Syntax):
    """C# up to version 12, as far as the grammar goes."""

    kind = "cs"
    language = "csharp"
    grammar = Language(tree_sitter_c_sharp.language())
    declarations: ClassVar[Mapping[str, Construct]] = {
        **dict.fromkeys((*TYPE_NODES, "enum_declaration"), "type"),
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
    members: ClassVar[Mapping[str, tuple[str, str]]] = {
        "member_access_expression": ("expression", "name"),
        "member_binding_expression": ("expression", "name"),
        "qualified_name": ("qualifier", "name"),
    }
    words = frozenset({"identifier", "generic_name", "this", "base"})
    unwrapped = frozenset({"parenthesized_expression", "await_expression", "postfix_unary_expression"})
    conditionals = frozenset({"conditional_access_expression"})
    calls: ClassVar[Mapping[str, CallForm]] = {
        "invocation_expression": CallForm("function", "arguments"),
        "object_creation_expression": CallForm("type", "arguments", constructs=True),
    }
    strings = frozenset(
        {"string_literal", "verbatim_string_literal", "raw_string_literal", "interpolated_string_expression"}
    )
    facts = frozenset(
        {
            *TYPE_NODES,
            "using_directive",
            "variable_declaration",
            "parameter",
            "property_declaration",
            "foreach_statement",
            "declaration_pattern",
        }
    )

    def shape(self, node: Node) -> Shape | None:
        """Types and members; indexers are `this[]`, operators `operator +`, destructors `~Name`."""
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
        """A namespace with braces, or one for the rest of the file."""
        if node.type in ("namespace_declaration", "file_scoped_namespace_declaration"):
            return text_of(node.child_by_field_name("name"))
        return None

    def is_partial(self, node: Node) -> bool:
        """Whether the declaration has the modifier `partial`."""
        return any(child.type == "modifier" and child.text == b"partial" for child in node.children)

    def is_raw(self, prefix: str, quote: str) -> bool:
        """Verbatim strings and raw string literals."""
        return "@" in prefix or len(quote) > 1

    def bases(self, node: Node) -> tuple[str, ...]:
        """The base class and the interfaces."""
        return tuple(filter(None, (type_name(base) for base in base_types(node))))

    def imports(self, nodes: Nodes) -> Iterator[Import]:
        """`using N` and `using static N.T` bring everything in N or T, `using A = N.T` one type."""
        for node in nodes["using_directive"]:
            alias = text_of(node.child_by_field_name("name"))
            target = type_name(last_child(node))
            tree_wide = any(child.type == "global" for child in node.children)
            module, name = (target.rpartition(".")[0], target.rpartition(".")[2]) if alias else (target, "*")
            if target:
                yield Import(module, name, alias, node.start_point.row + 1, tree_wide)

    def bindings(self, nodes: Nodes, places: Places) -> Iterator[Binding]:
        """Fields, properties, parameters, locals, loop and pattern variables."""
        for node in nodes["variable_declaration"]:
            yield from _declared_variables(node, places)
        named = (*nodes["parameter"], *nodes["property_declaration"], *nodes["declaration_pattern"])
        variables = [(node, "name") for node in named] + [(node, "left") for node in nodes["foreach_statement"]]
        for node, field in variables:
            name, stated = text_of(node.child_by_field_name(field)), type_name(node.child_by_field_name("type"))
            if name and stated:
                yield Binding(places.scope(node), name, stated, True)

    def mappings(self, nodes: Nodes, places: Places) -> Iterator[TableMapping]:
        """What the file tells Entity Framework."""
        return entity_framework_mappings(self, nodes, places)


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
