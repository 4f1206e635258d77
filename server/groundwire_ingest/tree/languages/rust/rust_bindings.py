"""The types, variables and imports of Rust code, and what it names without calling it."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.code_facts import Binding, Import, Reference, Role
from groundwire_ingest.tree.languages.nodes import (
    FIRST,
    LAST,
    Nodes,
    around_of,
    children_of,
    field_of,
    first_child,
    line_of,
    text_of,
)
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.types import type_text

_LEFT_OUT = re.compile(r"'\w+\s*,?|\b(?:dyn|impl|mut)\b|[?]")
_SLICE = re.compile(r"[&*\s]*\[([^\];]+)")


def rust_type(node: Node | None) -> str:
    """The type without lifetimes and without wrappers of ownership; a slice of T is `Array<T>`."""
    written = _LEFT_OUT.sub("", text_of(node))
    slice_of = _SLICE.match(written)
    return type_text(f"[]{slice_of[1]}" if slice_of else written)


def rust_bindings(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Binding]:
    """Fields, variants, parameters, locals, loop variables, and what `if let Some(x)` takes out."""
    for node in nodes["field_declaration"]:
        name, stated = text_of(node, "name"), rust_type(node.child_by_field_name("type"))
        yield Binding(places.type_scope(node), name, stated, True)
    for node in nodes["enum_variant"]:
        yield Binding(places.type_scope(node), text_of(node, "name"), "", False)
    for node in nodes.of("parameter", "let_declaration"):
        yield from _variable(syntax, node, places)
    for node in nodes["closure_parameters"]:
        names = (child for child in node.named_children if child.type == "identifier")
        yield from (Binding(places.scope(child), text_of(child), "", False) for child in names)
    for node in nodes["for_expression"]:
        value = syntax.value_path(node.child_by_field_name("value"))
        yield from places.variable(node, _name(node.child_by_field_name("pattern")), "", value, is_item=True)
    for node in nodes["let_condition"]:
        yield from _taken(syntax, node, places)


def _taken(syntax: Syntax, node: Node, places: Places) -> Iterator[Binding]:
    """The variable of `if let Some(x) = y`."""
    if text_of(node, "pattern", "type") in ("Some", "Ok"):
        name = _name(children_of(node, "pattern")[-1])
        yield from places.variable(node, name, "", syntax.value_path(node.child_by_field_name("value")))


def _variable(syntax: Syntax, node: Node, places: Places) -> Iterator[Binding]:
    stated = rust_type(node.child_by_field_name("type"))
    value = "" if stated else syntax.value_path(node.child_by_field_name("value"))
    yield from places.variable(node, _name(node.child_by_field_name("pattern")), stated, value)


def _name(pattern: Node | None) -> str:
    """The name of a pattern that is just one, mutable or not; empty for all others."""
    while pattern is not None and pattern.type in ("mut_pattern", "ref_pattern", "reference_pattern"):
        pattern = pattern.named_children[-1] if pattern.named_children else first_child(pattern)
    return text_of(pattern) if pattern is not None and pattern.type == "identifier" else ""


_DECLARING = frozenset("struct_item enum_item union_item trait_item type_item type_parameter associated_type".split())
_PATHS = frozenset("scoped_identifier scoped_type_identifier use_declaration use_as_clause scoped_use_list".split())


_VALUES_OF = {
    "let_declaration": ("value",),
    "assignment_expression": ("right",),
    "field_initializer": ("value",),
    "match_arm": ("value",),
    "return_expression": (FIRST,),
    "block": (LAST,),
}
_TESTING = frozenset({"if_expression", "while_expression"})


def rust_references(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Reference]:
    """Types by name, then what is before the last `::` of a path, then functions and constants that are passed on."""
    for node in nodes["type_identifier"]:
        if not _is_name(node) and (node.parent is None or node.parent.type not in _PATHS):
            yield from places.reference(node, text_of(node), "type")
    for node in nodes["scoped_type_identifier"]:
        yield from _path(syntax, node, "type", places)
    for node in nodes["scoped_identifier"]:
        if node.parent is not None and node.parent.type not in _PATHS and node.parent.type != "use_list":
            owner = node.child_by_field_name("path")
            yield from _path(syntax, owner, "type", places)
            if node.parent.type != "call_expression":
                yield from _path(syntax, node, "value", places)
    for node in nodes.of("arguments", "array_expression", "tuple_expression", *_VALUES_OF):
        for value in _values(node):
            if value.type == "identifier" and text_of(value) not in _taken_out_around(value):
                yield from _path(syntax, value, "value", places)


def _values(node: Node) -> Iterator[Node]:
    """The values that a node passes on, keeps, sets or gives as its result."""
    fields = _VALUES_OF.get(node.type)
    if fields is None:
        yield from node.named_children
    else:
        yield from filter(None, (field_of(node, field) for field in fields))


def _taken_out_around(node: Node) -> frozenset[str]:
    """The names in the patterns of the arms and conditions around a value."""
    patterns = (item.child_by_field_name("pattern") for item in around_of(node) if item.type == "match_arm")
    conditions = (item.child_by_field_name("condition") for item in around_of(node) if item.type in _TESTING)
    words_of_items = (re.findall(r"[^\W\d]\w*", text_of(item)) for item in (*patterns, *conditions))
    return frozenset(word for words_of_item in words_of_items for word in words_of_item)


def _path(syntax: Syntax, node: Node | None, role: Role, places: Places) -> Iterator[Reference]:
    path = ".".join(syntax.path(node)) if node is not None else ""
    if node is not None and path not in ("", "Self", "self", "crate", "super"):
        yield from places.reference(node, path, role)


def _is_name(node: Node) -> bool:
    """True if a name is the one that a declaration gives, or in the head of an `impl` block."""
    parent = node.parent
    if parent is not None and parent.type == "generic_type":
        parent = parent.parent
    if parent is not None and parent.type == "impl_item":
        return True
    parent = node.parent
    return parent is not None and parent.type in _DECLARING and parent.child_by_field_name("name") == node


def rust_imports(_: Syntax, nodes: Nodes) -> Iterator[Import]:
    """`use` one by one, and the modules that are in files of their own.

    Paths are those of the file's own module: in a module with braces `super` leads out of that first.
    """
    for node in nodes["use_declaration"]:
        yield from _used(node)
    for node in nodes["mod_item"]:
        name = text_of(node, "name")
        if name and node.child_by_field_name("body") is None:
            yield Import("self", name, name, line_of(node))


def _used(node: Node) -> Iterator[Import]:
    # How many modules with braces there are around it.
    depth, line = sum(item.type == "mod_item" for item in around_of(node.parent)), line_of(node)
    pending = [("", node.child_by_field_name("argument"))]
    while pending:
        prefix, item = pending.pop()
        if item is None:
            continue
        match item.type:
            case "scoped_use_list":
                inner = _joined(prefix, item.child_by_field_name("path"))
                pending += [(inner, child) for child in reversed(children_of(item, "list"))]
            case "use_list":
                pending += [(prefix, child) for child in reversed(item.named_children)]
            case "use_wildcard":
                yield Import(_outside(_joined(prefix, first_child(item)), depth), "*", "", line)
            case "use_as_clause":
                path = _joined(prefix, item.child_by_field_name("path"))
                yield _import(_outside(path, depth), text_of(item, "alias"), line)
            case _:
                yield _import(_outside(_joined(prefix, item), depth), "", line)


def _import(path: str, alias: str, line: int) -> Import:
    path = path.removesuffix(".self")
    module, _, name = path.rpartition(".")
    return Import(module, name, "" if alias == "_" else alias or name, line)


def _joined(prefix: str, node: Node | None) -> str:
    written = "".join(text_of(node).split()).replace("::", ".").strip(".")
    return f"{prefix}.{written}" if prefix and written else prefix or written


def _outside(path: str, depth: int) -> str:
    """A path as the file's own module would write it."""
    for _ in range(depth):
        first, _, rest = path.partition(".")
        if first != "super":
            break
        path = rest if rest.startswith("super") else f"self.{rest}" if rest else "self"
    return path
