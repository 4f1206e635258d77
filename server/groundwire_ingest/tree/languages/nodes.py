"""Questions to tree-sitter's nodes that are the same for every grammar. Their texts are read up to a size."""

import re
from collections import defaultdict
from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.languages.types import type_text

MAX_NAME_BYTES = 200
FIRST, LAST = "<first>", "<last>"
"""Stand for the name of a field where a grammar names none: a node's first and its last named child."""
MAX_DEPTH = 1000
"""Nodes nested deeper than this in the grammar's tree are ignored: finding a parent takes a walk down to the node."""

_MAX_TYPE_BYTES = 300
_TYPE_NAME = re.compile(r"[*&]*\s*([^\W\d][\w$]*(?:\.[^\W\d][\w$]*)*)\s*(\[\])?")


class Nodes(defaultdict[str, list[Node]]):
    """The named nodes of a file by type, each in document order; none of a type that the file does not have."""

    def of(self, *types: str) -> Iterator[Node]:
        """The nodes of some types, type by type."""
        return (node for node_type in types for node in self[node_type])


def field_of(node: Node | None, *fields: str) -> Node | None:
    """The node that a path of fields leads to, each the name of one, FIRST or LAST; None where one is missing."""
    for field in fields:
        if node is None:
            break
        if field in (FIRST, LAST):
            node = first_child(node) if field == FIRST else last_child(node)
        else:
            node = node.child_by_field_name(field)
    return node


def children_of(node: Node | None, *fields: str) -> list[Node]:
    """The named children of a node, or of the one that a path of fields leads to; none for no node."""
    node = field_of(node, *fields)
    return node.named_children if node is not None else []


def given_in(node: Node | None, *fields: str) -> list[Node]:
    """The named children of a list, such as one of arguments, that are no comments; none for no node."""
    return [child for child in children_of(node, *fields) if not child.is_extra]


def arguments_of(call: Node) -> list[Node]:
    """The arguments of a call."""
    return given_in(call, "arguments")


def child_of(node: Node | None, *types: str) -> Node | None:
    """The first named child of some types."""
    return next((child for child in children_of(node) if child.type in types), None)


def has_child(node: Node | None, node_type: str) -> bool:
    """True if a node has a child of a type, which may be a sign or a keyword."""
    return node is not None and any(child.type == node_type for child in node.children)


def around_of(node: Node | None) -> Iterator[Node]:
    """A node and those around it, the innermost first."""
    while node is not None:
        yield node
        node = node.parent


def outer_of(node: Node | None) -> Node | None:
    """The node around the list or body that a node is in: the call of an argument, the class of a member."""
    return node.parent.parent if node is not None and node.parent is not None else None


def line_of(node: Node) -> int:
    """The 1-based line on which a node starts."""
    return node.start_point.row + 1


def text_of(node: Node | None, *fields: str) -> str:
    """The source text of a node, or of the one that a path of fields leads to.

    Empty for no node and for more than MAX_NAME_BYTES, which no name has.
    """
    node = field_of(node, *fields)
    if node is None or node.end_byte - node.start_byte > MAX_NAME_BYTES or node.text is None:
        return ""
    return node.text.decode()


def first_child(node: Node | None, *fields: str) -> Node | None:
    """The first named child that is no comment, of a node or of the one that a path of fields leads to."""
    return next((child for child in children_of(node, *fields) if not child.is_extra), None)


def last_child(node: Node | None, *fields: str) -> Node | None:
    """The last named child that is no comment, of a node or of the one that a path of fields leads to."""
    return next((child for child in reversed(children_of(node, *fields)) if not child.is_extra), None)


def type_name(node: Node | None, *fields: str) -> str:
    """The dotted name that a type starts with, without pointers and type arguments; empty for arrays and the like."""
    match = _TYPE_NAME.match(text_of(node, *fields))
    return match[1] if match and not match[2] else ""


def type_of(node: Node | None, *fields: str) -> str:
    """The type that a node of the source writes, in the form of `types`."""
    node = field_of(node, *fields)
    if node is None or node.end_byte - node.start_byte > _MAX_TYPE_BYTES or node.text is None:
        return ""
    return type_text(node.text.decode())


def end_row(node: Node) -> int:
    """The 0-based row of the node's last character; a node that ends with a line feed ends on that line."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point.row else row


def collect(root: Node) -> Nodes:
    """The named nodes from `root` down to MAX_DEPTH. Iterates, so depth costs no stack."""
    nodes = Nodes(list)
    cursor, depth = root.walk(), 0
    while True:
        node = cursor.node
        if node is not None and node.is_named:
            nodes[node.type].append(node)
        if depth < MAX_DEPTH and cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return nodes
            depth -= 1
