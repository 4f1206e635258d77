"""The arguments, strings, routes and class values that frameworks of Python read."""

import re
from collections.abc import Iterator
from itertools import islice

from tree_sitter import Node

from groundwire_ingest.tree.folders import path_in
from groundwire_ingest.tree.framework_facts import Mount, MountRole, Route
from groundwire_ingest.tree.languages.nodes import arguments_of, around_of, children_of, first_child, line_of, text_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.urls import url_path

_MAX_STEPS_TO_VARIABLE = 8
_PLAIN_STRING = re.compile(r"""[rRuU]?(["'])([^"'\\]+)\1""")


def keyword(call: Node, name: str) -> Node | None:
    """The value of an argument that is given by its name."""
    for child in arguments_of(call):
        if child.type == "keyword_argument" and text_of(child, "name") == name:
            return child.child_by_field_name("value")
    return None


def text(syntax: Syntax, node: Node | None) -> str:
    """The value of a string; empty for anything else."""
    return string_value(syntax, node) if node is not None and node.type == "string" else ""


def variable_around(node: Node) -> str:
    """The variable that is set to the list with a call in it; empty when there is none."""
    for around in islice(around_of(node.parent), _MAX_STEPS_TO_VARIABLE):
        if around.type in ("function_definition", "class_definition", "module"):
            break
        if around.type in ("assignment", "augmented_assignment"):
            left = around.child_by_field_name("left")
            return text_of(left) if left is not None and left.type == "identifier" else ""
    return ""


def view_path(syntax: Syntax, node: Node) -> str:
    """The path of a view, what wraps it or makes it of a class left out."""
    path = syntax.value_path(node)
    for _ in range(_MAX_STEPS_TO_VARIABLE):
        if node.type != "call" or path.endswith(".as_view()"):
            break
        wrapped = next((child for child in reversed(arguments_of(node)) if syntax.value_path(child)), None)
        if wrapped is None:
            break
        node, path = wrapped, syntax.value_path(wrapped)
    return path.removesuffix(".as_view()").removesuffix("()")


def route_at(
    places: Places,
    written: Node,
    pattern: str,
    handler: str,
    prefix_of: str,
    method: str,
    place: Node | None = None,
    name: str = "",
) -> Route:
    """The route whose pattern is in node `written`; it belongs to the node at `place`, there unless given."""
    at = place or written
    pattern = url_path(pattern)
    return Route(places.key(at), places.scope(at), pattern, handler, line_of(written), prefix_of, method, name)


def mount_at(places: Places, written: Node, router: str, prefix: str, within: str, role: MountRole) -> Mount:
    """The mount whose prefix is in node `written`."""
    return Mount(places.scope(written), router, url_path(prefix).rstrip("/"), line_of(written), within, role)


def application(key: str) -> str:
    """`shop` of a node in `src/shop/models.py`, `src/shop/models/order.py` or `src/shop/migrations/0001_initial.py`."""
    folders = path_in(key).split("/")[:-1]
    for inner in ("models", "migrations"):
        if inner in folders:
            folders = folders[: folders.index(inner)]
    return folders[-1] if folders else ""


def class_statements(class_node: Node, statement_type: str) -> Iterator[Node]:
    """The statements of a type in the body of a class."""
    return (child for child in children_of(class_node, "body") if child.type == statement_type)


def class_values(class_node: Node) -> dict[str, Node | None]:
    """The values of the plain assignments in a class body, by name."""
    assignments = (first_child(child) for child in class_statements(class_node, "expression_statement"))
    return {
        text_of(node, "left"): node.child_by_field_name("right")
        for node in assignments
        if node is not None and node.type == "assignment"
    }


def plain_string(node: Node | None) -> str:
    """The value of a string without escapes; empty for anything else."""
    match = _PLAIN_STRING.fullmatch(text_of(node))
    return match[2] if match else ""
