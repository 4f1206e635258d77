"""What Ruby code names: constants, methods by a symbol, and methods by nothing but their name."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.facts import Call, Reference
from groundwire_ingest.tree.languages.nodes import Nodes, text_of
from groundwire_ingest.tree.languages.syntax import Places, Syntax

REFERENCING = frozenset({"constant", "scope_resolution", "identifier", "simple_symbol", "superclass"})
_DECLARING = frozenset({"attr_reader", "attr_writer", "attr_accessor", "autoload", "attribute", "define_method"})
_NAMED = frozenset({"class", "module"})
# Where a name alone is the name of a variable or parameter, or of what is declared or called.
_NO_CALLS = frozenset(
    """method singleton_method method_parameters block_parameters lambda_parameters optional_parameter keyword_parameter
    splat_parameter hash_splat_parameter block_parameter exception_variable left_assignment_list destructured_parameter
    rest_assignment alias undef""".split()
)


def ruby_calls(nodes: Nodes, places: Places) -> Iterator[Call]:
    """Names by themselves, once for each chunk; those of variables are found to be such when they are resolved."""
    seen: set[tuple[str, int, str]] = set()
    for node in nodes["identifier"]:
        place = (places.key(node), places.scope(node), text_of(node))
        if place not in seen and _may_be_call(node):
            seen.add(place)
            yield Call(place[0], place[1], "", place[2], node.start_point.row + 1)


def ruby_references(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Reference]:
    """Constants by the longest path, then the methods that a call without a receiver is given as symbols."""
    for kind in ("constant", "scope_resolution"):
        for node in nodes[kind]:
            path = ".".join(syntax.path(node)) if _is_use(node) else ""
            if path:
                yield Reference(places.key(node), places.scope(node), path, node.start_point.row + 1, "type")
    for node in nodes["simple_symbol"]:
        call = node.parent.parent if node.parent is not None and node.parent.type == "argument_list" else None
        is_plain = call is not None and call.type == "call" and call.child_by_field_name("receiver") is None
        if call is not None and is_plain and text_of(call.child_by_field_name("method")) not in _DECLARING:
            name = text_of(node).lstrip(":")
            yield Reference(places.key(node), places.scope(node), name, node.start_point.row + 1, "value")


def _is_use(node: Node) -> bool:
    """Whether a constant is neither a part of a longer path, nor what is declared, nor a base."""
    parent = node.parent
    if parent is None or parent.type in ("scope_resolution", "superclass"):
        return False
    if parent.type == "assignment":
        return parent.child_by_field_name("left") != node
    return not (parent.type in _NAMED and parent.child_by_field_name("name") == node)


def _may_be_call(node: Node) -> bool:
    parent = node.parent
    if parent is None or parent.type in _NO_CALLS:
        return False
    if parent.type == "call":
        return parent.child_by_field_name("receiver") == node
    if parent.type in ("assignment", "operator_assignment"):
        return parent.child_by_field_name("left") != node
    return True
