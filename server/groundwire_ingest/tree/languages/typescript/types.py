"""Types as TypeScript writes them, in the form of `types`."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.languages.nodes import first_child, last_child, type_name, type_of

_MAX_BYTES = 300
_MAX_MEMBERS = 50
_TRANSPARENT = frozenset({"type_annotation", "readonly_type", "parenthesized_type", "type_query", "optional_type"})
_SEVERAL = frozenset({"union_type", "intersection_type"})
_NAMED = frozenset(
    {"type_identifier", "nested_type_identifier", "identifier", "member_expression", "nested_identifier"}
)
_ANYTHING = frozenset({"any", "unknown", "void", "never", "undefined", "null", "object"})


def script_type(node: Node | None) -> str:
    """The type that a node writes; empty for those of functions, of objects written out, and for what says nothing."""
    while node is not None and node.type in _TRANSPARENT:
        node = first_child(node)
    if node is None or node.end_byte - node.start_byte > _MAX_BYTES:
        return ""
    if node.type in _SEVERAL:
        return next(filter(None, map(script_type, alternatives(node))), "")
    if node.type == "array_type":
        item = script_type(first_child(node))
        return f"Array<{item}>" if item else ""
    if node.type == "generic_type":
        return with_arguments(type_name(node.child_by_field_name("name")), last_child(node))
    if node.type in _NAMED:
        return type_name(node)
    written = type_of(node) if node.type == "predefined_type" else ""
    return "" if written in _ANYTHING else written


def with_arguments(name: str, arguments: Node | None) -> str:
    """A type's name with the types that a list of type arguments holds."""
    listed = arguments.named_children if arguments is not None and arguments.type == "type_arguments" else ()
    given = tuple(filter(None, map(script_type, listed)))
    return f"{name}<{','.join(given)}>" if name and given else name


def alternatives(node: Node) -> Iterator[Node]:
    """The types that a union or an intersection is made of, from the left."""
    pending = [node]
    for _ in range(_MAX_MEMBERS):
        if not pending:
            return
        current = pending.pop()
        if current.type in _SEVERAL:
            pending.extend(reversed(current.named_children))
        elif not current.is_extra:
            yield current


def object_types(node: Node | None) -> Iterator[Node]:
    """The object types written out in a type."""
    while node is not None and node.type in _TRANSPARENT:
        node = first_child(node)
    for part in alternatives(node) if node is not None else ():
        if part.type in ("object_type", "interface_body"):
            yield part
