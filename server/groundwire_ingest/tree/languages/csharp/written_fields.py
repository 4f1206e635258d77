"""The fields in initialisers of C#."""

from collections.abc import Iterator

from groundwire_ingest.tree.languages.nodes import Nodes, children_of, text_of
from groundwire_ingest.tree.languages.syntax import Syntax
from groundwire_ingest.tree.languages.written_fields import WrittenField


def csharp_fields(syntax: Syntax, nodes: Nodes) -> Iterator[WrittenField]:
    """`new Options { OnSave = Saved }`."""
    for node in nodes.of("object_creation_expression", "implicit_object_creation_expression"):
        initializer = node.child_by_field_name("initializer")
        callee = syntax.callee(node) if initializer is not None else None
        for part in children_of(initializer) if callee is not None else ():
            value = part.child_by_field_name("right")
            if callee is not None and part.type == "assignment_expression" and value is not None:
                yield WrittenField(value, text_of(part, "left"), ".".join(filter(None, callee)))
