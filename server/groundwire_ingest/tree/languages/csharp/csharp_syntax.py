"""C#: namespaces, types with their members."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import ClassVar

import tree_sitter_c_sharp
from tree_sitter import Language, Node

from groundwire_ingest.tree.code_facts import Binding, Construct, Import, Parameter, Trait
from groundwire_ingest.tree.languages.conditionals import one_branch
from groundwire_ingest.tree.languages.csharp.csharp_bindings import (
    TYPE_NODES,
    attribute_names,
    base_types,
    csharp_bindings,
    csharp_references,
    target_of,
)
from groundwire_ingest.tree.languages.csharp.extensions import ExtensionBlock, extension_blocks
from groundwire_ingest.tree.languages.csharp.written_fields import csharp_fields
from groundwire_ingest.tree.languages.expressions import CallForm
from groundwire_ingest.tree.languages.nodes import (
    FIRST,
    LAST,
    Nodes,
    child_of,
    children_of,
    field_of,
    first_child,
    has_child,
    last_child,
    line_of,
    text_of,
    type_name,
    type_of,
)
from groundwire_ingest.tree.languages.syntax import Places, Shape, Syntax
from groundwire_ingest.tree.languages.types import arguments, head


class CSharpSyntax(Syntax):
    """C# up to version 12, as far as the grammar goes, and the extension members of version 14."""

    kind = "cs"
    language = "csharp"
    grammar = Language(tree_sitter_c_sharp.language())
    declarations: ClassVar[Mapping[str, Construct]] = {
        **dict.fromkeys((*TYPE_NODES, "enum_declaration"), "type"),
        **dict.fromkeys(
            """method_declaration constructor_declaration destructor_declaration operator_declaration
            conversion_operator_declaration""".split(),
            "callable",
        ),
        **dict.fromkeys(
            "property_declaration indexer_declaration event_declaration delegate_declaration".split(), "value"
        ),
        "field_declaration": "value",
    }
    transparent = frozenset({"preproc_if", "preproc_elif", "preproc_else"})
    leading = frozenset({"comment"})
    adornments = frozenset({"attribute_list"})
    headers = frozenset({"using_directive", "extern_alias_directive", "global_attribute"})
    directive = "#"
    constructors = frozenset({"constructor_declaration"})
    assignments = frozenset({"expression_statement"})
    members: ClassVar[Mapping[str, tuple[str, str]]] = {
        "member_access_expression": ("expression", "name"),
        "member_binding_expression": ("expression", "name"),
        "qualified_name": ("qualifier", "name"),
    }
    words = frozenset({"identifier", "generic_name", "this", "base"})
    unwrapped = frozenset({"parenthesized_expression", "await_expression", "postfix_unary_expression", "argument"})
    conditionals = frozenset({"conditional_access_expression"})
    subscripts: ClassVar[Mapping[str, str]] = {"element_access_expression": "expression"}
    settings: ClassVar[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
        "assignment_expression": (("left",), ("right",))
    }
    calls: ClassVar[Mapping[str, CallForm]] = {
        "invocation_expression": CallForm("function", "arguments"),
        "object_creation_expression": CallForm("type", "arguments", constructs=True),
        "implicit_object_creation_expression": CallForm("", "", constructs=True),
    }
    strings = frozenset(
        {"string_literal", "verbatim_string_literal", "raw_string_literal", "interpolated_string_expression"}
    )
    raw = re.compile(r"@|([\"'`])\1")
    marks: ClassVar[Mapping[str, Trait]] = {
        "abstract": "abstract",
        "static": "static",
        "override": "override",
        "private": "private",
        "partial": "partial",
        "interface_declaration": "interface",
    }

    def __init__(self) -> None:
        super().__init__()
        self._extension_blocks: list[ExtensionBlock] = []

    def begin_file(self) -> None:
        """Also forgets the extension members of the file before."""
        super().begin_file()
        self._extension_blocks = []

    def shape(self, node: Node) -> Shape | None:
        """Types and members; indexers are `this[]`, operators `operator +`, destructors `~Name`."""
        construct = self.declarations.get(node.type)
        if construct is None:
            return None
        name = text_of(node, "name")
        match node.type:
            case "field_declaration":
                return _constant(node)
            case "indexer_declaration":
                name = "this[]"
            case "destructor_declaration":
                name = f"~{name}"
            case "operator_declaration":
                name = f"operator {text_of(node, 'operator')}"
            case "conversion_operator_declaration":
                name = f"operator {type_name(node, 'type')}"
        fields = ("body", "accessors", "value")
        body = next((part for part in map(node.child_by_field_name, fields) if part is not None), None)
        return Shape(name, construct, body, body if construct == "type" else None) if name else None

    def generated_names(self, node: Node) -> tuple[str, ...]:
        """The further names of `const int A = 1, B = 2`; the command that the MVVM toolkit makes of a method."""
        if node.type == "field_declaration":
            return tuple(text_of(variable, "name") for variable in _variables(node)[1:])
        if node.type != "method_declaration" or "RelayCommand" not in attribute_names(node):
            return ()
        name = text_of(node, "name").removesuffix("Async")
        return (f"{name.removeprefix('On') or name}Command",)

    def prepared(self, source: bytes) -> bytes:
        """The source with blanks for branches that are no whole statements and around extension members."""
        source, self._extension_blocks = extension_blocks(one_branch(source))
        return source

    def _extended(self, node: Node) -> ExtensionBlock | None:
        """The block of extension members that a declaration is in."""
        position = bisect_right(self._extension_blocks, node.start_byte, key=lambda block: block.start) - 1
        block = self._extension_blocks[position] if position >= 0 else None
        return block if block is not None and block.holds(node) else None

    def module_traits(self, root: Node) -> frozenset[Trait]:
        """Top-level statements are a part of a class `Program`."""
        return frozenset({"partial"}) if has_child(root, "global_statement") else frozenset()

    def namespace(self, node: Node) -> str | None:
        """A namespace with braces, or one for the rest of the file."""
        if node.type in ("namespace_declaration", "file_scoped_namespace_declaration"):
            return text_of(node, "name")
        return None

    def parameters(self, node: Node) -> tuple[Parameter, ...] | None:
        """Those of a member, or of the primary constructor after a type's name."""
        listed = node.child_by_field_name("parameters") or child_of(node, "parameter_list")
        if listed is None:
            return None
        parameters = [self.parameter(child) for child in listed.named_children if child.type == "parameter"]
        # The grammar lays the parts of a `params` parameter out in the list itself.
        name = text_of(listed, "name")
        if name:
            parameters.append(Parameter(name, type_of(listed, "type"), True))
        block = self._extended(node) if node.type == "method_declaration" else None
        return (block.receiver, *parameters) if block is not None and self._is_extension(node) else tuple(parameters)

    def type_parameters(self, node: Node) -> tuple[str, ...]:
        """Also those of the block of extension members around a method."""
        block = self._extended(node) if node.type == "method_declaration" else None
        return (*(block.type_parameters if block is not None else ()), *super().type_parameters(node))

    def type_bounds(self, node: Node) -> tuple[tuple[str, str], ...]:
        """The types in the `where` clauses."""
        clauses = [child for child in node.named_children if child.type == "type_parameter_constraints_clause"]
        bounds = (
            (text_of(clause, FIRST), type_of(part, "type")) for clause in clauses for part in clause.named_children
        )
        return tuple((name, stated) for name, stated in bounds if stated)

    def _is_extension(self, method: Node) -> bool:
        """True if a method in a block of extension members is called on a value, rather than on a type."""
        block = self._extended(method)
        is_static = any(child.text == b"static" for child in method.children)
        return block is not None and bool(block.receiver.name) and not is_static

    def parameter(self, node: Node) -> Parameter:
        """One parameter; it is optional when a value follows its name."""
        name = node.child_by_field_name("name")
        has_default = name is not None and any(child.start_byte > name.end_byte for child in node.named_children)
        return Parameter(text_of(name), type_of(node, "type"), has_default)

    def result(self, node: Node) -> str:
        """The type that a method returns, or that a property or a constant has."""
        declared = child_of(node, "variable_declaration") if node.type == "field_declaration" else node
        return type_of(field_of(declared, "returns") or field_of(declared, "type"))

    def is_shared(self, node: Node, name: str) -> bool:
        """Constants, which are members only where other types may use them."""
        return node.type == "field_declaration"

    def traits(self, node: Node, parent: Node | None) -> frozenset[Trait]:
        """By the modifiers; a method is an extension when its first parameter is `this`."""
        traits = set(super().traits(node, parent))
        if field_of(node, "parameters", "name") is not None:
            traits.add("variadic")
        first = first_child(node, "parameters")
        if first is not None and any(child.type == "modifier" and child.text == b"this" for child in first.children):
            traits.add("extension")
        if node.type == "method_declaration" and self._is_extension(node):
            traits.add("extension")
        return frozenset(traits)

    def read_callee(self, node: Node) -> tuple[str, str] | None:
        """Of `new()` without a type the one that is stated where its value goes."""
        if node.type != "implicit_object_creation_expression":
            return super().read_callee(node)
        written, name = target_of(self, node) or ("", "")
        receiver, _, last = head(written).rpartition(".")
        return None if not written else (written, name) if name else (receiver, last)

    def arguments(self, node: Node) -> tuple[str, ...]:
        """The arguments of a call or construction."""
        if node.type != "implicit_object_creation_expression":
            return super().arguments(node)
        listed = first_child(node)
        is_list = listed is not None and listed.type == "argument_list"
        return tuple(map(self.argument, children_of(listed))) if is_list else ()

    def type_arguments(self, node: Node) -> tuple[str, ...]:
        """`A` and `B` of `x.Add<A, B>()`, and of `new()` where an `Add<A, B>` is made."""
        if node.type == "implicit_object_creation_expression":
            written, name = target_of(self, node) or ("", "")
            return arguments(written) if not name else ()
        target = node.child_by_field_name("function") or node.child_by_field_name("type")
        listed = last_child(field_of(target, "name") or target)
        is_list = listed is not None and listed.type == "type_argument_list"
        return tuple(filter(None, map(type_of, children_of(listed)))) if is_list else ()

    def argument(self, node: Node) -> str:
        """One argument; a name before it is left out."""
        value = last_child(node)
        return '"' if value is not None and value.type in self.strings else self.value_path(value)

    def value_path(self, node: Node | None) -> str:
        """Of `typeof(T)` the type."""
        if node is not None and node.type == "typeof_expression":
            return head(type_of(node, "type"))
        return super().value_path(node)

    def has_insertions(self, node: Node) -> bool:
        """True for `$"..."` with `{...}`."""
        return node.type == "interpolated_string_expression" and has_child(node, "interpolation")

    def bases(self, node: Node) -> tuple[str, ...]:
        """The base class and the interfaces."""
        return tuple(filter(None, map(type_of, base_types(node))))

    def imports(self, nodes: Nodes) -> Iterator[Import]:
        """`using N` and `using static N.T` bring everything in N or T, `using A = N.T` one type."""
        for node in nodes["using_directive"]:
            alias = text_of(node, "name")
            target = type_name(node, LAST)
            module, _, name = target.rpartition(".") if alias else (target, "", "*")
            if target:
                yield Import(module, name, alias, line_of(node), has_child(node, "global"))

    def bindings(self, nodes: Nodes, places: Places) -> Iterator[Binding]:
        """Those that are declared, and the receivers of extension members."""
        yield from csharp_bindings(self, nodes, places)
        for node in nodes.of("method_declaration", "property_declaration") if self._extension_blocks else ():
            block, index = self._extended(node), places.declared(node)
            if block is not None and block.receiver.name and index:
                yield Binding(index, block.receiver.name, block.receiver.type_name, True)

    references = csharp_references
    written_fields = csharp_fields


_OPEN = frozenset({b"public", b"internal", b"protected"})


def _variables(field: Node) -> list[Node]:
    """The variables that the declaration of a field names."""
    listed = children_of(child_of(field, "variable_declaration"))
    return [child for child in listed if child.type == "variable_declarator"]


def _constant(field: Node) -> Shape | None:
    """The constant that a field is: `const` or `static readonly`, and not private; None for other fields."""
    words = {child.text for child in field.children if child.type == "modifier"}
    variables = _variables(field)
    if not variables or not words & _OPEN or not (b"const" in words or {b"static", b"readonly"} <= words):
        return None
    name = text_of(variables[0], "name")
    value = last_child(variables[0])
    has_value = value is not None and value != variables[0].child_by_field_name("name")
    return Shape(name, "value", value if has_value else None) if name else None
