"""Java: packages, types with their members, and the tables that JPA maps."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import tree_sitter_java
from tree_sitter import Language, Node

from groundwire_ingest.tree.code_facts import Construct, Import, Parameter, Trait
from groundwire_ingest.tree.languages.expressions import CallForm
from groundwire_ingest.tree.languages.java.annotations import annotations
from groundwire_ingest.tree.languages.java.java_bindings import java_bindings, java_references
from groundwire_ingest.tree.languages.nodes import (
    FIRST,
    LAST,
    Nodes,
    child_of,
    children_of,
    first_child,
    line_of,
    text_of,
    type_of,
)
from groundwire_ingest.tree.languages.syntax import Syntax

_TYPES = """class_declaration interface_declaration enum_declaration record_declaration
    annotation_type_declaration""".split()


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
    subscripts: ClassVar[Mapping[str, str]] = {"array_access": "array"}
    settings: ClassVar[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
        "assignment_expression": (("left",), ("right",))
    }
    calls: ClassVar[Mapping[str, CallForm]] = {
        "method_invocation": CallForm("", "arguments"),
        "object_creation_expression": CallForm("type", "arguments", constructs=True),
    }
    strings = frozenset({"string_literal"})
    parameter_types = frozenset({"formal_parameter", "spread_parameter"})
    marks: ClassVar[Mapping[str, Trait]] = {
        "abstract": "abstract",
        "static": "static",
        "private": "private",
        "interface_declaration": "interface",
        "spread_parameter": "variadic",
    }

    def namespace(self, node: Node) -> str | None:
        """The package, for the rest of the file."""
        return text_of(node, LAST) if node.type == "package_declaration" else None

    def bases(self, node: Node) -> tuple[str, ...]:
        """The superclass and the interfaces."""
        names: list[str] = []
        for clause in node.named_children:
            if clause.type in ("superclass", "super_interfaces", "extends_interfaces"):
                listed = first_child(clause)
                bases = listed.named_children if listed is not None and listed.type == "type_list" else (listed,)
                names += map(type_of, bases)
        return tuple(filter(None, names))

    def parameter(self, node: Node) -> Parameter:
        """One parameter; one that takes any number of arguments is optional and a collection."""
        if node.type == "formal_parameter":
            return super().parameter(node)
        parts = [child for child in node.named_children if child.type != "modifiers"]
        name = text_of(parts[-1].child_by_field_name("name") or parts[-1])
        return Parameter(name, f"Array<{type_of(parts[0])}>", True)

    def result(self, node: Node) -> str:
        """The type that a method returns."""
        return type_of(node, "type")

    def traits(self, node: Node, parent: Node | None) -> frozenset[Trait]:
        """Also `override`, by its annotation."""
        overrides = any(name == "Override" for name, _ in annotations(node))
        return super().traits(node, parent) | frozenset[Trait]({"override"} if overrides else ())

    def type_bounds(self, node: Node) -> tuple[tuple[str, str], ...]:
        """The types after `extends`."""
        listed = children_of(node, "type_parameters")
        bounds = ((text_of(child, FIRST), child_of(child, "type_bound")) for child in listed)
        return tuple((name, type_of(part)) for name, bound in bounds for part in children_of(bound) if type_of(part))

    def value_path(self, node: Node | None) -> str:
        """Of a cast the type that it states, of a class literal the class."""
        if node is not None and node.type == "cast_expression":
            stated = type_of(node, "type").partition("<")[0]
            return f"{stated}()" if stated else ""
        if node is not None and node.type == "class_literal":
            return type_of(first_child(node)).partition("<")[0]
        return super().value_path(node)

    def type_arguments(self, node: Node) -> tuple[str, ...]:
        """`A` and `B` of `x.<A, B>f()`, and of a binding `bind(A.class).to(B.class)`."""
        listed = node.child_by_field_name("type_arguments")
        if listed is not None:
            return tuple(filter(None, map(type_of, listed.named_children)))
        bound = node.child_by_field_name("object")
        if bound is None or self.callee(node) != ("bind()", "to"):
            return ()
        return (*self.arguments(bound)[:1], *self.arguments(node)[:1])

    def imports(self, nodes: Nodes) -> Iterator[Import]:
        """Types, static members, and everything of a package or type."""
        for node in nodes["import_declaration"]:
            name = text_of(node, FIRST)
            module, _, last = name.rpartition(".")
            if any(child.type == "asterisk" for child in node.named_children):
                yield Import(name, "*", "", line_of(node))
            elif module:
                yield Import(module, last, last, line_of(node))

    bindings = java_bindings
    references = java_references
