"""PHP: namespaces, types with their members, traits and functions."""

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar

import tree_sitter_php
from tree_sitter import Language, Node

from groundwire_ingest.tree.code_facts import Construct, Import, Parameter, Trait
from groundwire_ingest.tree.languages.expressions import CallForm
from groundwire_ingest.tree.languages.nodes import FIRST, LAST, Nodes, children_of, field_of, line_of, text_of
from groundwire_ingest.tree.languages.php.php_bindings import php_bindings, php_name, php_references, php_type
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Syntax

_TYPES = ("class_declaration", "interface_declaration", "trait_declaration", "enum_declaration")
_BASES = frozenset({"base_clause", "class_interface_clause", "use_declaration"})
_NAMES = frozenset({"name", "qualified_name"})
_REQUIRED = ("require_expression", "require_once_expression", "include_expression", "include_once_expression")


class PhpSyntax(Syntax):
    """PHP up to version 8, as far as the grammar goes; the text around the code is text of the file."""

    kind = "php"
    language = "php"
    grammar = Language(tree_sitter_php.language_php())
    declarations: ClassVar[Mapping[str, Construct]] = {
        **dict.fromkeys(_TYPES, "type"),
        "function_definition": "callable",
        "method_declaration": "callable",
    }
    transparent = frozenset({"if_statement", "else_clause", "compound_statement", "colon_block"})
    leading = frozenset({"comment"})
    adornments = frozenset({"attribute_list"})
    headers = frozenset({"php_tag", "namespace_use_declaration", "declare_statement"})
    constructors = frozenset({"__construct"})
    assignments = frozenset({"expression_statement"})
    members: ClassVar[Mapping[str, tuple[str, str]]] = {
        "member_access_expression": ("object", "name"),
        "nullsafe_member_access_expression": ("object", "name"),
        "member_call_expression": ("object", "name"),
        "nullsafe_member_call_expression": ("object", "name"),
        "scoped_call_expression": ("scope", "name"),
        "scoped_property_access_expression": ("scope", "name"),
        "class_constant_access_expression": (FIRST, LAST),
    }
    words = frozenset({"name", "qualified_name", "variable_name", "relative_scope"})
    unwrapped = frozenset({"parenthesized_expression", "argument", "clone_expression"})
    subscripts: ClassVar[Mapping[str, str]] = {"subscript_expression": FIRST}
    settings: ClassVar[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
        "assignment_expression": (("left",), ("right",))
    }
    calls: ClassVar[Mapping[str, CallForm]] = {
        "function_call_expression": CallForm("function", "arguments"),
        "member_call_expression": CallForm("", "arguments"),
        "nullsafe_member_call_expression": CallForm("", "arguments"),
        "scoped_call_expression": CallForm("", "arguments"),
        "object_creation_expression": CallForm(FIRST, LAST, constructs=True),
    }
    strings = frozenset({"string", "encapsed_string"})
    raw = re.compile("'")
    marks: ClassVar[Mapping[str, Trait]] = {
        "interface_declaration": "interface",
        "abstract_modifier": "abstract",
        "static_modifier": "static",
        "private": "private",
        "variadic_parameter": "variadic",
    }

    def namespace(self, node: Node) -> str | None:
        """A namespace with braces, or one for the rest of the file."""
        if node.type != "namespace_definition":
            return None
        return php_name(node.child_by_field_name("name")).lstrip(".")

    def bases(self, node: Node) -> tuple[str, ...]:
        """The superclass, the interfaces and the traits."""
        clauses = [child for child in (*node.named_children, *children_of(node, "body")) if child.type in _BASES]
        listed = (child for clause in clauses for child in clause.named_children if child.type in _NAMES)
        return tuple(filter(None, map(php_name, listed)))

    def parameter(self, node: Node) -> Parameter:
        """One parameter; it is optional when it has a value or takes any number of arguments."""
        stated = php_type(node.child_by_field_name("type"))
        has_default = node.child_by_field_name("default_value") is not None or node.type == "variadic_parameter"
        return Parameter(text_of(node, "name"), stated, has_default)

    def result(self, node: Node) -> str:
        """The type that a callable states to return."""
        stated = php_type(node.child_by_field_name("return_type"))
        return "Self" if stated == "static" else stated

    def segment(self, node: Node | None) -> str:
        """Names with dots in place of backslashes."""
        return php_name(node)

    def constructed(self, target: Node | None) -> str:
        """The class that is named after `new`; nothing for a variable or an anonymous class."""
        is_named = target is not None and target.type in (*_NAMES, "relative_scope")
        return php_name(target) if is_named else ""

    def imports(self, nodes: Nodes) -> Iterator[Import]:
        """`use` of types, functions and constants, one by one or in a group, and files that are included."""
        for node in nodes["namespace_use_declaration"]:
            group = node.child_by_field_name("body")
            prefix = php_name(field_of(node, FIRST)) + "." if group is not None else ""
            for clause in (group or node).named_children:
                named = next((child for child in clause.named_children if child.type in _NAMES), None)
                module, _, name = (prefix + php_name(named)).lstrip(".").rpartition(".")
                alias = text_of(clause, "alias") or name
                if clause.type == "namespace_use_clause" and name:
                    yield Import(module, name, alias, line_of(clause))
        for node in nodes.of(*_REQUIRED):
            value = field_of(node, LAST)
            while value is not None and value.type in ("parenthesized_expression", "binary_expression"):
                value = field_of(value, LAST)
            path = string_value(self, value) if value is not None and value.type in self.strings else ""
            if path and "$" not in path:
                yield Import(path, "", "", line_of(node))

    bindings = php_bindings
    references = php_references
