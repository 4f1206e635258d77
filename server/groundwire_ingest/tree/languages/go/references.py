"""The names that Go code uses without calling them."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.code_facts import Reference
from groundwire_ingest.tree.languages.go.types import go_type
from groundwire_ingest.tree.languages.nodes import Nodes, children_of, text_of
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.types import names_in

_TYPED = {
    **dict.fromkeys(
        """parameter_declaration variadic_parameter_declaration field_declaration var_spec const_spec type_spec
        type_alias type_assertion_expression type_conversion_expression type_case composite_literal""".split(),
        "type",
    ),
    **dict.fromkeys("function_declaration method_declaration method_elem func_literal function_type".split(), "result"),
}
# Where values are used: by kind the fields that hold them; none for all that is in it.
_VALUED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        """argument_list variadic_argument return_statement binary_expression unary_expression
        parenthesized_expression expression_case literal_value slice_expression inc_statement dec_statement""".split(),
        (),
    ),
    **dict.fromkeys("keyed_element var_spec const_spec send_statement".split(), ("value",)),
    **dict.fromkeys("short_var_declaration range_clause".split(), ("right",)),
    "assignment_statement": ("left", "right"),
    "index_expression": ("operand", "index"),
    "if_statement": ("condition",),
    "expression_switch_statement": ("value",),
    "array_type": ("length",),
}
_PREDECLARED = frozenset(
    """any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint
    uint8 uint16 uint32 uint64 uintptr Array Map""".split()
)
_TYPES = frozenset({"type_identifier", "qualified_type", "pointer_type", "slice_type", "map_type", "channel_type"})
_WRAPPERS = frozenset({"expression_list", "literal_element"})


def go_references(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Reference]:
    """Types by name, then constants, variables and functions that are used as values, then fields and members."""
    yield from _named_types(nodes, places)
    for kind, fields in _VALUED.items():
        for node in nodes[kind]:
            for child in _valued(node, fields):
                yield from places.reference(child, text_of(child), "value")
    called = frozenset(_place(node.child_by_field_name("function")) for node in nodes["call_expression"])
    for node in nodes["selector_expression"]:
        yield from places.reference(node, ".".join(syntax.path(node)) if _place(node) not in called else "", "value")


def _named_types(nodes: Nodes, places: Places) -> Iterator[Reference]:
    """The types that are stated, those of receivers aside, and of literals those that `Call` does not have."""
    receivers = frozenset(
        child.start_byte for method in nodes["method_declaration"] for child in children_of(method, "receiver")
    )
    for kind, field in _TYPED.items():
        for node in nodes[kind]:
            for written in node.children_by_field_name(field) if node.start_byte not in receivers else ():
                is_made = kind == "composite_literal" and written.type in ("type_identifier", "qualified_type")
                yield from () if is_made else _types(written, places)
    for node in nodes.of("argument_list", "type_arguments"):
        for child in node.named_children:
            yield from _types(child, places) if child.type in _TYPES or child.type == "type_elem" else ()


def _types(written: Node, places: Places) -> Iterator[Reference]:
    for name in names_in(go_type(written)):
        if name not in _PREDECLARED:
            yield from places.reference(written, name, "type")


def _valued(node: Node, fields: tuple[str, ...]) -> Iterator[Node]:
    """The plain names among the values in a node."""
    listed = [child for field in fields for child in node.children_by_field_name(field)] or (
        [] if fields else node.named_children
    )
    for child in listed:
        for value in child.named_children if child.type in _WRAPPERS else (child,):
            if value.type == "identifier":
                yield value


def _place(node: Node | None) -> tuple[int, int]:
    return (node.start_byte, node.end_byte) if node is not None else (-1, -1)
