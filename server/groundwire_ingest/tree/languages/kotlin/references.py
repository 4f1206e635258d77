"""What Kotlin code names without calling it."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.facts import Reference, Role
from groundwire_ingest.tree.languages.nodes import Nodes, first_child, last_child, type_of
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.types import head

_VALUED = ("navigation_expression", "value_argument", "return_expression", "callable_reference")
REFERENCING = frozenset({"user_type", "annotation", *_VALUED})
_NAMES = frozenset({"identifier", "navigation_expression"})
_BASES = frozenset({"delegation_specifier", "constructor_invocation", "explicit_delegation", "annotation"})


def kotlin_references(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Reference]:
    """Types by name, then annotations, then functions and members that are passed on or read."""
    for node in nodes["user_type"]:
        if node.parent is not None and node.parent.type not in _BASES:
            yield from _reference(node, head(type_of(node)), "type", places)
    for node in nodes["annotation"]:
        named = first_child(node)
        if named is not None and named.type == "constructor_invocation":
            named = first_child(named)
        yield from _reference(node, head(type_of(named)), "decorator", places)
    for kind in _VALUED:
        for node in nodes[kind]:
            value = node if kind == "navigation_expression" else last_child(node)
            if value is not None and value.type in _NAMES and not _is_called(node):
                path = ".".join(syntax.path(value)).removesuffix(".class")
                yield from _reference(node, path, "value", places)


def _is_called(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "call_expression"


def _reference(node: Node, name: str, role: Role, places: Places) -> Iterator[Reference]:
    if name:
        yield Reference(places.key(node), places.scope(node), name, node.start_point.row + 1, role)
