"""The fields in composite literals of Go."""

from collections.abc import Iterator

from groundwire_ingest.tree.languages.go.types import go_type
from groundwire_ingest.tree.languages.nodes import FIRST, Nodes, children_of, field_of, first_child, text_of
from groundwire_ingest.tree.languages.syntax import Syntax
from groundwire_ingest.tree.languages.types import item_type
from groundwire_ingest.tree.languages.written_fields import WrittenField


def go_fields(_: Syntax, nodes: Nodes) -> Iterator[WrittenField]:
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
                yield WrittenField(value, name, type_written)
