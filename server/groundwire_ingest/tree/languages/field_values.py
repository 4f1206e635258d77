"""Places where code sets a field of an object to something that has a name, in any language."""

from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from groundwire_ingest.tree.facts import FieldValue
from groundwire_ingest.tree.languages.c.declarators import declarators, written_type
from groundwire_ingest.tree.languages.go.types import go_type
from groundwire_ingest.tree.languages.nodes import (
    FIRST,
    Nodes,
    arguments_of,
    children_of,
    field_of,
    first_child,
    given_in,
    line_of,
    text_of,
    type_name,
)
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.types import item_type
from groundwire_ingest.tree.languages.typescript.members import script_type

_MEMBERS_OF_LITERALS = frozenset({"initializer_expression"})
_FUNCTIONS = frozenset(
    "func_literal lambda_expression anonymous_method_expression lambda arrow_function function_expression"
    " closure_expression anonymous_function".split()
)
_AS_TYPE = frozenset({"as_expression", "satisfies_expression"})


class _Member(NamedTuple):
    """A field in an object that the code writes out; `holder` and `type_name` as in `FieldValue`."""

    value: Node
    name: str
    type_name: str = ""
    holder: str = ""


def field_values(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[FieldValue]:
    """Fields that statements set, and those in objects that are written out, by the path of what they are set to."""
    for kind, (target, value) in syntax.settings.items():
        for node in nodes[kind]:
            if node.parent is not None and node.parent.type in _MEMBERS_OF_LITERALS:
                continue
            path, given = syntax.path(field_of(node, *target)), field_of(node, *value)
            if path and given is not None:
                yield from _stated(syntax, _Member(given, path[-1], "", ".".join(path[:-1])), places)
    for member in _written_out(syntax, nodes):
        yield from _stated(syntax, member, places)


def _stated(syntax: Syntax, member: _Member, places: Places) -> Iterator[FieldValue]:
    path = syntax.value_path(member.value)
    is_known = bool(path) or member.value.type in _FUNCTIONS
    if not is_known or path.endswith("()") or not member.name or member.name.endswith("()"):
        return
    if path and "." not in path and any(item.name == path for item in places.parameters_around(member.value)):
        return
    key, scope, line = places.key(member.value), places.scope(member.value), line_of(member.value)
    yield FieldValue(key, scope, member.holder, member.type_name, member.name, path, line)


def _written_out(syntax: Syntax, nodes: Nodes) -> Iterator[_Member]:
    match syntax.language:
        case "go":
            yield from _of_go(nodes)
        case "c" | "cpp":
            yield from _of_c(nodes)
        case "csharp":
            yield from _of_csharp(syntax, nodes)
        case "python":
            yield from _of_python(syntax, nodes)
        case "rust":
            yield from _of_rust(nodes)
        case "typescript" | "javascript":
            yield from _of_script(syntax, nodes)


def _of_go(nodes: Nodes) -> Iterator[_Member]:
    """`Options{OnSave: saved}`, also as an item of a slice, array or map of these."""
    for node in nodes["composite_literal"]:
        written = go_type(node.child_by_field_name("type"))
        pending = [(child, written) for child in children_of(node, "body")]
        item = item_type(written)
        while pending:
            child, type_written = pending.pop()
            name, value = text_of(child, "key", FIRST), field_of(child, "value", FIRST)
            inner = value if child.type == "keyed_element" else first_child(child)
            if item and inner is not None and inner.type == "literal_value" and type_written == written:
                pending.extend((part, item) for part in inner.named_children)
            elif child.type == "keyed_element" and value is not None and name and not (item and type_written != item):
                yield _Member(value, name, type_written)


def _of_c(nodes: Nodes) -> Iterator[_Member]:
    """`struct ops o = { .open = my_open };`."""
    for node in nodes["declaration"]:
        for _, value in declarators(node):
            for pair in children_of(value) if value is not None and value.type == "initializer_list" else ():
                name, given = text_of(first_child(pair, "designator")), pair.child_by_field_name("value")
                if pair.type == "initializer_pair" and given is not None:
                    yield _Member(given, name, written_type(node))


def _of_csharp(syntax: Syntax, nodes: Nodes) -> Iterator[_Member]:
    """`new Options { OnSave = Saved }`."""
    for node in nodes.of("object_creation_expression", "implicit_object_creation_expression"):
        initializer = node.child_by_field_name("initializer")
        callee = syntax.callee(node) if initializer is not None else None
        for part in children_of(initializer) if callee is not None else ():
            value = part.child_by_field_name("right")
            if callee is not None and part.type == "assignment_expression" and value is not None:
                yield _Member(value, text_of(part, "left"), ".".join(filter(None, callee)))


def _of_python(syntax: Syntax, nodes: Nodes) -> Iterator[_Member]:
    """`Options(on_save=saved)`, where the name is that of a class by its form."""
    for node in nodes["call"]:
        path = syntax.path(node.child_by_field_name("function"))
        if path and path[-1][:1].isupper():
            for argument in arguments_of(node):
                value = argument.child_by_field_name("value")
                if argument.type == "keyword_argument" and value is not None:
                    yield _Member(value, text_of(argument, "name"), ".".join(path))


def _of_rust(nodes: Nodes) -> Iterator[_Member]:
    """`Options { on_save: saved }`."""
    for node in nodes["struct_expression"]:
        for part in children_of(node, "body"):
            value = part.child_by_field_name("value")
            if part.type == "field_initializer" and value is not None:
                yield _Member(value, text_of(part, "field"), type_name(node, "name"))


def _of_script(syntax: Syntax, nodes: Nodes) -> Iterator[_Member]:
    """`const o: Options = { onSave: saved }`, `make({ onSave })`, `<Saver onSave={saved} />`."""
    for node in nodes["variable_declarator"]:
        written = script_type(node.child_by_field_name("type"))
        yield from _pairs(node.child_by_field_name("value"), written, "")
    for node in nodes.of("call_expression", "new_expression"):
        given = [(place, value) for place, value in enumerate(arguments_of(node)) if value.type == "object"]
        path = ".".join(syntax.path(field_of(node, syntax.calls[node.type].function))) if given else ""
        for place, value in given if path else ():
            yield from _pairs(value, "", f"{path}({place})")
    for node in nodes.of("jsx_opening_element", "jsx_self_closing_element"):
        path = ".".join(syntax.path(node.child_by_field_name("name")))
        for attribute in node.children_by_field_name("attribute") if path[:1].isupper() else ():
            attribute_name, *written_values = given_in(attribute)
            inner = first_child(written_values[0]) if written_values else None
            if inner is not None and written_values[0].type == "jsx_expression":
                yield _Member(inner, text_of(attribute_name), "", f"{path}(0)")


def _pairs(value: Node | None, type_written: str, holder: str) -> Iterator[_Member]:
    while value is not None and value.type in _AS_TYPE:
        stated = value.named_children[-1]
        type_written = type_written or script_type(stated)
        value = first_child(value)
    if value is None or value.type != "object" or not (type_written or holder):
        return
    for member in value.named_children:
        if member.type == "shorthand_property_identifier":
            yield _Member(member, text_of(member), type_written, holder)
        elif member.type == "pair":
            given = member.child_by_field_name("value")
            if given is not None:
                yield _Member(given, text_of(member, "key"), type_written, holder)
