"""The variables of Java code, and what it names without calling it."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.code_facts import Binding, Reference
from groundwire_ingest.tree.languages.nodes import Nodes, children_of, given_in, text_of, type_name, type_of
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.types import names_in

# Methods of collections whose lambda gets two of the items.
_COMPARING = frozenset({"sort", "sorted", "max", "min", "reduce"})
_MADE = frozenset({"object_creation_expression", "cast_expression"})


def java_bindings(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Binding]:
    """Fields, enum constants, parameters, locals, variables of loops, resources and patterns, and those of lambdas."""
    for node in nodes.of("field_declaration", "constant_declaration", "local_variable_declaration"):
        for variable in node.children_by_field_name("declarator"):
            yield from _variable(syntax, places, node.child_by_field_name("type"), variable)
    for node in nodes.of("formal_parameter", "resource", "enhanced_for_statement"):
        is_item = node.type == "enhanced_for_statement"
        yield from _variable(syntax, places, node.child_by_field_name("type"), node, is_item=is_item)
    for node in nodes["spread_parameter"]:
        item, parts = type_of(_typed_child(node)), given_in(node)
        if item and parts:
            name = text_of(parts[-1].child_by_field_name("name") or parts[-1])
            yield Binding(places.scope(node), name, f"Array<{item}>", True)
    yield from _patterns(nodes, places)
    for node in nodes["enum_declaration"]:
        yield from _constants(node, places)
    for node in nodes["method_invocation"]:
        yield from _lambda_parameters(syntax, node, places)


def _patterns(nodes: Nodes, places: Places) -> Iterator[Binding]:
    """The types that `catch`, `instanceof` and `switch` name."""
    for node in nodes["catch_formal_parameter"]:
        caught = [
            caught_type
            for child in node.named_children
            if child.type == "catch_type"
            for caught_type in child.named_children
        ]
        yield from places.variable(node, text_of(node, "name"), type_of(caught[0]) if len(caught) == 1 else "")
    for node in nodes["instanceof_expression"]:
        yield from places.variable(node, text_of(node, "name"), type_of(node, "right"))
    for node in nodes.of("type_pattern", "record_pattern_component"):
        stated, parts = type_of(_typed_child(node)), given_in(node)
        if node.named_child_count > 1 and parts:
            yield from places.variable(node, text_of(parts[-1]), "" if stated == "var" else stated)


def _typed_child(node: Node) -> Node | None:
    return next((child for child in node.named_children if child.type != "modifiers"), None)


def _variable(
    syntax: Syntax, places: Places, declared: Node | None, variable: Node, *, is_item: bool = False
) -> Iterator[Binding]:
    """The type that is stated for a variable, or for `var` the type of its value."""
    name, stated = text_of(variable, "name"), type_of(declared)
    if not name:
        return
    if stated and stated != "var":
        if variable.child_by_field_name("dimensions") is not None:
            stated = f"Array<{stated}>"
        yield Binding(places.scope(variable), name, stated, True)
        return
    value = variable.child_by_field_name("value")
    made = type_of(value, "type") if value is not None and value.type in _MADE else ""
    if value is not None and value.type == "array_access":
        value, is_item = value.child_by_field_name("array"), True
    yield Binding(places.scope(variable), name, made, False, "" if made else syntax.value_path(value), is_item)


def _constants(node: Node, places: Places) -> Iterator[Binding]:
    """The constants of an enum, as fields of its own type."""
    name, scope = text_of(node, "name"), places.type_scope(node)
    for child in children_of(node, "body") if scope else ():
        if child.type == "enum_constant":
            yield Binding(scope, text_of(child, "name"), name, True)


def _lambda_parameters(syntax: Syntax, call: Node, places: Places) -> Iterator[Binding]:
    """The only parameter of a lambda without a type, as an item of what the called method belongs to."""
    for argument in children_of(call, "arguments"):
        parameters = argument.child_by_field_name("parameters") if argument.type == "lambda_expression" else None
        if parameters is None:
            continue
        path = syntax.value_path(call.child_by_field_name("object"))
        if parameters.type == "identifier" and path:
            yield Binding(places.scope(argument), text_of(parameters), "", False, path, True)
        elif parameters.type == "inferred_parameters" and path and text_of(call, "name") in _COMPARING:
            for name in parameters.named_children:
                yield Binding(places.scope(argument), text_of(name), "", False, path, True)
        elif parameters.type == "inferred_parameters":
            yield from (Binding(places.scope(argument), text_of(name), "", False) for name in parameters.named_children)


_TYPED = {
    **dict.fromkeys(
        """formal_parameter field_declaration constant_declaration local_variable_declaration enhanced_for_statement
        resource method_declaration cast_expression""".split(),
        "type",
    ),
    "instanceof_expression": "right",
    "array_creation_expression": "type",
}
# Where values are passed on: by kind the field that holds the value; empty for all that is in it.
_VALUED = {
    "argument_list": "",
    "return_statement": "",
    "assignment_expression": "right",
    "variable_declarator": "value",
    "binary_expression": "",
    "element_value_pair": "value",
    "annotation_argument_list": "",
}
_IGNORED = frozenset({"var", "String", "Object", "Array"})


def java_references(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Reference]:
    """Types by name, then annotations, then names that are passed on as values, and members that are read."""
    yield from _named_types(nodes, places)
    for node in nodes.of("annotation", "marker_annotation"):
        yield from places.reference(node, text_of(node, "name"), "decorator")
    for node in _values(nodes):
        yield from places.reference(node, text_of(node), "value")
    for node in nodes.of("field_access", "method_reference"):
        yield from places.reference(node, _member_path(syntax, node), "value")


def _named_types(nodes: Nodes, places: Places) -> Iterator[Reference]:
    for kind, field in _TYPED.items():
        for node in nodes[kind]:
            yield from _types(node.child_by_field_name(field), places)
    for node in nodes.of("class_literal", "spread_parameter", "type_pattern", "record_pattern"):
        leading = (child for child in given_in(node) if child.type != "modifiers")
        yield from _types(next(leading, None), places)
    for node in nodes.of("type_arguments", "catch_type", "throws"):
        for child in node.named_children:
            yield from _types(child, places)


def _values(nodes: Nodes) -> Iterator[Node]:
    """The plain names that are passed on, returned, compared or that something is set to."""
    for kind, field in _VALUED.items():
        for node in nodes[kind]:
            for value in (node.child_by_field_name(field),) if field else node.named_children:
                if value is not None and value.type == "identifier":
                    yield value


def _member_path(syntax: Syntax, node: Node) -> str:
    """`Foo.bar` of `Foo::bar` and of `Foo.bar`; the type of `Foo::new`."""
    if node.type == "field_access":
        return ".".join(syntax.path(node))
    parts = given_in(node)
    is_of_type = bool(parts) and "type" in parts[0].type
    before = type_name(parts[0]) if is_of_type else ".".join(syntax.path(parts[0] if parts else None))
    if node.children[-1].type == "new":
        return before
    return f"{before}.{text_of(parts[-1])}" if before else ""


def _types(written: Node | None, places: Places) -> Iterator[Reference]:
    if written is not None:
        for name in names_in(type_of(written)):
            if name not in _IGNORED:
                yield from places.reference(written, name, "type")
