"""Go: packages, types, functions and methods."""

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar

import tree_sitter_go
from tree_sitter import Language, Node

from groundwire_server.ingest.tree.facts import Binding, Construct, Import, Trait
from groundwire_server.ingest.tree.languages.syntax import (
    CallForm,
    Nodes,
    Places,
    Shape,
    Syntax,
    first_child,
    text_of,
    type_name,
)

_MODULE_LINE = re.compile(r"^[ \t]*module[ \t]+\"?([^\s\"]+)", re.MULTILINE)
_VERSION = re.compile(r"v\d+")
_SPECS = frozenset({"type_spec", "type_alias"})


class GoSyntax(Syntax):
    """Go with type parameters."""

    kind = "go"
    language = "go"
    grammar = Language(tree_sitter_go.language())
    declarations: ClassVar[Mapping[str, Construct]] = {
        "function_declaration": "callable",
        "method_declaration": "callable",
        "method_elem": "callable",
        "type_spec": "type",
        "type_alias": "value",
    }
    transparent = frozenset({"type_declaration"})
    wrappers = frozenset({"type_declaration"})
    leading = frozenset({"comment"})
    headers = frozenset({"package_clause", "import_declaration"})
    members: ClassVar[Mapping[str, tuple[str, str]]] = {
        "selector_expression": ("operand", "field"),
        "qualified_type": ("package", "name"),
    }
    words = frozenset({"identifier", "type_identifier", "package_identifier"})
    unwrapped = frozenset({"parenthesized_expression"})
    calls: ClassVar[Mapping[str, CallForm]] = {"call_expression": CallForm("function", "arguments")}
    strings = frozenset({"interpreted_string_literal", "raw_string_literal"})
    facts = frozenset(
        {
            "import_spec",
            "parameter_declaration",
            "field_declaration",
            "var_spec",
            "short_var_declaration",
        }
    )

    def shape(self, node: Node) -> Shape | None:
        """Functions, methods with the type of their receiver, and types, `type (...)` groups one by one."""
        if node.type == "type_declaration":
            specs = [child for child in node.named_children if child.type in _SPECS]
            return self.shape(specs[0]) if len(specs) == 1 else None
        shape = super().shape(node)
        if shape is None or node.type not in ("type_spec", "method_declaration"):
            return shape
        if node.type == "method_declaration":
            return Shape(shape.name, "callable", shape.body, owner=_receiver_type(node))
        declared = node.child_by_field_name("type")
        if declared is None or declared.type not in ("struct_type", "interface_type"):
            return Shape(shape.name, "type", None)
        return Shape(shape.name, "type", next(iter(declared.children[1:2]), None), declared)

    def bases(self, node: Node) -> tuple[str, ...]:
        """The types that a struct or an interface embeds."""
        spec = next((child for child in node.named_children if child.type in _SPECS), node)
        declared = spec.child_by_field_name("type")
        if declared is None or declared.type not in ("struct_type", "interface_type"):
            return ()
        fields = first_child(declared) if declared.type == "struct_type" else declared
        names: list[str] = []
        for field in fields.named_children if fields else ():
            if field.type == "field_declaration" and field.child_by_field_name("name") is None:
                names.append(type_name(field.child_by_field_name("type")))
            elif field.type == "type_elem" and field.named_child_count == 1:
                names.append(type_name(field))
        return tuple(name for name in names if name)

    def traits(self, node: Node, parent: Node | None) -> frozenset[Trait]:
        """An interface is satisfied without being named."""
        spec = next((child for child in node.named_children if child.type in _SPECS), node)
        declared = spec.child_by_field_name("type") if spec.type in _SPECS else None
        is_interface = declared is not None and declared.type == "interface_type"
        return frozenset({"interface", "structural"}) if is_interface else frozenset()

    def is_raw(self, prefix: str, quote: str) -> bool:
        """Strings in backquotes."""
        return quote == "`"

    def imports(self, nodes: Nodes) -> Iterator[Import]:
        """Packages by path; a dot import brings everything in."""
        for node in nodes["import_spec"]:
            module = text_of(node.child_by_field_name("path")).strip('"`')
            alias = text_of(node.child_by_field_name("name")) or _package_name(module)
            line = node.start_point.row + 1
            if alias == ".":
                yield Import(module, "*", "", line)
            else:
                yield Import(module, "", "" if alias == "_" else alias, line)

    def bindings(self, nodes: Nodes, places: Places) -> Iterator[Binding]:
        """Parameters, struct fields, and variables with a stated type or set to a composite literal."""
        for kind in ("parameter_declaration", "field_declaration", "var_spec"):
            for node in nodes[kind]:
                stated = type_name(node.child_by_field_name("type"))
                for name in node.children_by_field_name("name") if stated else ():
                    yield Binding(places.scope(node), text_of(name), stated, True)
        for node in nodes["short_var_declaration"]:
            names, values = node.child_by_field_name("left"), node.child_by_field_name("right")
            for name, value in zip(
                names.named_children if names else (), values.named_children if values else (), strict=False
            ):
                made = _composite_type(value)
                if made:
                    yield Binding(places.scope(node), text_of(name), made, False)


def module_path(text: str) -> str:
    """The path that a go.mod file gives its module; empty when it gives none."""
    match = _MODULE_LINE.search(text)
    return match[1] if match else ""


def _receiver_type(node: Node) -> str:
    receiver = node.child_by_field_name("receiver")
    parameter = first_child(receiver)
    return type_name(parameter.child_by_field_name("type")) if parameter else ""


def _composite_type(value: Node) -> str:
    """The type of `Foo{...}` and `&Foo{...}`."""
    literal = value.child_by_field_name("operand") if value.type == "unary_expression" else value
    if literal is None or literal.type != "composite_literal":
        return ""
    return type_name(literal.child_by_field_name("type"))


def _package_name(module: str) -> str:
    """What a package is called where it is imported without a name: by convention the last part of its path,
    a major version left out."""
    parts = [part for part in module.split("/") if not _VERSION.fullmatch(part)]
    return parts[-1] if parts else module
