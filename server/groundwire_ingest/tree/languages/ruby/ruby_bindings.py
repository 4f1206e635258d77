"""The variables of Ruby code with the attributes that readers make, and what it names."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.code_facts import RETURNED, Binding, Call, Reference
from groundwire_ingest.tree.languages.nodes import Nodes, children_of, field_of, first_child, line_of, outer_of, text_of
from groundwire_ingest.tree.languages.syntax import Places, Syntax

_READERS = frozenset({"attr_reader", "attr_accessor"})
_ITERATING = frozenset({"each", "map", "select", "find", "reject", "each_with_index", "flat_map", "filter", "detect"})


def ruby_bindings(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Binding]:
    """Variables by what they are set to, attributes by their instance variables."""
    for node in nodes["call"]:
        yield from _declared(node, places)
    for node in nodes.of("method_parameters", "block_parameters", "lambda_parameters"):
        yield from _parameters(syntax, node, places)
    for node in nodes.of("assignment", "operator_assignment"):
        yield from _assigned(syntax, node, places)
    for node in nodes["body_statement"]:
        is_method = node.parent is not None and node.parent.type in ("method", "singleton_method")
        value = syntax.value_path(node.named_children[-1]) if is_method and node.named_children else ""
        if value:
            yield Binding(places.scope(node), RETURNED, "", False, value)
    for node in nodes["exception_variable"]:
        yield Binding(places.scope(node), text_of(first_child(node)), "", False)
    for node in nodes["for"]:
        value = syntax.value_path(first_child(node, "value"))
        yield Binding(places.scope(node), text_of(node, "pattern"), "", False, value, True)


def _parameters(syntax: Syntax, node: Node, places: Places) -> Iterator[Binding]:
    """Parameters; the first one of a block that iterates is an item of the collection."""
    call = outer_of(node) if node.type == "block_parameters" else None
    is_iterating = text_of(call, "method") in _ITERATING
    collection = syntax.value_path(field_of(call, "receiver")) if is_iterating else ""
    for position, child in enumerate(node.named_children):
        name = text_of(child.child_by_field_name("name") or child)
        value = collection if position == 0 else ""
        yield Binding(places.scope(node), name, "", False, value, bool(value))


def _assigned(syntax: Syntax, node: Node, places: Places) -> Iterator[Binding]:
    left, value = node.child_by_field_name("left"), syntax.value_path(node.child_by_field_name("right"))
    for target in left.named_children if left is not None and left.type == "left_assignment_list" else (left,):
        if target is None:
            continue
        value = "" if target != left else value
        if target.type == "identifier":
            yield Binding(places.scope(node), text_of(target), "", False, value)
        elif target.type in ("instance_variable", "class_variable") and value:
            written_in = places.scope(node)
            yield Binding(places.type_scope(node), text_of(target), "", False, value, written_in=written_in)


def _declared(node: Node, places: Places) -> Iterator[Binding]:
    """The attributes that a call in a class declares."""
    if node.child_by_field_name("receiver") is None and text_of(node, "method") in _READERS:
        for symbol in children_of(node, "arguments"):
            if symbol.type == "simple_symbol":
                name = text_of(symbol).lstrip(":")
                yield Binding(places.type_scope(node), name, "", False, f"@{name}")


_DECLARING = frozenset({"attr_reader", "attr_writer", "attr_accessor", "autoload", "attribute", "define_method"})
_NAMED = frozenset({"class", "module"})
# Where a name alone is the name of a variable or parameter, or of what is declared or called.
_NO_CALLS = frozenset(
    """method singleton_method method_parameters block_parameters lambda_parameters optional_parameter keyword_parameter
    splat_parameter hash_splat_parameter block_parameter exception_variable left_assignment_list destructured_parameter
    rest_assignment alias undef""".split()
)


def ruby_calls(_: Syntax, nodes: Nodes, places: Places) -> Iterator[Call]:
    """Names by themselves, once for each chunk; those of variables are found to be such when they are resolved."""
    seen: set[tuple[str, int, str]] = set()
    for node in nodes["identifier"]:
        place = (places.key(node), places.scope(node), text_of(node))
        if place not in seen and _may_be_call(node):
            seen.add(place)
            yield Call(place[0], place[1], "", place[2], line_of(node))


def ruby_references(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Reference]:
    """Constants by the longest path, then the methods that a call without a receiver is given as symbols."""
    for node in nodes.of("constant", "scope_resolution"):
        yield from places.reference(node, ".".join(syntax.path(node)) if _is_use(node) else "", "type")
    for node in nodes["simple_symbol"]:
        call = outer_of(node) if node.parent is not None and node.parent.type == "argument_list" else None
        is_plain = call is not None and call.type == "call" and call.child_by_field_name("receiver") is None
        if is_plain and text_of(call, "method") not in _DECLARING:
            yield from places.reference(node, text_of(node).lstrip(":"), "value")


def _is_use(node: Node) -> bool:
    """True if a constant is neither a part of a longer path, nor what is declared, nor a base."""
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
