"""Calls that Python writes in another way than as a call."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.facts import OF_ITEMS, Call
from groundwire_ingest.tree.languages.nodes import Nodes, first_child, text_of
from groundwire_ingest.tree.languages.syntax import Places, Syntax


def implied_calls(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Call]:
    """`x[key] = y` calls `x.__setitem__`, and `@receiver(signal)` or `@signal.connect` connects what it decorates."""
    for node in nodes["assignment"]:
        path = syntax.path(node.child_by_field_name("left"))
        value = syntax.value_path(node.child_by_field_name("right"))
        if len(path) > 1 and path[-1] == OF_ITEMS and value:
            yield _call(node, places, path[:-1], "__setitem__", ("", value))
    for node in nodes["decorated_definition"]:
        definition = node.child_by_field_name("definition")
        name = text_of(definition.child_by_field_name("name")) if definition is not None else ""
        for child in node.named_children if name else ():
            if child.type == "decorator":
                yield from _connected(syntax, child, name, places)


def _connected(syntax: Syntax, node: Node, name: str, places: Places) -> Iterator[Call]:
    call = first_child(node)
    path = syntax.path(call)
    if not path:
        return
    given = syntax.arguments(call) if call is not None and call.type == "call" else ()
    if path[-1] == "receiver()" and given:
        signals = [given[0]] if given[0] else list(_listed(syntax, call))
        for signal in signals:
            yield _call(node, places, tuple(signal.split(".")), "connect", (name, *given[1:]))
    elif len(path) > 1 and path[-1].removesuffix("()") in ("connect", "connect_via"):
        yield _call(node, places, path[:-1], "connect", (name, *given))


def _listed(syntax: Syntax, call: Node | None) -> Iterator[str]:
    """The signals of `@receiver([first, second])`."""
    arguments = call.child_by_field_name("arguments") if call is not None else None
    first = first_child(arguments)
    for child in first.named_children if first is not None and first.type in ("list", "tuple") else ():
        if syntax.value_path(child):
            yield syntax.value_path(child)


def _call(node: Node, places: Places, receiver: tuple[str, ...], name: str, arguments: tuple[str, ...]) -> Call:
    line = node.start_point.row + 1
    return Call(places.key(node), places.scope(node), ".".join(receiver), name, line, False, arguments)
