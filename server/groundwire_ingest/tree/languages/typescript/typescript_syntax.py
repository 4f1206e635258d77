"""TypeScript and JavaScript, JSX included: ES modules, CommonJS, classes, functions and objects of functions."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Language, Node

from groundwire_ingest.tree.code_facts import Construct
from groundwire_ingest.tree.languages.expressions import CallForm
from groundwire_ingest.tree.languages.nodes import children_of, first_child, text_of
from groundwire_ingest.tree.languages.syntax import Shape, Syntax
from groundwire_ingest.tree.languages.typescript.imports import exported_names, is_exported, script_imports
from groundwire_ingest.tree.languages.typescript.members import (
    has_methods,
    is_method,
    is_overload,
    object_types,
    script_bases,
    script_parameters,
    script_result,
    script_traits,
    script_type,
)
from groundwire_ingest.tree.languages.typescript.references import script_references
from groundwire_ingest.tree.languages.typescript.shapes import (
    CLASS_NODES,
    assigned_shape,
    given_shape,
    is_chained,
    pattern_shape,
    plain_name,
    shape_of_value,
    variable_shape,
)
from groundwire_ingest.tree.languages.typescript.typescript_bindings import script_bindings
from groundwire_ingest.tree.languages.typescript.written_fields import script_fields

_TYPES = ("interface_declaration", "type_alias_declaration", "enum_declaration", "internal_module", "module")
_PATTERNS = frozenset({"object_pattern", "array_pattern"})
_SIGNATURES = frozenset({"function_signature", "method_signature"})


class TypeScriptSyntax(Syntax):
    """TypeScript without JSX; the base of its relatives.

    A variable of a file is a function when its value is one, and a type when its value is a class or an object with
    functions in it. A function that is given to a call with a string, such as the handler of a route or a test case, is
    named by both.
    """

    kind = "ts"
    language = "typescript"
    grammar = Language(tree_sitter_typescript.language_typescript())
    declarations: ClassVar[Mapping[str, Construct]] = {
        **dict.fromkeys((*CLASS_NODES, *_TYPES), "type"),
        **dict.fromkeys(
            """function_declaration generator_function_declaration function_signature method_definition method_signature
            abstract_method_signature""".split(),
            "callable",
        ),
    }
    transparent = frozenset(
        {
            *_PATTERNS,
            *"""export_statement lexical_declaration variable_declaration variable_declarator ambient_declaration
        expression_statement assignment_expression await_expression call_expression member_expression
        parenthesized_expression unary_expression function_expression arrow_function statement_block
        if_statement else_clause try_statement object""".split(),
        }
    )
    wrappers = frozenset(
        """export_statement lexical_declaration variable_declaration ambient_declaration expression_statement
        await_expression""".split()
    )
    leading = frozenset({"comment", "decorator"})
    adornments = frozenset({"decorator"})
    headers = frozenset({"import_statement"})
    constructors = frozenset({"constructor"})
    data_types = frozenset({"interface_declaration", "type_alias_declaration"})
    given = frozenset({"call_expression", "arguments"})
    assignments = frozenset({"expression_statement"})
    members: ClassVar[Mapping[str, tuple[str, str]]] = {
        "member_expression": ("object", "property"),
        "nested_type_identifier": ("module", "name"),
        "nested_identifier": ("object", "property"),
    }
    words = frozenset({"identifier", "type_identifier", "this", "super"})
    unwrapped = frozenset({"non_null_expression", "parenthesized_expression", "await_expression"})
    settings: ClassVar[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
        "assignment_expression": (("left",), ("right",))
    }
    calls: ClassVar[Mapping[str, CallForm]] = {
        "call_expression": CallForm("function", "arguments"),
        "new_expression": CallForm("constructor", "arguments", constructs=True),
        "jsx_opening_element": CallForm("name", ""),
        "jsx_self_closing_element": CallForm("name", ""),
    }
    strings = frozenset({"string", "template_string"})

    def shape(self, node: Node) -> Shape | None:
        """Declarations, names given to values, and functions given to calls."""
        match node.type:
            case "variable_declarator":
                return variable_shape(node)
            case "shorthand_property_identifier_pattern" | "pair_pattern" | "object_assignment_pattern":
                return pattern_shape(node)
            case "identifier" if node.parent is not None and node.parent.type == "array_pattern":
                return pattern_shape(node)
            case "pair" | "public_field_definition" | "field_definition":
                fields = ("key", "name", "property")
                name = next((text for text in map(text_of, map(node.child_by_field_name, fields)) if text), "")
                return shape_of_value(plain_name(name), node.child_by_field_name("value"))
            case "property_signature":
                name = plain_name(text_of(node, "name"))
                return Shape(name, "callable", None) if name and is_method(node) else None
            case "export_statement":
                return shape_of_value("default", node.child_by_field_name("value"))
            case "expression_statement":
                return assigned_shape(self, first_child(node))
            case "call_expression":
                return None if is_chained(self, node) else given_shape(self, node)
            case "arguments":
                return given_shape(self, node.parent) if node.parent is not None else None
        return self._declared(node)

    def _declared(self, node: Node) -> Shape | None:
        """A declaration by its node's type, less those that only add a signature to the one that follows."""
        shape = super().shape(node)
        name = plain_name(shape.name) if shape else ""
        if shape is None or not name or (node.type in _SIGNATURES and is_overload(node, shape.name)):
            return None
        inside = shape.body
        if node.type == "type_alias_declaration":
            inside = next(object_types(node.child_by_field_name("value")), None)
        return Shape(name, shape.construct, shape.body, inside)

    def shared_variables(self, root: Node, variables: Sequence[tuple[Node, str]]) -> frozenset[int]:
        """Those that the file exports where they are declared or elsewhere."""
        exported = frozenset(exported_names(self, root))
        declarators = (item for item in variables if item[0].type == "variable_declarator")
        return frozenset(node.start_byte for node, name in declarators if name in exported or is_exported(node))

    bases = script_bases
    parameters = script_parameters
    result = script_result
    traits = script_traits

    def has_methods(self, node: Node) -> bool:
        """True if an interface or type alias has methods, or has nothing but functions."""
        return has_methods(node)

    def read_callee(self, node: Node) -> tuple[str, str] | None:
        """Calls, `new`, and JSX elements that are components rather than tags of HTML."""
        callee = super().read_callee(node)
        is_element = node.type.startswith("jsx_")
        return None if callee and is_element and not callee[0] and callee[1][:1].islower() else callee

    def type_arguments(self, node: Node) -> tuple[str, ...]:
        """`A` and `B` of `f<A, B>()`."""
        return tuple(filter(None, map(script_type, children_of(node, "type_arguments"))))

    imports = script_imports
    bindings = script_bindings

    references = script_references
    written_fields = script_fields


class TsxSyntax(TypeScriptSyntax):
    """TypeScript with JSX."""

    grammar = Language(tree_sitter_typescript.language_tsx())


class JavaScriptSyntax(TypeScriptSyntax):
    """JavaScript with JSX."""

    kind = "js"
    language = "javascript"
    grammar = Language(tree_sitter_javascript.language())
