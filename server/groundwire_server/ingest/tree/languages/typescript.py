"""TypeScript and JavaScript, JSX included: ES modules, CommonJS, classes, functions and objects of functions."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Language, Node

from groundwire_server.ingest.tree.facts import Binding, Construct, Import, Parameter, Trait
from groundwire_server.ingest.tree.languages.script_imports import script_imports
from groundwire_server.ingest.tree.languages.script_shapes import (
    CLASS_NODES,
    plain_name,
    shape_of_value,
    value_or_self,
    variable_shape,
)
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

_TRAITS: tuple[Trait, ...] = ("abstract", "static")


class TypeScriptSyntax(Syntax):
    """TypeScript without JSX; the base of its relatives.

    A variable is a function when its value is one, and a type when its value is a class or an object with
    functions in it; otherwise it counts as a value when it is long.
    """

    kind = "ts"
    language = "typescript"
    grammar = Language(tree_sitter_typescript.language_typescript())
    declarations: ClassVar[Mapping[str, Construct]] = {
        **dict.fromkeys(
            (*CLASS_NODES, "interface_declaration", "enum_declaration", "internal_module", "module"), "type"
        ),
        "type_alias_declaration": "value",
        "function_declaration": "callable",
        "generator_function_declaration": "callable",
        "function_signature": "callable",
        "method_definition": "callable",
        "method_signature": "callable",
        "abstract_method_signature": "callable",
    }
    transparent = frozenset(
        {
            "export_statement",
            "lexical_declaration",
            "variable_declaration",
            "ambient_declaration",
            "expression_statement",
            "assignment_expression",
            "call_expression",
            "parenthesized_expression",
            "unary_expression",
            "function_expression",
            "arrow_function",
            "statement_block",
            "if_statement",
            "else_clause",
            "try_statement",
            "object",
        }
    )
    wrappers = frozenset({"export_statement", "lexical_declaration", "variable_declaration", "ambient_declaration"})
    leading = frozenset({"comment", "decorator"})
    adornments = frozenset({"decorator"})
    headers = frozenset({"import_statement"})
    constructors = frozenset({"constructor"})
    assignments = frozenset({"expression_statement"})
    members: ClassVar[Mapping[str, tuple[str, str]]] = {
        "member_expression": ("object", "property"),
        "nested_type_identifier": ("module", "name"),
        "nested_identifier": ("object", "property"),
    }
    words = frozenset({"identifier", "type_identifier", "this", "super"})
    unwrapped = frozenset({"non_null_expression", "parenthesized_expression", "await_expression"})
    calls: ClassVar[Mapping[str, CallForm]] = {
        "call_expression": CallForm("function", "arguments"),
        "new_expression": CallForm("constructor", "arguments", constructs=True),
        "jsx_opening_element": CallForm("name", ""),
        "jsx_self_closing_element": CallForm("name", ""),
    }
    strings = frozenset({"string", "template_string"})
    facts = frozenset(
        {
            "import_statement",
            "export_statement",
            "variable_declarator",
            "assignment_expression",
            "required_parameter",
            "optional_parameter",
            "public_field_definition",
            "field_definition",
            "property_signature",
        }
    )

    def shape(self, node: Node) -> Shape | None:
        """Declarations, and names given to functions, classes and objects of functions."""
        match node.type:
            case "variable_declarator":
                return variable_shape(node)
            case "pair" | "public_field_definition" | "field_definition":
                fields = ("key", "name", "property")
                name = next((text for text in map(text_of, map(node.child_by_field_name, fields)) if text), "")
                return shape_of_value(plain_name(name), node.child_by_field_name("value"))
            case "export_statement":
                return shape_of_value("default", node.child_by_field_name("value"))
            case "expression_statement":
                return self._assigned(first_child(node))
        shape = super().shape(node)
        name = plain_name(shape.name) if shape else ""
        return Shape(name, shape.construct, shape.body, shape.inside) if shape and name else None

    def _assigned(self, node: Node | None) -> Shape | None:
        """`exports.f = function ...`, `Foo.prototype.bar = ...`; members of an object given to `module.exports`
        are declared by themselves."""
        if node is None or node.type != "assignment_expression":
            return None
        path = self.path(node.child_by_field_name("left"))
        value = node.child_by_field_name("right")
        if path == ("module", "exports"):
            return None if value and value.type == "object" else shape_of_value("default", value)
        names = [name for name in path if name not in ("module", "exports", "prototype", "this")]
        return shape_of_value(names[-1], value, ".".join(names[:-1])) if names else None

    def bases(self, node: Node) -> tuple[str, ...]:
        """What a class or an interface extends and implements."""
        declaration = value_or_self(node)
        names: list[str] = []
        for heritage in declaration.named_children:
            if heritage.type not in ("class_heritage", "extends_type_clause"):
                continue
            for part in heritage.named_children:
                clause = part.type in ("extends_clause", "implements_clause")
                names.extend(type_name(base) for base in (part.named_children if clause else (part,)))
        return tuple(name for name in names if name)

    def parameters(self, node: Node) -> tuple[Parameter, ...] | None:
        """The parameters of a function, or of the function that a variable is set to."""
        return super().parameters(value_or_self(node))

    def traits(self, node: Node, parent: Node | None) -> frozenset[Trait]:
        """Interfaces, abstract classes and members, static members."""
        words = {child.type for child in node.children}
        found: set[Trait] = {trait for trait in _TRAITS if trait in words}
        if node.type == "interface_declaration":
            found.add("interface")
        if node.type.startswith("abstract_"):
            found.add("abstract")
        return frozenset(found)

    def callee(self, node: Node) -> tuple[str, str] | None:
        """Calls, `new`, and JSX elements that are components rather than tags of HTML."""
        found = super().callee(node)
        is_element = node.type.startswith("jsx_")
        return None if found and is_element and not found[0] and found[1][:1].islower() else found

    def imports(self, nodes: Nodes) -> Iterator[Import]:
        """Imports and exports of ES modules and of CommonJS."""
        return script_imports(self, nodes)

    def bindings(self, nodes: Nodes, places: Places) -> Iterator[Binding]:
        """Parameters, variables and fields with a type, or set to `new Type()`."""
        parameters: dict[tuple[int, str], str] = {}
        for node in (*nodes["required_parameter"], *nodes["optional_parameter"]):
            target, stated = node.child_by_field_name("pattern"), _annotation(node)
            if target is not None and target.type == "identifier" and stated:
                name = text_of(target)
                parameters.setdefault((places.scope(node), name), stated)
                is_field = any(child.type == "accessibility_modifier" for child in node.named_children)
                yield Binding(places.type_scope(node) if is_field else places.scope(node), name, stated, True)
        for kind, field in (
            ("variable_declarator", "name"),
            ("public_field_definition", "name"),
            ("property_signature", "name"),
            ("field_definition", "property"),
        ):
            for node in nodes[kind]:
                name, stated = text_of(node.child_by_field_name(field)), _annotation(node)
                made = stated or _constructed(node.child_by_field_name("value"))
                if name and made:
                    yield Binding(places.scope(node), name, made, bool(stated))
        for node in nodes["assignment_expression"]:
            path, value = self.path(node.child_by_field_name("left")), node.child_by_field_name("right")
            stated = parameters.get((places.scope(node), text_of(value)), "")
            made = stated or _constructed(value)
            if made and len(path) == 2 and path[0] == "this":
                scope = places.type_scope(node) or places.scope(node)
                yield Binding(scope, path[1], made, bool(stated))


class TsxSyntax(TypeScriptSyntax):
    """TypeScript with JSX."""

    grammar = Language(tree_sitter_typescript.language_tsx())


class JavaScriptSyntax(TypeScriptSyntax):
    """JavaScript with JSX."""

    kind = "js"
    language = "javascript"
    grammar = Language(tree_sitter_javascript.language())


def _annotation(node: Node) -> str:
    annotation = node.child_by_field_name("type")
    return type_name(first_child(annotation)) if annotation else ""


def _constructed(value: Node | None) -> str:
    return type_name(value.child_by_field_name("constructor")) if value and value.type == "new_expression" else ""
