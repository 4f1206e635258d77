"""The variables of C# code, what it names without calling it, and what `new()` without a type makes."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.code_facts import OF_ITEMS, OF_TARGET, Binding, Reference
from groundwire_ingest.tree.languages.nodes import (
    FIRST,
    LAST,
    Nodes,
    around_of,
    child_of,
    children_of,
    field_of,
    has_child,
    last_child,
    line_of,
    outer_of,
    text_of,
    type_of,
)
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.types import names_in, value_type

TYPE_NODES = ("class_declaration", "struct_declaration", "interface_declaration", "record_declaration")

_MEMBERS = frozenset({"method_declaration", "local_function_statement", "property_declaration", "operator_declaration"})
_FUNCTIONS = frozenset({"lambda_expression", "anonymous_method_expression"})
_ITEM_METHODS = frozenset({"Add", "Insert", "Push", "Enqueue", "AddLast", "AddFirst", "Append", "Prepend", "TryAdd"})
_TRYING = frozenset({"TryGetValue", "TryPop", "TryPeek", "TryDequeue", "TryTake", "TryGet", "TryRemove"})
_PAIR = 2
_MAX_STEPS = 6


def target_of(syntax: Syntax, node: Node) -> tuple[str, str] | None:
    """The type and an empty name; or a path with OF_TARGET for what it is, OF_ITEMS for what it holds.

    None where nothing is stated: an argument of a method other than those that put an item into a collection.
    """
    parent = node.parent
    for _ in range(_MAX_STEPS):
        if parent is None:
            return None
        match parent.type:
            case "variable_declarator":
                return type_of(parent.parent, "type"), ""
            case "property_declaration":
                return type_of(parent, "type"), ""
            case "assignment_expression":
                return syntax.value_path(parent.child_by_field_name("left")), OF_TARGET
            case "return_statement" | "arrow_expression_clause":
                return _result_around(parent), ""
            case "argument":
                path = syntax.path(field_of(outer_of(parent), "function"))
                return (".".join(path[:-1]), OF_ITEMS) if len(path) > 1 and path[-1] in _ITEM_METHODS else None
            case "parenthesized_expression" | "conditional_expression" | "binary_expression" | "equals_value_clause":
                parent = parent.parent
            case _:
                return None
    return None


def _result_around(node: Node) -> str:
    """The type that the member around a `return` states, less what a caller waits for."""
    around = next((item for item in around_of(node) if item.type in _MEMBERS or item.type in _FUNCTIONS), None)
    if around is None or around.type in _FUNCTIONS:
        return ""
    return value_type(type_of(around.child_by_field_name("returns") or around.child_by_field_name("type")))


_CONVERSIONS = {"object_creation_expression": "type", "cast_expression": "type", "as_expression": "right"}


def csharp_bindings(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Binding]:
    """Fields, properties, parameters, locals, loop and pattern variables, and the parameters of lambdas."""
    for node in nodes["variable_declaration"]:
        yield from _declared_variables(syntax, node, places)
    for node in nodes.of("parameter", "property_declaration", "declaration_pattern", "recursive_pattern"):
        stated = type_of(node, "type")
        if stated:
            yield from places.variable(node, text_of(node, "name"), stated)
    for node in nodes["foreach_statement"]:
        declared, name = node.child_by_field_name("type"), text_of(node, "left")
        if declared is not None and declared.type != "implicit_type":
            yield Binding(places.scope(node), name, type_of(declared), True)
        else:
            made, path = _value(syntax, node.child_by_field_name("right"))
            yield Binding(places.scope(node), _item_name(node) or name, made, False, path, True)
    for node in nodes["lambda_expression"]:
        yield from _lambda_parameter(syntax, node, places)
    for node in nodes["from_clause"]:
        path = syntax.value_path(last_child(node))
        yield from places.variable(node, text_of(node, "name"), type_of(node, "type"), path, is_item=True)
    for node in nodes["declaration_expression"]:
        yield from _declared_argument(syntax, node, places)


def _declared_argument(syntax: Syntax, node: Node, places: Places) -> Iterator[Binding]:
    """The variable of `out Order found`, or of `found.TryGetValue(key, out var one)` as an item."""
    declared, call = node.child_by_field_name("type"), outer_of(node.parent)
    path = syntax.path(field_of(call, "function"))
    if declared is not None and declared.type != "implicit_type":
        yield from places.variable(node, text_of(node, "name"), type_of(declared))
    elif len(path) > 1 and path[-1] in _TRYING:
        yield from places.variable(node, text_of(node, "name"), "", ".".join(path[:-1]), is_item=True)


def _item_name(loop: Node) -> str:
    """`value` of `foreach (var (key, value) in pairs)`; empty for a loop over anything else."""
    names = children_of(loop, "left") if has_child(loop, "tuple_pattern") else []
    return text_of(names[-1]) if len(names) == _PAIR else ""


def _declared_variables(syntax: Syntax, node: Node, places: Places) -> Iterator[Binding]:
    declared = node.child_by_field_name("type")
    is_stated = declared is not None and declared.type != "implicit_type"
    is_field = node.parent is not None and node.parent.type == "field_declaration"
    for variable in node.named_children:
        name = text_of(variable, "name")
        if variable.type != "variable_declarator" or not name:
            continue
        scope = places.type_scope(variable) if is_field else places.scope(variable)
        if is_stated:
            yield Binding(scope, name, type_of(declared), True)
            if node.parent is not None and "ObservableProperty" in attribute_names(node.parent):
                plain = name.lstrip("_").removeprefix("m_")
                yield Binding(scope, plain[:1].upper() + plain[1:], type_of(declared), True)
            continue
        made, path = _value(syntax, last_child(variable))
        yield Binding(scope, name, made, False, path)


def _value(syntax: Syntax, value: Node | None) -> tuple[str, str]:
    """The type that an expression states for its value, and the path of the expression."""
    while value is not None and syntax.is_wrapping(value):
        value = syntax.unwrap(value)
    made = value.child_by_field_name(_CONVERSIONS[value.type]) if value and value.type in _CONVERSIONS else None
    return type_of(made), syntax.value_path(value)


def _lambda_parameter(syntax: Syntax, node: Node, places: Places) -> Iterator[Binding]:
    """The only parameter of a lambda without a type, as an item of what the called method belongs to."""
    parameters, call = node.child_by_field_name("parameters"), outer_of(node.parent)
    path = syntax.value_path(field_of(call, "function", "expression"))
    if parameters is not None and parameters.type == "implicit_parameter" and path:
        yield Binding(places.scope(node), text_of(parameters), "", False, path, True)


def base_types(node: Node) -> Iterator[Node]:
    """The nodes of the types that a type declaration lists as its bases."""
    for base in children_of(child_of(node, "base_list")):
        yield base.child_by_field_name("type") or base


def attributes(node: Node) -> Iterator[Node]:
    """The attributes of a declaration."""
    for listed in node.named_children:
        if listed.type == "attribute_list":
            yield from (item for item in listed.named_children if item.type == "attribute")


def attribute_names(node: Node) -> frozenset[str]:
    """The names of the attributes of a declaration, as they are written."""
    return frozenset(text_of(item, "name") for item in attributes(node))


_TYPED = {
    **dict.fromkeys(("parameter", "property_declaration", "variable_declaration"), "type"),
    "method_declaration": "returns",
    **dict.fromkeys(
        """delegate_declaration typeof_expression cast_expression declaration_pattern catch_declaration
        array_creation_expression type_parameter_constraint""".split(),
        "type",
    ),
    "as_expression": "right",
}
_VALUED = (
    *("argument", "return_statement", "assignment_expression", "member_access_expression", "variable_declarator"),
    *("arrow_expression_clause", "switch_expression_arm", "expression_element", "initializer_expression"),
    *("conditional_expression", "binary_expression", "cast_expression", "parenthesized_expression"),
    *("interpolation", "constant_pattern", "attribute_argument", "prefix_unary_expression", "array_rank_specifier"),
    *("parameter", "if_statement", "while_statement", "for_statement", "foreach_statement", "yield_statement"),
)
# Where values are that a node of the grammar passes on; elsewhere it is the first part.
_VALUES_OF = {
    "assignment_expression": ("right",),
    "conditional_expression": ("consequence", "alternative"),
    "cast_expression": ("value",),
    "switch_expression_arm": (LAST,),
    **dict.fromkeys(("if_statement", "while_statement", "for_statement"), ("condition",)),
    "foreach_statement": ("right",),
}
_NAMES = frozenset({"identifier", "member_access_expression"})
_PREDEFINED = frozenset({"predefined_type", "implicit_type"})


def csharp_references(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Reference]:
    """Types by name, then attributes, then names that are passed on as values and members that are read or set."""
    for kind, field in _TYPED.items():
        for node in nodes[kind]:
            yield from _types(node, node.child_by_field_name(field), places)
    for node in nodes["type_argument_list"]:
        for argument in node.named_children:
            yield from _types(node, argument, places)
    for node in nodes["attribute"]:
        name = text_of(node, "name")
        for written in (name, f"{name}Attribute") if name else ():
            yield from places.reference(node, written, "decorator")
    for node in nodes.of(*_VALUED):
        for value in _valued(node):
            if value is not None and value.type in _NAMES:
                yield from places.reference(value, ".".join(syntax.path(value)), "value")


def _valued(node: Node) -> Iterator[Node | None]:
    """The values that a node passes on, returns, assigns, puts into a collection or reads."""
    match node.type:
        case "member_access_expression":
            is_called = node.parent is not None and node.parent.type == "invocation_expression"
            yield None if is_called else node
        case "variable_declarator" | "parameter":
            value = last_child(node)
            yield None if value == node.child_by_field_name("name") else value
        case "binary_expression":
            yield from map(node.child_by_field_name, ("left", "right"))
        case "initializer_expression" | "interpolation":
            yield from node.named_children
        case kind:
            yield from (field_of(node, field) for field in _VALUES_OF.get(kind, (FIRST,)))


def _types(node: Node, written: Node | None, places: Places) -> Iterator[Reference]:
    if written is not None and written.type not in _PREDEFINED:
        for name in names_in(type_of(written)):
            yield Reference(places.key(node), places.scope(node), name, line_of(written), "type")
