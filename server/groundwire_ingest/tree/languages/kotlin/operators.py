"""Calls that Kotlin writes in another way: operators, indices, and members of the receiver of a lambda."""

from collections.abc import Iterator, Mapping

from tree_sitter import Node

from groundwire_ingest.tree.code_facts import Call
from groundwire_ingest.tree.languages.nodes import (
    FIRST,
    Nodes,
    around_of,
    child_of,
    children_of,
    field_of,
    first_child,
    last_child,
    line_of,
    text_of,
)
from groundwire_ingest.tree.languages.syntax import Places, Syntax

_OPERATORS: Mapping[str, str] = {
    "+": "plus",
    "-": "minus",
    "*": "times",
    "/": "div",
    "%": "rem",
    "..": "rangeTo",
    "+=": "plusAssign",
    "-=": "minusAssign",
}
_OF_RECEIVER = frozenset({"run", "apply"})


def implied_calls(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Call]:
    """`a + b` is `a.plus(b)`, `a[1]` is `a.get(1)`; in `with(a) { f() }` and `a.run { f() }` `f` may be one of `a`."""
    for node in nodes.of("binary_expression", "assignment"):
        name = _OPERATORS.get(text_of(node, "operator"), "")
        for method in (name, name.removesuffix("Assign")) if name.endswith("Assign") else (name,):
            right = syntax.value_path(node.child_by_field_name("right"))
            yield from _call(syntax, node, node.child_by_field_name("left"), method, (right,), places)
    for node in nodes["index_expression"]:
        is_set = node.parent is not None and node.parent.type == "assignment" and field_of(node.parent, "left") == node
        values = [*node.named_children[1:], *([field_of(node.parent, "right")] if is_set else [])]
        given = tuple(map(syntax.value_path, values))
        yield from _call(syntax, node, first_child(node), "set" if is_set else "get", given, places)
    for node in nodes["call_expression"]:
        target = first_child(node)
        if target is not None and target.type == "identifier":
            yield from _call(syntax, node, _receiver(node), text_of(target), syntax.arguments(node), places)


def _call(
    syntax: Syntax, node: Node, receiver: Node | None, name: str, given: tuple[str, ...], places: Places
) -> Iterator[Call]:
    path = syntax.value_path(receiver) if receiver is not None and name else ""
    if path:
        yield Call(places.key(node), places.scope(node), path, name, line_of(node), arguments=given)


def _receiver(node: Node) -> Node | None:
    """What the innermost lambda around a call is about, where that is what members are looked up in first."""
    lambda_node = next((item for item in around_of(node.parent) if item.type == "annotated_lambda"), None)
    called = first_child(lambda_node.parent) if lambda_node is not None else None
    if called is None:
        return None
    if called.type == "navigation_expression" and text_of(last_child(called)) in _OF_RECEIVER:
        return first_child(called)
    if called.type == "call_expression" and text_of(called, FIRST) == "with":
        return first_child(next(iter(children_of(child_of(called, "value_arguments"))), None))
    return None
