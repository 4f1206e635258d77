"""The types that TypeScript states, and what its declarations are made of: base types, parameters, signatures."""

from collections.abc import Iterator, Mapping

from tree_sitter import Node

from groundwire_ingest.tree.code_facts import Parameter, Trait
from groundwire_ingest.tree.languages.nodes import (
    child_of,
    children_of,
    first_child,
    last_child,
    outer_of,
    text_of,
    type_name,
    type_of,
)
from groundwire_ingest.tree.languages.syntax import Syntax
from groundwire_ingest.tree.languages.typescript.shapes import value_or_self

_MAX_BYTES = 300
_MAX_ALTERNATIVES = 50
_TRANSPARENT = frozenset({"type_annotation", "readonly_type", "parenthesized_type", "type_query", "optional_type"})
_SEVERAL = frozenset({"union_type", "intersection_type"})
_NAMED = frozenset("type_identifier nested_type_identifier identifier member_expression nested_identifier".split())
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
        return with_arguments(type_name(node, "name"), last_child(node))
    if node.type in _NAMED:
        return type_name(node)
    written = type_of(node) if node.type == "predefined_type" else ""
    return "" if written in _ANYTHING else written


def with_arguments(name: str, arguments: Node | None) -> str:
    """A type's name with the types that a list of type arguments holds."""
    is_list = arguments is not None and arguments.type == "type_arguments"
    given = ",".join(filter(None, map(script_type, children_of(arguments) if is_list else ())))
    return f"{name}<{given}>" if name and given else name


def alternatives(node: Node) -> Iterator[Node]:
    """The types that a union or an intersection is made of, from the left."""
    pending = [node]
    for _ in range(_MAX_ALTERNATIVES):
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
    parts = alternatives(node) if node is not None else iter(())
    yield from (part for part in parts if part.type in ("object_type", "interface_body"))


_TRAITS: Mapping[str, Trait] = {"abstract": "abstract", "static": "static", "get": "property", "set": "property"}
_CLAUSES = frozenset({"extends_clause", "implements_clause"})
_SIGNATURES = frozenset({"method_signature", "call_signature", "construct_signature"})
_OF_FILE = frozenset({"program", "export_statement"})
_MAX_MEMBERS = 64
"""The number of members of an interface that show its purpose."""


def script_bases(_: Syntax, node: Node) -> tuple[str, ...]:
    """The types that a class, an interface or a type alias is derived from, those of mixins as their arguments.

    An object that a variable of the file holds derives from the type that is stated for it.
    """
    value = value_or_self(node)
    stated: tuple[str, ...] = ()
    around = outer_of(node) if node.type == "variable_declarator" else None
    if around is None or around.type not in _OF_FILE:
        return tuple(filter(None, _bases(value)))
    if value.type == "satisfies_expression":
        stated, value = (script_type(last_child(value)),), first_child(value) or value
    if value.type == "object":
        stated = (script_type(node.child_by_field_name("type")), *stated)
    return tuple(filter(None, (*stated, *_bases(value))))


def _bases(node: Node) -> Iterator[str]:
    if node.type == "type_alias_declaration":
        value = node.child_by_field_name("value")
        yield from map(script_type, alternatives(value) if value is not None and value.type != "union_type" else ())
        return
    for heritage in node.named_children:
        if heritage.type not in ("class_heritage", "extends_type_clause"):
            continue
        for part in heritage.named_children:
            if part.type == "extends_clause":
                yield from _extended(part.child_by_field_name("value"), part.child_by_field_name("type_arguments"))
            elif part.type in _CLAUSES:
                yield from map(script_type, part.named_children)
            elif heritage.type == "class_heritage":
                yield from _extended(part, None)
            else:
                yield script_type(part)


def _extended(value: Node | None, arguments: Node | None) -> Iterator[str]:
    if value is not None and value.type == "call_expression":
        yield from map(type_name, children_of(value, "arguments"))
    elif value is not None:
        yield with_arguments(type_name(value), arguments)


def script_parameters(_: Syntax, declared: Node) -> tuple[Parameter, ...] | None:
    """The parameters of a function, or of a variable or member that is one; None for anything else."""
    node = value_or_self(declared)
    annotation = first_child(node, "type")
    function = annotation if annotation is not None and annotation.type == "function_type" else node
    if function.child_by_field_name("parameters") is None:
        single = node.child_by_field_name("parameter")
        return (Parameter(text_of(single)),) if single is not None else None
    parameters = (_parameter(child) for child in children_of(function, "parameters") if not child.is_extra)
    return tuple(parameter for parameter in parameters if parameter.name != "this")


def _parameter(node: Node) -> Parameter:
    target = node.child_by_field_name("pattern") or node.child_by_field_name("left") or node
    has_default = node.type == "assignment_pattern" or node.child_by_field_name("value") is not None
    name = first_child(target) if target.type == "rest_pattern" else target
    is_optional = has_default or node.type == "optional_parameter" or target.type == "rest_pattern"
    plain = text_of(name) if name is not None and name.type in ("identifier", "this") else ""
    return Parameter(plain, script_type(node.child_by_field_name("type")), is_optional)


def script_result(_: Syntax, node: Node) -> str:
    """The type that a function or a member of an interface returns, or the stated type of a variable."""
    value = value_or_self(node)
    stated = script_type(value.child_by_field_name("return_type"))
    if stated or value.child_by_field_name("parameters") is not None:
        return stated
    annotation = first_child(node, "type")
    if annotation is not None and annotation.type == "function_type":
        return script_type(annotation.child_by_field_name("return_type"))
    return script_type(annotation)


def script_traits(_: Syntax, node: Node, parent: Node | None) -> frozenset[Trait]:
    """By the modifiers; a type alias with methods is an interface."""
    words = {child.type for child in node.children}
    traits: set[Trait] = {trait for word, trait in _TRAITS.items() if word in words}
    if node.type == "interface_declaration" or (node.type == "type_alias_declaration" and has_methods(node)):
        traits.add("interface")
    if node.type.startswith("abstract_"):
        traits.add("abstract")
    if _is_private(node):
        traits.add("private")
    for parameter in children_of(value_or_self(node).child_by_field_name("parameters")):
        pattern = parameter.child_by_field_name("pattern") or parameter
        if pattern.type == "rest_pattern":
            traits.add("variadic")
    return frozenset(traits)


def _is_private(member: Node) -> bool:
    """True for `private go()` and `#go()`."""
    name = member.child_by_field_name("name") or member.child_by_field_name("property")
    is_hidden = name is not None and name.type == "private_property_identifier"
    return is_hidden or text_of(child_of(member, "accessibility_modifier")) == "private"


def is_overload(node: Node, name: str) -> bool:
    """True if a signature without a body is followed by another one, or by the body, of the same name."""
    around = node.parent if node.parent is not None and node.parent.type == "export_statement" else node
    following = around.next_named_sibling
    while following is not None and following.is_extra:
        following = following.next_named_sibling
    if following is not None and following.type == "export_statement":
        following = following.child_by_field_name("declaration")
    return following is not None and text_of(following, "name") == name


def has_methods(node: Node) -> bool:
    """True if an interface or type alias has methods, or has nothing but functions."""
    bodies = object_types(node.child_by_field_name("body") or node.child_by_field_name("value"))
    members = [member for body in bodies for member in _first_members(body)]
    is_behaviour = bool(members) and all(map(_is_function, members))
    return is_behaviour or any(member.type in _SIGNATURES for member in members)


def is_method(node: Node) -> bool:
    """True if a property of an interface is one of its methods: a function among functions only."""
    return _is_function(node) and node.parent is not None and all(map(_is_function, _first_members(node.parent)))


def _is_function(member: Node) -> bool:
    annotation = first_child(member, "type") if member.type == "property_signature" else None
    return (annotation is not None and annotation.type == "function_type") or member.type in _SIGNATURES


def _first_members(body: Node) -> list[Node]:
    members = (body.named_child(position) for position in range(min(body.named_child_count, _MAX_MEMBERS)))
    return [member for member in members if member and not member.is_extra]
