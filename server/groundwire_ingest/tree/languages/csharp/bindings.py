"""The variables of C# code: fields, properties, parameters, locals, loop and pattern variables."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.facts import Binding
from groundwire_ingest.tree.languages.nodes import Nodes, first_child, last_child, text_of, type_of
from groundwire_ingest.tree.languages.syntax import Places, Syntax

_CONVERSIONS = frozenset({"object_creation_expression", "cast_expression"})


def csharp_bindings(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Binding]:
    """Fields, properties, parameters, locals, loop and pattern variables, and the parameters of lambdas."""
    for node in nodes["variable_declaration"]:
        yield from _declared_variables(syntax, node, places)
    for kind in ("parameter", "property_declaration", "declaration_pattern", "recursive_pattern"):
        for node in nodes[kind]:
            name, stated = text_of(node.child_by_field_name("name")), type_of(node.child_by_field_name("type"))
            if name and stated:
                yield Binding(places.scope(node), name, stated, True)
    for node in nodes["foreach_statement"]:
        declared, name = node.child_by_field_name("type"), text_of(node.child_by_field_name("left"))
        if declared is not None and declared.type != "implicit_type":
            yield Binding(places.scope(node), name, type_of(declared), True)
        else:
            value = syntax.value_path(node.child_by_field_name("right"))
            yield Binding(places.scope(node), name, "", False, value, True)
    for node in nodes["lambda_expression"]:
        yield from _lambda_parameter(syntax, node, places)


def _declared_variables(syntax: Syntax, node: Node, places: Places) -> Iterator[Binding]:
    declared = node.child_by_field_name("type")
    is_stated = declared is not None and declared.type != "implicit_type"
    for variable in node.named_children:
        name = text_of(variable.child_by_field_name("name"))
        if variable.type != "variable_declarator" or not name:
            continue
        if is_stated:
            yield Binding(places.scope(variable), name, type_of(declared), True)
            if node.parent is not None and "ObservableProperty" in attribute_names(node.parent):
                plain = name.lstrip("_").removeprefix("m_")
                yield Binding(places.scope(variable), plain[:1].upper() + plain[1:], type_of(declared), True)
            continue
        value = last_child(variable)
        if value is not None and value.type == "await_expression":
            value = first_child(value)
        made = value.child_by_field_name("type") if value and value.type in _CONVERSIONS else None
        if value is not None and value.type == "as_expression":
            made = value.child_by_field_name("right")
        is_item = value is not None and value.type == "element_access_expression"
        path = syntax.value_path(value.child_by_field_name("expression") if value and is_item else value)
        yield Binding(places.scope(variable), name, type_of(made), False, path, is_item)


def _lambda_parameter(syntax: Syntax, node: Node, places: Places) -> Iterator[Binding]:
    """The only parameter of a lambda without a type, as an item of what the called method belongs to."""
    parameters = node.child_by_field_name("parameters")
    argument = node.parent
    call = argument.parent.parent if argument is not None and argument.parent is not None else None
    if parameters is None or parameters.type != "implicit_parameter" or call is None:
        return
    function = call.child_by_field_name("function")
    path = syntax.value_path(function.child_by_field_name("expression") if function is not None else None)
    if path:
        yield Binding(places.scope(node), text_of(parameters), "", False, path, True)


def attribute_names(node: Node) -> frozenset[str]:
    """The names of the attributes of a declaration, as they are written."""
    lists = (child for child in node.named_children if child.type == "attribute_list")
    return frozenset(text_of(item.child_by_field_name("name")) for listed in lists for item in listed.named_children)
