"""Kotlin: packages, types with their members, functions and properties of files, and extension functions."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import tree_sitter_kotlin
from tree_sitter import Language, Node

from groundwire_ingest.tree.code_facts import Construct, Import, Parameter, Trait
from groundwire_ingest.tree.languages.expressions import CallForm
from groundwire_ingest.tree.languages.kotlin.kotlin_bindings import kotlin_bindings, kotlin_references
from groundwire_ingest.tree.languages.kotlin.operators import implied_calls
from groundwire_ingest.tree.languages.nodes import (
    FIRST,
    LAST,
    Nodes,
    child_of,
    children_of,
    first_child,
    has_child,
    line_of,
    outer_of,
    text_of,
    type_of,
)
from groundwire_ingest.tree.languages.syntax import Shape, Syntax

_BODIES = ("class_body", "enum_class_body", "function_body", "block", "getter", "property_delegate")
_TYPE_NODES = ("user_type", "nullable_type", "parenthesized_type", "function_type", "non_nullable_type")
_TRAITS: Mapping[str, Trait] = {
    "abstract": "abstract",
    "sealed": "abstract",
    "override": "override",
    "private": "private",
}


class KotlinSyntax(Syntax):
    """Kotlin up to version 2, as far as the grammar goes.

    The declarations in a companion object are members of its class.
    """

    kind = "kt"
    language = "kotlin"
    grammar = Language(tree_sitter_kotlin.language())
    declarations: ClassVar[Mapping[str, Construct]] = {
        "class_declaration": "type",
        "object_declaration": "type",
        "function_declaration": "callable",
        "secondary_constructor": "callable",
        "property_declaration": "value",
    }
    transparent = frozenset({"companion_object", "class_body"})
    leading = frozenset({"line_comment", "block_comment"})
    adornments = frozenset({"annotation"})
    headers = frozenset({"package_header", "import", "file_annotation"})
    members: ClassVar[Mapping[str, tuple[str, str]]] = {"navigation_expression": (FIRST, LAST)}
    words = frozenset({"identifier", "this_expression", "super_expression"})
    unwrapped = frozenset({"parenthesized_expression", "value_argument", "annotated_lambda"})
    subscripts: ClassVar[Mapping[str, str]] = {"index_expression": FIRST}
    settings: ClassVar[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {"assignment": (("left",), ("right",))}
    calls: ClassVar[Mapping[str, CallForm]] = {
        "call_expression": CallForm(FIRST, "value_arguments"),
        "constructor_invocation": CallForm(FIRST, "value_arguments", constructs=True),
    }
    strings = frozenset({"string_literal"})
    marks: ClassVar[Mapping[str, Trait]] = {"interface": "interface"}

    def shape(self, node: Node) -> Shape | None:
        """Types and members; a secondary constructor has the name of its class."""
        construct = self.declarations.get(node.type)
        if construct is None:
            return None
        name = text_of(node, "name")
        if construct == "value":
            name = text_of(child_of(node, "variable_declaration"), FIRST)
        if node.type == "secondary_constructor":
            name = text_of(outer_of(node), "name")
        body = child_of(node, *_BODIES)
        return Shape(name, construct, body, body if construct == "type" else None) if name else None

    def is_shared(self, node: Node, name: str) -> bool:
        """What is declared `const` and is not private."""
        words = text_of(child_of(node, "modifiers")).split()
        return "const" in words and "private" not in words

    def namespace(self, node: Node) -> str | None:
        """The package, for the rest of the file."""
        return text_of(first_child(node)) if node.type == "package_header" else None

    def bases(self, node: Node) -> tuple[str, ...]:
        """The superclass and the interfaces, those that are delegated to included."""
        bases: list[str] = []
        for specifier in children_of(child_of(node, "delegation_specifiers")):
            base = first_child(specifier)
            while base is not None and base.type in ("constructor_invocation", "explicit_delegation"):
                base = first_child(base)
            bases.append(type_of(base))
        return tuple(filter(None, bases))

    def parameters(self, node: Node) -> tuple[Parameter, ...] | None:
        """Those of a function, an extended type first, or of the primary constructor of a class."""
        primary = child_of(node, "primary_constructor")
        listed = first_child(primary) if primary is not None else child_of(node, "function_value_parameters")
        if listed is None:
            return None
        receiver = _receiver(node)
        parameters = [] if receiver is None else [Parameter("this", type_of(receiver))]
        for child in listed.named_children:
            if child.type in ("parameter", "class_parameter"):
                name, stated = text_of(child_of(child, "identifier")), type_of(child_of(child, *_TYPE_NODES))
                after = child if child.type == "class_parameter" else child.next_sibling
                has_default = after is not None and any(part.type == "=" for part in (after, *after.children))
                parameters.append(Parameter(name, stated, has_default))
        return tuple(parameters)

    def result(self, node: Node) -> str:
        """The type that a function returns or a property has."""
        if node.type == "property_declaration":
            return type_of(child_of(child_of(node, "variable_declaration"), *_TYPE_NODES))
        listed = child_of(node, "function_value_parameters")
        after = [child for child in node.named_children if listed is not None and child.start_byte >= listed.end_byte]
        return next((type_of(child) for child in after if child.type in _TYPE_NODES), "")

    def type_bounds(self, node: Node) -> tuple[tuple[str, str], ...]:
        """The types after the colon, and those of `where`."""
        listed = (*children_of(child_of(node, "type_parameters")), *children_of(child_of(node, "type_constraints")))
        bounds = ((text_of(child_of(child, "identifier")), type_of(child_of(child, *_TYPE_NODES))) for child in listed)
        return tuple((name, stated) for name, stated in bounds if stated)

    def traits(self, node: Node, parent: Node | None) -> frozenset[Trait]:
        """By the modifiers and the kind of type; what a companion object holds is static."""
        modifiers = text_of(child_of(node, "modifiers")).split()
        traits: set[Trait] = {trait for word, trait in _TRAITS.items() if word in modifiers}
        traits |= super().traits(node, parent)
        if _receiver(node) is not None:
            traits.add("extension")
        listed = children_of(child_of(node, "function_value_parameters"))
        if any(child.type == "parameter_modifiers" and child.text == b"vararg" for child in listed):
            traits.add("variadic")
        around = outer_of(node) if self.declarations[node.type] != "type" else None
        if around is not None and around.type == "companion_object":
            traits.add("static")
        return frozenset(traits)

    def is_slight(self, node: Node, shape: Shape) -> bool:
        """Only what is written as one expression that hands out a field."""
        is_expression = shape.body is not None and shape.body.type == "function_body"
        body = first_child(shape.body) if is_expression else None
        return body is not None and (body.type == "identifier" or (body.type == "block" and not body.named_children))

    def is_wrapping(self, node: Node) -> bool:
        """Also `x!!`, but no other operator."""
        if node.type == "unary_expression":
            return has_child(node, "!!")
        return super().is_wrapping(node)

    def read_callee(self, node: Node) -> tuple[str, str] | None:
        """A call with a lambda behind its arguments is one call, and an annotation none."""
        target = first_child(node)
        is_annotation = node.parent is not None and node.parent.type == "annotation"
        if target is None or is_annotation or (node.type == "call_expression" and target.type == "call_expression"):
            return None
        return super().read_callee(node)

    def arguments(self, node: Node) -> tuple[str, ...]:
        """The arguments of a call, a lambda behind them included."""
        in_brackets = map(self.argument, children_of(child_of(node, "value_arguments")))
        outer = node.parent if node.parent is not None and node.parent.type == "call_expression" else node
        return (*in_brackets, "") if child_of(outer, "annotated_lambda") is not None else tuple(in_brackets)

    def argument(self, node: Node) -> str:
        """One argument; a name before it is left out."""
        value = node.named_children[-1] if node.named_children else node
        return '"' if value.type in self.strings else self.value_path(value)

    def type_arguments(self, node: Node) -> tuple[str, ...]:
        """`A` of `get<A>()`."""
        return tuple(filter(None, map(type_of, children_of(child_of(node, "type_arguments")))))

    implied_calls = implied_calls

    def imports(self, nodes: Nodes) -> Iterator[Import]:
        """Types, functions and properties by name, under another one with `as`, and everything of a package."""
        for node in nodes["import"]:
            module, _, last = text_of(node, FIRST).rpartition(".")
            line = line_of(node)
            alias = text_of(node.named_children[1]) if len(node.named_children) > 1 else last
            if has_child(node, "*"):
                yield Import(f"{module}.{last}" if module else last, "*", "", line)
            elif module:
                yield Import(module, last, alias, line)

    bindings = kotlin_bindings
    references = kotlin_references


def _receiver(node: Node) -> Node | None:
    """The type that an extension function or property extends."""
    name = node.child_by_field_name("name") or child_of(node, "variable_declaration")
    if name is None or node.type not in ("function_declaration", "property_declaration"):
        return None
    before = [child for child in node.named_children if child.end_byte <= name.start_byte]
    return next((child for child in before if child.type in _TYPE_NODES), None)
