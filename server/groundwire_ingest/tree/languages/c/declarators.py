"""The names that a declaration of C or C++ declares, inside of pointers, arrays and functions."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.languages.nodes import first_child, text_of, type_of

NAMES = frozenset(
    """identifier field_identifier type_identifier qualified_identifier destructor_name operator_name operator_cast
    template_function""".split()
)
_FUNCTIONS = frozenset({"function_declarator", "abstract_function_declarator"})
_POINTERS = frozenset({"pointer_declarator", "array_declarator", "reference_declarator"})
_TEMPLATE_ARGUMENTS = re.compile(r"<[^<>]*>")
_MAX_STEPS = 20


def declarators(node: Node) -> Iterator[tuple[Node, Node | None]]:
    """The declarators of a declaration, each with the value that it is set to."""
    for child in node.children_by_field_name("declarator"):
        if child.type == "init_declarator":
            inner = child.child_by_field_name("declarator")
            if inner is not None:
                yield inner, child.child_by_field_name("value")
        else:
            yield child, None


def name_of(declarator: Node | None) -> Node | None:
    """The name that a declarator declares."""
    for _ in range(_MAX_STEPS):
        if declarator is None or declarator.type in NAMES:
            return declarator
        declarator = declarator.child_by_field_name("declarator") or first_child(declarator)
    return None


def function_of(node: Node) -> Node | None:
    """The declarator of the function that a declaration declares; None for a variable, and a pointer to a function."""
    declarator, function = node.child_by_field_name("declarator"), None
    for _ in range(_MAX_STEPS):
        if declarator is None or declarator.type in NAMES:
            break
        if declarator.type == "init_declarator":
            return None
        if declarator.type in _FUNCTIONS:
            function = declarator
        elif declarator.type in _POINTERS:
            function = None
        declarator = declarator.child_by_field_name("declarator") or first_child(declarator)
    return function if declarator is not None and declarator.type in NAMES else None


def dotted_name(node: Node | None) -> str:
    """A name with dots in place of `::` and without the arguments of templates."""
    written = "".join(text_of(node).split()) if node is not None and node.type != "operator_name" else text_of(node)
    owner, separator, operator = written.partition("operator")
    if not separator or operator[:1].isalnum() or operator[:1] == "_":
        owner, operator = written, ""
    for _ in range(_MAX_STEPS):
        shorter = _TEMPLATE_ARGUMENTS.sub("", owner)
        if shorter == owner:
            break
        owner = shorter
    return owner.replace("::", ".").lstrip(".") + (f"operator{operator}" if operator else "")


def written_type(node: Node) -> str:
    """The type that a declaration states; empty for `auto`."""
    stated = node.child_by_field_name("type")
    if stated is None or stated.type == "placeholder_type_specifier":
        return ""
    if stated.child_by_field_name("body") is not None:
        return text_of(stated, "name")
    return type_of(stated)
