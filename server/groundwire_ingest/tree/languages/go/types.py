"""The types that Go code states, in the common form of `types`, and the tables that it describes to GORM."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.facts import Parameter, TableMapping
from groundwire_ingest.tree.languages.nodes import Nodes, children_of, first_child, text_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax

SPECS = frozenset({"type_spec", "type_alias", "var_spec", "const_spec"})

_MAX_DEPTH = 8
_SAME = frozenset({"pointer_type", "parenthesized_type", "type_elem", "type_constraint"})
_COLLECTIONS = {
    "slice_type": "element",
    "array_type": "element",
    "implicit_length_array_type": "element",
    "channel_type": "value",
}
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
        listed = node.child_by_field_name("type_arguments")
        inner = [go_type(child, depth - 1) for child in listed.named_children] if listed is not None else []
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


def is_variadic(listed: Node | None) -> bool:
    """True if the last parameter of a list takes any number of arguments."""
    return listed is not None and any(child.type == "variadic_parameter_declaration" for child in listed.named_children)


def result_of(node: Node | None) -> str:
    """The type that a callable returns: of several the first that is not `error`, unless that is all there is."""
    if node is None or node.type != "parameter_list":
        return go_type(node)
    types = [parameter.type_name for parameter in go_parameters(node)]
    return next((name for name in types if name != "error"), types[0] if types else "")


def embedded(declared: Node | None) -> Iterator[str]:
    """The types that a struct or an interface embeds, or that a type is defined as."""
    fields = first_child(declared) if declared is not None and declared.type == "struct_type" else declared
    if declared is None or declared.type not in ("struct_type", "interface_type"):
        yield go_type(declared)
        return
    for field in children_of(fields):
        if field.type == "field_declaration" and field.child_by_field_name("name") is None:
            yield go_type(field.child_by_field_name("type"))
        elif field.type == "type_elem" and field.named_child_count == 1:
            yield go_type(field)


CONVENTION_CONFIDENCE = 0.8
"""GORM names the table of a model after it, in small letters with underscores and in the plural, by default."""

_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MODEL_TAG = re.compile(r'\bgorm:"[^"]*(?:primary_?key|foreignkey|many2many|column|index|autoincrement)', re.IGNORECASE)


def go_mappings(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[TableMapping]:
    """`TableName` methods that return a string, then models of GORM by its convention."""
    named: set[str] = set()
    for node in nodes["method_declaration"]:
        table = _returned_string(syntax, node.child_by_field_name("body"))
        if text_of(node.child_by_field_name("name")) == "TableName" and table:
            receiver = next(go_parameters(node.child_by_field_name("receiver") or node), None)
            entity = receiver.type_name.partition("<")[0] if receiver is not None else ""
            named.add(entity)
            yield TableMapping(places.key(node), places.scope(node), entity, table, 1.0)
    for node in nodes["type_spec"]:
        name, declared = text_of(node.child_by_field_name("name")), node.child_by_field_name("type")
        is_struct = declared is not None and declared.type == "struct_type"
        if is_struct and places.type_scope(node) and name not in named and _is_model(declared):
            yield TableMapping(places.key(node), places.scope(node), "", _table_of(name), CONVENTION_CONFIDENCE)


def _returned_string(syntax: Syntax, body: Node | None) -> str:
    """The string that a body consists of returning."""
    statements = first_child(body)
    returned = statements if statements is None or statements.type == "return_statement" else first_child(statements)
    value = first_child(first_child(returned)) if returned is not None else None
    return string_value(syntax, value) if value is not None and value.type in syntax.strings else ""


def _is_model(declared: Node | None) -> bool:
    """True if a struct embeds `gorm.Model` or has a field with a tag that says how it is kept."""
    if "gorm.Model" in embedded(declared):
        return True
    listed = first_child(declared)
    tags = (field.child_by_field_name("tag") for field in (children_of(listed)))
    return any(tag is not None and _MODEL_TAG.search((tag.text or b"").decode()) is not None for tag in tags)


def _table_of(name: str) -> str:
    words = "_".join(_WORDS.split(name)).lower()
    if words.endswith(("s", "x", "z", "ch", "sh")):
        return f"{words}es"
    return f"{words[:-1]}ies" if words.endswith("y") and words[-2:-1] not in "aeiou" else f"{words}s"
