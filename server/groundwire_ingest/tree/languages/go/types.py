"""The types that Go code states, in the common form of `types`."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.code_facts import Parameter
from groundwire_ingest.tree.languages.nodes import FIRST, children_of, first_child, text_of

SPECS = frozenset({"type_spec", "type_alias", "var_spec", "const_spec"})

_MAX_DEPTH = 8
_SAME = frozenset({"pointer_type", "parenthesized_type", "type_elem", "type_constraint"})
_ARRAYS = ("slice_type", "array_type", "implicit_length_array_type")
_COLLECTIONS = {**dict.fromkeys(_ARRAYS, "element"), "channel_type": "value"}
_PARAMETERS = ("parameter_declaration", "variadic_parameter_declaration")


def go_type(node: Node | None, depth: int = _MAX_DEPTH) -> str:
    """The type that a node writes, of channels, arrays and slices `Array<T>`; empty for functions and the like."""
    if node is None or depth == 0:
        return ""
    if node.type in ("type_identifier", "qualified_type"):
        return "".join(text_of(node).split())
    if node.type in _SAME:
        return go_type(first_child(node), depth - 1)
    if node.type in _COLLECTIONS:
        item = go_type(node.child_by_field_name(_COLLECTIONS[node.type]), depth - 1)
        return f"Array<{item}>" if item else ""
    if node.type == "map_type":
        kept = [go_type(node.child_by_field_name(field), depth - 1) for field in ("key", "value")]
        return f"Map<{','.join(filter(None, kept))}>" if kept[1] else ""
    if node.type == "generic_type":
        inner = [go_type(child, depth - 1) for child in children_of(node, "type_arguments")]
        name = go_type(node.child_by_field_name("type"), depth - 1)
        return f"{name}<{','.join(inner)}>" if name and all(inner) else name
    return ""


def spec_of(node: Node) -> Node:
    """The only specification in a declaration such as `type T struct{}`; the node itself where it is one."""
    return next((child for child in node.named_children if child.type in SPECS), node)


def go_parameters(listed: Node) -> Iterator[Parameter]:
    """The parameters in a list, one for each name; those without a name have none here either."""
    for node in listed.named_children:
        if node.type in _PARAMETERS:
            is_variadic = node.type == "variadic_parameter_declaration"
            written = go_type(node.child_by_field_name("type"))
            type_name = f"Array<{written}>" if is_variadic and written else written
            names = [text_of(name) for name in node.children_by_field_name("name")]
            for name in names or [""]:
                yield Parameter(name, type_name, is_variadic)


def result_of(node: Node | None) -> str:
    """The type that a callable returns: of several the first that is not `error`, unless that is all there is."""
    if node is None or node.type != "parameter_list":
        return go_type(node)
    types = [parameter.type_name for parameter in go_parameters(node)]
    return next((name for name in types if name != "error"), types[0] if types else "")


def embedded(declared: Node | None) -> Iterator[str]:
    """The types that a struct or an interface embeds, or that a type is defined as."""
    if declared is None or declared.type not in ("struct_type", "interface_type"):
        yield go_type(declared)
        return
    for field in children_of(declared, FIRST) if declared.type == "struct_type" else declared.named_children:
        if field.type == "field_declaration" and field.child_by_field_name("name") is None:
            yield go_type(field.child_by_field_name("type"))
        elif field.type == "type_elem" and field.named_child_count == 1:
            yield go_type(field)
