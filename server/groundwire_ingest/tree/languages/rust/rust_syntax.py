"""Rust: modules, types with their `impl` blocks, traits and functions."""

import re
from collections.abc import Mapping
from typing import ClassVar

import tree_sitter_rust
from tree_sitter import Language, Node

from groundwire_ingest.tree.code_facts import Construct, Parameter, Trait
from groundwire_ingest.tree.languages.expressions import CallForm
from groundwire_ingest.tree.languages.nodes import FIRST, child_of, children_of, field_of, has_child, text_of
from groundwire_ingest.tree.languages.rust.macros import macro_calls
from groundwire_ingest.tree.languages.rust.rust_bindings import rust_bindings, rust_imports, rust_references, rust_type
from groundwire_ingest.tree.languages.rust.written_fields import rust_fields
from groundwire_ingest.tree.languages.syntax import Shape, Syntax

_MEMBERS = frozenset({"function_item", "function_signature_item"})


class RustSyntax(Syntax):
    """Rust up to the edition of 2024, as far as the grammar goes. Each `impl` block is a part of its type."""

    kind = "rs"
    language = "rust"
    grammar = Language(tree_sitter_rust.language())
    declarations: ClassVar[Mapping[str, Construct]] = {
        **dict.fromkeys(("struct_item", "enum_item", "union_item", "trait_item", "impl_item"), "type"),
        **dict.fromkeys((*_MEMBERS, "macro_definition"), "callable"),
        "const_item": "value",
        "static_item": "value",
        "type_item": "value",
    }
    transparent = frozenset({"foreign_mod_item", "declaration_list"})
    leading = frozenset({"line_comment", "block_comment", "attribute_item"})
    headers = frozenset({"use_declaration", "mod_item", "inner_attribute_item", "extern_crate_declaration"})
    members: ClassVar[Mapping[str, tuple[str, str]]] = {
        "scoped_identifier": ("path", "name"),
        "scoped_type_identifier": ("path", "name"),
        "field_expression": ("value", "field"),
    }
    words = frozenset({"identifier", "type_identifier", "self", "super", "crate"})
    unwrapped = frozenset(
        """parenthesized_expression try_expression await_expression generic_function generic_type
        reference_expression unary_expression""".split()
    )
    subscripts: ClassVar[Mapping[str, str]] = {"index_expression": FIRST}
    settings: ClassVar[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
        "assignment_expression": (("left",), ("right",))
    }
    calls: ClassVar[Mapping[str, CallForm]] = {
        "call_expression": CallForm("function", "arguments"),
        "struct_expression": CallForm("name", "body", constructs=True),
        "macro_invocation": CallForm("macro", ""),
    }
    strings = frozenset({"string_literal", "raw_string_literal"})
    raw = re.compile("r")
    parameter_types = frozenset({"parameter"})

    def shape(self, node: Node) -> Shape | None:
        """Types and functions; an `impl` block has the name of its type."""
        if node.type != "impl_item":
            return super().shape(node)
        name = rust_type(node.child_by_field_name("type")).partition("<")[0].rpartition(".")[2]
        body = node.child_by_field_name("body")
        return Shape(name, "type", body, body) if name else None

    def is_shared(self, node: Node, name: str) -> bool:
        """Constants that are not private."""
        return node.type != "type_item" and has_child(node, "visibility_modifier")

    def namespace(self, node: Node) -> str | None:
        """A module with braces."""
        is_module = node.type == "mod_item" and node.child_by_field_name("body") is not None
        return text_of(node, "name") if is_module else None

    def bases(self, node: Node) -> tuple[str, ...]:
        """The trait that an `impl` block is of, or those that a trait asks for."""
        if node.type == "impl_item":
            trait = rust_type(node.child_by_field_name("trait"))
            return (trait,) if trait else ()
        bounds = children_of(node, "bounds") if node.type == "trait_item" else ()
        return tuple(filter(None, map(rust_type, bounds)))

    def parameter(self, node: Node) -> Parameter:
        """One parameter; `self` is none."""
        return Parameter(text_of(node, "pattern"), rust_type(node.child_by_field_name("type")))

    def type_bounds(self, node: Node) -> tuple[tuple[str, str], ...]:
        """The traits after the colon, and those of `where`."""
        where = child_of(node, "where_clause")
        named = [(text_of(child, "name"), child) for child in children_of(node, "type_parameters")]
        named += [(text_of(child, "left"), child) for child in children_of(where)]
        bounds = ((name, rust_type(bound)) for name, child in named for bound in children_of(child, "bounds"))
        return tuple((name, stated) for name, stated in bounds if name and stated)

    def result(self, node: Node) -> str:
        """The type that a function returns or a constant has."""
        return rust_type(node.child_by_field_name("return_type") or node.child_by_field_name("type"))

    def traits(self, node: Node, parent: Node | None) -> frozenset[Trait]:
        """A trait is an interface; an `impl` block is a part of a type; a function without `self` is static."""
        if node.type == "trait_item":
            return frozenset({"interface"})
        if node.type == "impl_item":
            return frozenset({"partial"})
        takes_self = node.type in _MEMBERS and has_child(field_of(node, "parameters"), "self_parameter")
        is_static = parent is not None and parent.type == "impl_item" and not takes_self
        in_trait = parent is not None and parent.child_by_field_name("trait") is not None
        return frozenset({"static"}) if is_static and not in_trait else frozenset()

    def is_wrapping(self, node: Node) -> bool:
        """Also `*x`, but no other operator."""
        if node.type == "unary_expression":
            return has_child(node, "*")
        return super().is_wrapping(node)

    def unwrap(self, node: Node) -> Node | None:
        """Of `&mut x` the variable."""
        return node.child_by_field_name("value") if node.type == "reference_expression" else super().unwrap(node)

    def constructed(self, target: Node | None) -> str:
        """The type before the braces."""
        return rust_type(target).partition("<")[0]

    def read_callee(self, node: Node) -> tuple[str, str] | None:
        """A macro is called by its name; what a type makes of itself is no call."""
        callee = super().read_callee(node)
        return None if callee == ("", "Self") else callee

    def type_arguments(self, node: Node) -> tuple[str, ...]:
        """`A` of `get::<A>()`."""
        return tuple(filter(None, map(rust_type, children_of(node, "function", "type_arguments"))))

    imports = rust_imports
    implied_calls = macro_calls
    bindings = rust_bindings
    references = rust_references
    written_fields = rust_fields
