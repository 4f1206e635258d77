"""The annotations of Java declarations."""

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from groundwire_ingest.tree.languages.nodes import children_of, text_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Syntax

_ANNOTATIONS = frozenset({"annotation", "marker_annotation"})
_LISTS = frozenset({"element_value_array_initializer", "parenthesized_expression"})


def annotations(node: Node) -> Iterator[tuple[str, Node]]:
    """The plain name of each annotation of a declaration, and its node."""
    for modifiers in node.children:
        if modifiers.type == "modifiers":
            for child in modifiers.named_children:
                if child.type in _ANNOTATIONS:
                    yield text_of(child, "name").rpartition(".")[2], child


def values(annotation: Node, *names: str) -> Sequence[Node]:
    """The values of the first of the arguments `names` that an annotation has; `value` needs no name."""
    listed = annotation.child_by_field_name("arguments")
    given: dict[str, Node] = {}
    for argument in children_of(listed):
        if argument.type == "element_value_pair":
            value = argument.child_by_field_name("value")
            if value is not None:
                given[text_of(argument, "key")] = value
        elif not argument.is_extra:
            given["value"] = argument
    given_value = next((given[name] for name in names if name in given), None)
    if given_value is None:
        return ()
    return given_value.named_children if given_value.type in _LISTS else (given_value,)


def strings(syntax: Syntax, annotation: Node, *names: str) -> list[str]:
    """The plain strings among those values."""
    return [string_value(syntax, node) for node in values(annotation, *names) if node.type in syntax.strings]
