"""The fields in struct expressions of Rust."""

from collections.abc import Iterator

from groundwire_ingest.tree.languages.nodes import Nodes, children_of, text_of, type_name
from groundwire_ingest.tree.languages.syntax import Syntax
from groundwire_ingest.tree.languages.written_fields import WrittenField


def rust_fields(_: Syntax, nodes: Nodes) -> Iterator[WrittenField]:
    """`Options { on_save: saved }`."""
    for node in nodes["struct_expression"]:
        for part in children_of(node, "body"):
            value = part.child_by_field_name("value")
            if part.type == "field_initializer" and value is not None:
                yield WrittenField(value, text_of(part, "field"), type_name(node, "name"))
