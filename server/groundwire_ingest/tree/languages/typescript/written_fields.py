"""The fields in objects and elements that TypeScript and JavaScript write out."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.languages.nodes import Nodes, arguments_of, field_of, first_child, given_in, text_of
from groundwire_ingest.tree.languages.syntax import Syntax
from groundwire_ingest.tree.languages.typescript.members import script_type
from groundwire_ingest.tree.languages.written_fields import WrittenField

_AS_TYPE = frozenset({"as_expression", "satisfies_expression"})


def script_fields(syntax: Syntax, nodes: Nodes) -> Iterator[WrittenField]:
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
                yield WrittenField(inner, text_of(attribute_name), "", f"{path}(0)")


def _pairs(value: Node | None, type_written: str, holder: str) -> Iterator[WrittenField]:
    while value is not None and value.type in _AS_TYPE:
        stated = value.named_children[-1]
        type_written = type_written or script_type(stated)
        value = first_child(value)
    if value is None or value.type != "object" or not (type_written or holder):
        return
    for member in value.named_children:
        if member.type == "shorthand_property_identifier":
            yield WrittenField(member, text_of(member), type_written, holder)
        elif member.type == "pair":
            given = member.child_by_field_name("value")
            if given is not None:
                yield WrittenField(given, text_of(member, "key"), type_written, holder)
