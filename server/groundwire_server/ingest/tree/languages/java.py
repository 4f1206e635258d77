"""Java: packages, types with their members, and the tables that JPA maps."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import tree_sitter_java
from tree_sitter import Language, Node

from groundwire_server.ingest.tree.facts import Binding, Construct, Import, TableMapping, Trait
from groundwire_server.ingest.tree.languages.syntax import (
    CallForm,
    Nodes,
    Places,
    Syntax,
    first_child,
    last_child,
    text_of,
    type_name,
)

_TYPES = (
    "class_declaration",
    "interface_declaration",
    "enum_declaration",
    "record_declaration",
    "annotation_type_declaration",
)

_TRAITS: tuple[Trait, ...] = ("abstract", "static")


class JavaSyntax(Syntax):
    """Java up to version 21, as far as the grammar goes."""

    kind = "java"
    language = "java"
    grammar = Language(tree_sitter_java.language())
    declarations: ClassVar[Mapping[str, Construct]] = {
        **dict.fromkeys(_TYPES, "type"),
        "method_declaration": "callable",
        "constructor_declaration": "callable",
        "compact_constructor_declaration": "callable",
    }
    transparent = frozenset({"enum_body_declarations"})
    leading = frozenset({"line_comment", "block_comment"})
    adornments = frozenset({"annotation", "marker_annotation"})
    headers = frozenset({"package_declaration", "import_declaration"})
    constructors = frozenset({"constructor_declaration", "compact_constructor_declaration"})
    assignments = frozenset({"expression_statement"})
    members: ClassVar[Mapping[str, tuple[str, str]]] = {
        "field_access": ("object", "field"),
        "method_invocation": ("object", "name"),
    }
    words = frozenset({"identifier", "type_identifier", "this", "super"})
    unwrapped = frozenset({"parenthesized_expression"})
    calls: ClassVar[Mapping[str, CallForm]] = {
        "method_invocation": CallForm("", "arguments"),
        "object_creation_expression": CallForm("type", "arguments", constructs=True),
    }
    strings = frozenset({"string_literal"})
    facts = frozenset(
        {
            *_TYPES,
            "import_declaration",
            "field_declaration",
            "local_variable_declaration",
            "formal_parameter",
            "enhanced_for_statement",
            "resource",
        }
    )

    def namespace(self, node: Node) -> str | None:
        """The package, for the rest of the file."""
        return text_of(last_child(node)) if node.type == "package_declaration" else None

    def bases(self, node: Node) -> tuple[str, ...]:
        """The superclass and the interfaces."""
        names: list[str] = []
        for clause in node.named_children:
            if clause.type in ("superclass", "super_interfaces", "extends_interfaces"):
                listed = first_child(clause)
                bases = listed.named_children if listed and listed.type == "type_list" else (listed,)
                names.extend(type_name(base) for base in bases)
        return tuple(name for name in names if name)

    def traits(self, node: Node, parent: Node | None) -> frozenset[Trait]:
        """By the modifiers and the kind of type."""
        modifiers = next((text_of(child).split() for child in node.children if child.type == "modifiers"), [])
        found: set[Trait] = {trait for trait in _TRAITS if trait in modifiers}
        if node.type == "interface_declaration":
            found.add("interface")
        return frozenset(found)

    def imports(self, nodes: Nodes) -> Iterator[Import]:
        """Types, static members, and everything of a package or type."""
        for node in nodes["import_declaration"]:
            name = text_of(first_child(node))
            module, _, last = name.rpartition(".")
            line = node.start_point.row + 1
            if any(child.type == "asterisk" for child in node.named_children):
                yield Import(name, "*", "", line)
            elif module:
                yield Import(module, last, last, line)

    def bindings(self, nodes: Nodes, places: Places) -> Iterator[Binding]:
        """Fields, parameters, locals, loop variables and resources."""
        for kind in ("field_declaration", "local_variable_declaration"):
            for node in nodes[kind]:
                for variable in node.children_by_field_name("declarator"):
                    yield from _variable(node, variable, places)
        for kind in ("formal_parameter", "enhanced_for_statement", "resource"):
            for node in nodes[kind]:
                yield from _variable(node, node, places)

    def mappings(self, nodes: Nodes, places: Places) -> Iterator[TableMapping]:
        """`@Table(name = "x", schema = "s")` on a class."""
        for node in nodes["class_declaration"]:
            modifiers = first_child(node)
            annotations = modifiers.named_children if modifiers and modifiers.type == "modifiers" else []
            for annotation in annotations:
                if text_of(annotation.child_by_field_name("name")).rpartition(".")[2] == "Table":
                    values = _annotation_values(annotation)
                    table = ".".join(filter(None, (values.get("schema", ""), values.get("name", ""))))
                    if values.get("name"):
                        yield TableMapping(places.key(node), places.scope(node), "", table, 1.0)


def _variable(node: Node, variable: Node, places: Places) -> Iterator[Binding]:
    """The type that `node` states for `variable`, or for `var` the one that its value is made of."""
    name, type_of_variable = text_of(variable.child_by_field_name("name")), type_name(node.child_by_field_name("type"))
    stated = type_of_variable != "var"
    if not stated:
        value = variable.child_by_field_name("value")
        made = value.child_by_field_name("type") if value and value.type == "object_creation_expression" else None
        type_of_variable = type_name(made)
    if name and type_of_variable:
        yield Binding(places.scope(variable), name, type_of_variable, stated)


def _annotation_values(annotation: Node) -> dict[str, str]:
    """The plain strings among an annotation's `key = "value"` arguments."""
    arguments = annotation.child_by_field_name("arguments")
    values: dict[str, str] = {}
    for pair in arguments.named_children if arguments else ():
        value = pair.child_by_field_name("value")
        if value is not None and value.type == "string_literal":
            values[text_of(pair.child_by_field_name("key"))] = text_of(value).strip('"')
    return values
