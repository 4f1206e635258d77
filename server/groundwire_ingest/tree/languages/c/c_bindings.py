"""The variables of C and C++ code, and what it names without calling it."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.code_facts import Binding, Reference
from groundwire_ingest.tree.languages.c.declarators import declarators, dotted_name, function_of, name_of, written_type
from groundwire_ingest.tree.languages.nodes import FIRST, Nodes, field_of, first_child, line_of, text_of, type_of
from groundwire_ingest.tree.languages.syntax import Places, Syntax

_TYPED_CALLS = frozenset(
    """static_cast dynamic_cast reinterpret_cast const_cast make_unique make_shared static_pointer_cast
    dynamic_pointer_cast down_cast""".split()
)


def c_bindings(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Binding]:
    """Fields, parameters and variables by their types, or for `auto` by what they are set to."""
    for node in nodes["field_declaration"]:
        stated = written_type(node)
        for declarator in node.children_by_field_name("declarator"):
            name = text_of(name_of(declarator))
            if name and stated and function_of(node) is None:
                yield Binding(places.type_scope(node), name, stated, True)
    for node in nodes.of("parameter_declaration", "optional_parameter_declaration"):
        name = text_of(name_of(node.child_by_field_name("declarator")))
        if name:
            yield Binding(places.scope(node), name, written_type(node), True)
    for node in nodes["declaration"]:
        yield from _variables(syntax, node, places)
    for node in nodes["for_range_loop"]:
        stated, name = written_type(node), text_of(name_of(node.child_by_field_name("declarator")))
        value = "" if stated else syntax.value_path(node.child_by_field_name("right"))
        yield from places.variable(node, name, stated, value, is_item=not stated)


def _variables(syntax: Syntax, node: Node, places: Places) -> Iterator[Binding]:
    stated = written_type(node)
    if function_of(node) is not None:
        return
    for declarator, value in declarators(node):
        name = text_of(name_of(declarator))
        if not name:
            continue
        made = stated or made_type(value)
        yield Binding(places.scope(node), name, made, bool(stated), "" if made else syntax.value_path(value))


def made_type(value: Node | None) -> str:
    """The type that an expression names as its own: of a cast, of `new`, of `make_unique`."""
    if value is None:
        return ""
    if value.type in ("cast_expression", "new_expression", "compound_literal_expression"):
        return type_of(value, "type")
    function = value.child_by_field_name("function") if value.type == "call_expression" else None
    while function is not None and function.type == "qualified_identifier":
        function = function.child_by_field_name("name")
    is_typed = function is not None and function.type == "template_function"
    return type_of(function, "arguments", FIRST) if is_typed and text_of(function, "name") in _TYPED_CALLS else ""


_SET = {
    "initializer_pair": "value",
    "assignment_expression": "right",
    "init_declarator": "value",
    "return_statement": FIRST,
}
_VALUES = frozenset({"identifier", "pointer_expression", "qualified_identifier"})
_INNER_VALUES = {"conditional_expression": ("alternative", "consequence"), "cast_expression": ("value",)}
_DECLARING = frozenset(
    """struct_specifier class_specifier union_specifier enum_specifier type_definition alias_declaration
    type_parameter_declaration optional_type_parameter_declaration concept_definition""".split()
)


def c_references(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Reference]:
    """Types by name, then functions that are given as arguments, put into tables, set to variables or returned."""
    for node in nodes["type_identifier"]:
        named = _whole(node)
        if named is not None:
            yield Reference(places.key(node), places.scope(node), dotted_name(named), line_of(node), "type")
    for node in nodes.of("argument_list", "initializer_list"):
        for value in node.named_children:
            yield from _value(syntax, value, places)
    for kind, field in _SET.items():
        for node in nodes[kind]:
            yield from _value(syntax, field_of(node, field), places)


def _whole(node: Node) -> Node | None:
    """The whole name that a type's name is the end of; None where it is declared or derived from."""
    parent = node.parent
    while parent is not None and parent.type in ("template_type", "qualified_identifier"):
        if parent.child_by_field_name("name") != node:
            return node
        node, parent = parent, parent.parent
    if parent is None or parent.type == "base_class_clause":
        return None
    if parent.type in _DECLARING and parent.child_by_field_name("body" if "specifier" in parent.type else "name"):
        return None if parent.child_by_field_name("name") == node else node
    return None if parent.type == "type_definition" and parent.child_by_field_name("declarator") == node else node


def _value(syntax: Syntax, value: Node | None, places: Places) -> Iterator[Reference]:
    """What a value names: of a conditional expression each of the two, of a cast what is cast."""
    pending = [value]
    while pending:
        node = pending.pop()
        if node is None:
            continue
        if node.type in _VALUES:
            yield from places.reference(node, ".".join(syntax.path(node)), "value")
        pending += [node.child_by_field_name(field) for field in _INNER_VALUES.get(node.type, ())]
        if node.type == "parenthesized_expression":
            pending.append(first_child(node))
