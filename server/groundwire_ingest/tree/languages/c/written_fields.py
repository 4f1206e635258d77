"""The fields in initialisers of C and C++."""

from collections.abc import Iterator

from groundwire_ingest.tree.languages.c.declarators import declarators, written_type
from groundwire_ingest.tree.languages.nodes import Nodes, children_of, first_child, text_of
from groundwire_ingest.tree.languages.syntax import Syntax
from groundwire_ingest.tree.languages.written_fields import WrittenField


def c_fields(_syntax: Syntax, nodes: Nodes) -> Iterator[WrittenField]:
    """`struct ops o = { .open = my_open };`."""
    for node in nodes["declaration"]:
        for _, value in declarators(node):
            for pair in children_of(value) if value is not None and value.type == "initializer_list" else ():
                name, given = text_of(first_child(pair, "designator")), pair.child_by_field_name("value")
                if pair.type == "initializer_pair" and given is not None:
                    yield WrittenField(given, name, written_type(node))
