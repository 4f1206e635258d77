"""The types and variables of Rust code: fields, variants, parameters, locals and loop variables."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.facts import Binding
from groundwire_ingest.tree.languages.nodes import Nodes, first_child, text_of
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.types import type_text

VALUES = frozenset(
    "field_declaration enum_variant parameter let_declaration for_expression let_condition closure_parameters".split()
)
_LEFT_OUT = re.compile(r"'\w+\s*,?|\b(?:dyn|impl|mut)\b|[?]")
_SLICE = re.compile(r"[&*\s]*\[([^\];]+)")


def rust_type(node: Node | None) -> str:
    """The type without lifetimes and what tells how it is held; a slice of T is `Array<T>`."""
    written = _LEFT_OUT.sub("", text_of(node))
    slice_of = _SLICE.match(written)
    return type_text(f"[]{slice_of[1]}" if slice_of else written)


def rust_bindings(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Binding]:
    """Fields, variants, parameters, locals, loop variables, and what `if let Some(x)` takes out."""
    for node in nodes["field_declaration"]:
        name, stated = text_of(node.child_by_field_name("name")), rust_type(node.child_by_field_name("type"))
        yield Binding(places.type_scope(node), name, stated, True)
    for node in nodes["enum_variant"]:
        yield Binding(places.type_scope(node), text_of(node.child_by_field_name("name")), "", False)
    for kind in ("parameter", "let_declaration"):
        for node in nodes[kind]:
            yield from _variable(syntax, node, places)
    for node in nodes["closure_parameters"]:
        names = (child for child in node.named_children if child.type == "identifier")
        yield from (Binding(places.scope(child), text_of(child), "", False) for child in names)
    for node in nodes["for_expression"]:
        value = syntax.value_path(node.child_by_field_name("value"))
        name = _name(node.child_by_field_name("pattern"))
        if name:
            yield Binding(places.scope(node), name, "", False, value, True)
    for node in nodes["let_condition"]:
        yield from _taken(syntax, node, places)


def _taken(syntax: Syntax, node: Node, places: Places) -> Iterator[Binding]:
    """The variable of `if let Some(x) = y`."""
    pattern, value = node.child_by_field_name("pattern"), syntax.value_path(node.child_by_field_name("value"))
    is_taken = pattern is not None and text_of(pattern.child_by_field_name("type")) in ("Some", "Ok")
    name = _name(pattern.named_children[-1]) if pattern is not None and is_taken else ""
    if name:
        yield Binding(places.scope(node), name, "", False, value)


def _variable(syntax: Syntax, node: Node, places: Places) -> Iterator[Binding]:
    name, stated = _name(node.child_by_field_name("pattern")), rust_type(node.child_by_field_name("type"))
    if name:
        value = "" if stated else syntax.value_path(node.child_by_field_name("value"))
        yield Binding(places.scope(node), name, stated, bool(stated), value)


def _name(pattern: Node | None) -> str:
    """The name of a pattern that is just one, mutable or not; empty for all others."""
    while pattern is not None and pattern.type in ("mut_pattern", "ref_pattern", "reference_pattern"):
        pattern = pattern.named_children[-1] if pattern.named_children else first_child(pattern)
    return text_of(pattern) if pattern is not None and pattern.type == "identifier" else ""
