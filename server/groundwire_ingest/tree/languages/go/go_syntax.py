"""Go: packages, types, functions and methods."""

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar

import tree_sitter_go
from tree_sitter import Language, Node

from groundwire_ingest.tree.code_facts import Construct, Import, Parameter, Trait
from groundwire_ingest.tree.languages.expressions import CallForm
from groundwire_ingest.tree.languages.go.go_bindings import converted_type, go_bindings, go_implementations, made_type
from groundwire_ingest.tree.languages.go.references import go_references
from groundwire_ingest.tree.languages.go.types import SPECS, embedded, go_parameters, go_type, result_of, spec_of
from groundwire_ingest.tree.languages.go.written_fields import go_fields
from groundwire_ingest.tree.languages.nodes import FIRST, Nodes, children_of, first_child, line_of, text_of, type_name
from groundwire_ingest.tree.languages.syntax import Shape, Syntax

_VERSION = re.compile(r"v\d+")
_DECLARATIONS = frozenset({"type_declaration", "var_declaration", "const_declaration"})


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
        "type_alias": "type",
        "var_spec": "value",
        "const_spec": "value",
    }
    transparent = frozenset({*_DECLARATIONS, "var_spec_list"})
    wrappers = frozenset({"type_declaration"})
    leading = frozenset({"comment"})
    headers = frozenset({"package_clause", "import_declaration"})
    members: ClassVar[Mapping[str, tuple[str, str]]] = {
        "selector_expression": ("operand", "field"),
        "qualified_type": ("package", "name"),
    }
    words = frozenset({"identifier", "type_identifier", "package_identifier"})
    unwrapped = frozenset({"parenthesized_expression", "unary_expression", "slice_expression"})
    subscripts: ClassVar[Mapping[str, str]] = {"index_expression": "operand"}
    settings: ClassVar[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
        "assignment_statement": (("left", FIRST), ("right", FIRST))
    }
    calls: ClassVar[Mapping[str, CallForm]] = {
        "call_expression": CallForm("function", "arguments"),
        "composite_literal": CallForm("type", "", constructs=True),
    }
    marks: ClassVar[Mapping[str, Trait]] = {"variadic_parameter_declaration": "variadic"}
    strings = frozenset({"interpreted_string_literal", "raw_string_literal"})
    raw = re.compile("`")

    def shape(self, node: Node) -> Shape | None:
        """Functions, methods with the type of their receiver, types, variables; groups one by one.

        A group of constants in which some repeat the expression above them (`iota`) is one declaration.
        """
        if node.type in _DECLARATIONS:
            specs = _specs(node)
            is_one = len(specs) == 1 or _is_enumeration(node)
            named = (spec for spec in specs if text_of(spec, "name") != "_")
            return self.shape(next(named, specs[0])) if is_one else None
        shape = super().shape(node)
        if shape is None or shape.name == "_":
            return None
        if node.type == "method_declaration":
            return Shape(shape.name, "callable", shape.body, owner=type_name(node, "receiver", FIRST, "type"))
        if node.type not in ("type_spec", "type_alias"):
            return shape
        declared = node.child_by_field_name("type")
        if declared is None or declared.type not in ("struct_type", "interface_type"):
            return Shape(shape.name, "type", None)
        return Shape(shape.name, "type", next(iter(declared.children[1:2]), None), declared)

    def generated_names(self, node: Node) -> tuple[str, ...]:
        """The further names of `var a, b = 1, 2`, and of an enumeration."""
        specs = _specs(node) if _is_enumeration(node) else [spec_of(node)] if _is_of_values(node) else []
        names = [name for spec in specs for name in spec.children_by_field_name("name") if name.is_named]
        return tuple(text for text in map(text_of, names) if text != "_")[1:]

    def is_shared(self, node: Node, name: str) -> bool:
        """What is exported, and error values, which the files of a package return to each other."""
        names = (name, *self.generated_names(node))
        return any(item[:1].isupper() for item in names) or name.startswith("err")

    def bases(self, node: Node) -> tuple[str, ...]:
        """The types that a struct or an interface embeds, or the one that a type is defined as."""
        return tuple(filter(None, embedded(spec_of(node).child_by_field_name("type"))))

    def parameters(self, node: Node) -> tuple[Parameter, ...] | None:
        """The parameters of a function, each name on its own."""
        listed = node.child_by_field_name("parameters")
        return tuple(go_parameters(listed)) if listed is not None else None

    def result(self, node: Node) -> str:
        """The first result that is no error; of a variable its type, as stated or as its value is made."""
        if not _is_of_values(node):
            return result_of(node.child_by_field_name("result"))
        spec = spec_of(node)
        return go_type(spec.child_by_field_name("type")) or made_type(first_child(spec, "value"))

    def type_parameters(self, node: Node) -> tuple[str, ...]:
        """The names of a type's own type parameters."""
        named = children_of(spec_of(node), "type_parameters")
        return tuple(text_of(name) for child in named for name in child.children_by_field_name("name") if name.is_named)

    def type_bounds(self, node: Node) -> tuple[tuple[str, str], ...]:
        """The constraints, and of an interface that is written out the types in it."""
        bounds: list[tuple[str, str]] = []
        for child in children_of(spec_of(node), "type_parameters"):
            constraint = first_child(child, "type")
            is_written_out = constraint is not None and constraint.type == "interface_type"
            stated = embedded(constraint) if is_written_out else (go_type(constraint),)
            names = [text_of(name) for name in child.children_by_field_name("name") if name.is_named]
            bounds += ((name, bound) for bound in stated if bound for name in names)
        return tuple(bounds)

    def traits(self, node: Node, parent: Node | None) -> frozenset[Trait]:
        """An interface is satisfied without being named."""
        spec = spec_of(node)
        declared = spec.child_by_field_name("type") if spec.type in SPECS else None
        if declared is not None and declared.type == "interface_type":
            return frozenset({"interface", "structural"})
        return super().traits(node, parent)

    def read_callee(self, node: Node) -> tuple[str, str] | None:
        """Of `new(T)` the type; none of a conversion to a pointer."""
        if converted_type(node):
            return None
        callee = super().read_callee(node)
        if callee != ("", "new") or node.type != "call_expression":
            return callee
        receiver, _, name = made_type(node).partition("<")[0].rpartition(".")
        return (receiver, name) if name else None

    def value_path(self, node: Node | None) -> str:
        """An expression whose type it states is as good as a construction of that type."""
        made = made_type(node).partition("<")[0]
        return f"{made}()" if made and made not in ("Array", "Map") else super().value_path(node)

    def imports(self, nodes: Nodes) -> Iterator[Import]:
        """Packages by path; a dot import brings everything in."""
        for node in nodes["import_spec"]:
            module = text_of(node, "path").strip('"`')
            alias = text_of(node, "name") or _package_name(module)
            line = line_of(node)
            if alias == ".":
                yield Import(module, "*", "", line)
            else:
                yield Import(module, "", "" if alias == "_" else alias, line)

    bindings = go_bindings
    written_fields = go_fields
    stated_implementations = go_implementations
    references = go_references


def _specs(node: Node) -> list[Node]:
    """The specifications of a declaration."""
    return [child for child in node.named_children if child.type in SPECS]


def _is_enumeration(node: Node) -> bool:
    """True if a declaration has several constants, some of which have the value of the one above."""
    if node.type != "const_declaration":
        return False
    specs = _specs(node)
    return len(specs) > 1 and any(spec.child_by_field_name("value") is None for spec in specs)


def _is_of_values(node: Node) -> bool:
    """True if a declaration is one of variables or constants."""
    return spec_of(node).type in ("var_spec", "const_spec")


def _package_name(module: str) -> str:
    """The name of a package that is imported without one: by convention the last part of its path, without version."""
    parts = [part for part in module.split("/") if not _VERSION.fullmatch(part)]
    return parts[-1] if parts else module
