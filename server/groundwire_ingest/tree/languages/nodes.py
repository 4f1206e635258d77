"""Questions to tree-sitter's nodes that are the same for every grammar. Their texts are read up to a size."""

import re
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


class Nodes(dict[str, list[Node]]):
    """The nodes of a file by type, each in document order."""

    def of(self, *types: str) -> Iterator[Node]:
        """The nodes of some types, type by type."""
        return (node for node_type in types for node in self[node_type])


def part_of(node: Node, field: str) -> Node | None:
    """The child in a field, which may be FIRST or LAST."""
    if field == FIRST:
        return first_child(node)
    return last_child(node) if field == LAST else node.child_by_field_name(field)


def field_of(node: Node | None, field: str) -> Node | None:
    """The child in a field; None for no node."""
    return node.child_by_field_name(field) if node is not None else None


def children_of(node: Node | None) -> list[Node]:
    """The named children; none for no node."""
    return node.named_children if node is not None else []


def given_in(listed: Node | None) -> list[Node]:
    """The named children of a list, such as one of arguments, that are no comments; none for no node."""
    return [child for child in children_of(listed) if not child.is_extra]


def arguments_of(call: Node) -> list[Node]:
    """The arguments of a call."""
    return given_in(call.child_by_field_name("arguments"))


def line_of(node: Node) -> int:
    """The 1-based line on which a node starts."""
    return node.start_point.row + 1


def text_of(node: Node | None) -> str:
    """The node's source text; empty for no node and for more than MAX_NAME_BYTES, which no name has."""
    if node is None or node.end_byte - node.start_byte > MAX_NAME_BYTES or node.text is None:
        return ""
    return node.text.decode()


def first_child(node: Node | None) -> Node | None:
    """The node's first named child that is no comment."""
    return next((child for child in node.named_children if not child.is_extra), None) if node else None


def last_child(node: Node | None) -> Node | None:
    """The node's last named child that is no comment."""
    return next((child for child in reversed(node.named_children) if not child.is_extra), None) if node else None


def type_name(node: Node | None) -> str:
    """The dotted name that a type starts with, without pointers and type arguments; empty for arrays and the like."""
    match = _TYPE_NAME.match(text_of(node))
    return match[1] if match and not match[2] else ""


def type_of(node: Node | None) -> str:
    """The type that a node of the source writes, in the form of `types`."""
    if node is None or node.end_byte - node.start_byte > _MAX_TYPE_BYTES or node.text is None:
        return ""
    return type_text(node.text.decode())


def end_row(node: Node) -> int:
    """The 0-based row of the node's last character; a node that ends with a line feed ends on that line."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point.row else row


def collect(root: Node, types: frozenset[str]) -> Nodes:
    """Every node below `root` of the given types and down to MAX_DEPTH, by type in document order.

    Iterates, so depth costs no stack.
    """
    found = Nodes((node_type, []) for node_type in sorted(types))
    cursor, depth = root.walk(), 0
    while True:
        node = cursor.node
        if node is not None and node.is_named and node.type in types:
            found[node.type].append(node)
        if depth < MAX_DEPTH and cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return found
            depth -= 1
