"""The fields that Python gives to the constructors of classes."""

from collections.abc import Iterator

from groundwire_ingest.tree.languages.nodes import Nodes, arguments_of, text_of
from groundwire_ingest.tree.languages.syntax import Syntax
from groundwire_ingest.tree.languages.written_fields import WrittenField


def python_fields(syntax: Syntax, nodes: Nodes) -> Iterator[WrittenField]:
    """`Options(on_save=saved)`, where the name is that of a class by its form."""
    for node in nodes["call"]:
        path = syntax.path(node.child_by_field_name("function"))
        if path and path[-1][:1].isupper():
            for argument in arguments_of(node):
                value = argument.child_by_field_name("value")
                if argument.type == "keyword_argument" and value is not None:
                    yield WrittenField(value, text_of(argument, "name"), ".".join(path))
