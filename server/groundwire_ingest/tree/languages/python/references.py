"""The names that Python code uses without calling them, and calls that are not written as calls."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.code_facts import OF_ITEMS, Call, Reference
from groundwire_ingest.tree.languages.nodes import Nodes, arguments_of, children_of, first_child, line_of, text_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax

_NAME = re.compile(r"[^\W\d]\w*+(?:\.[^\W\d]\w*+)*+")
# `shop.orders.Order` and `shop.orders:Order`.
_IN_MODULE = re.compile(rf"""[rRuU]?+(["'])({_NAME.pattern}(?::{_NAME.pattern})?+)\1""")
_DECLARING = frozenset(
    """import_statement import_from_statement future_import_statement dotted_name aliased_import global_statement
    nonlocal_statement parameters lambda_parameters as_pattern_target keyword_pattern keyword_separator
    list_splat_pattern dictionary_splat_pattern pattern_list tuple_pattern decorator""".split()
)
_SELF = frozenset({b"self", b"cls"})
# Where the first child is what is declared or set, by the field that holds it.
_NAMING = {
    **dict.fromkeys(
        """function_definition class_definition keyword_argument default_parameter typed_default_parameter
        named_expression""".split(),
        "name",
    ),
    **dict.fromkeys("assignment augmented_assignment for_statement for_in_clause".split(), "left"),
    "call": "function",
    "attribute": "attribute",
}
# Functions that name a member of their first argument by a string.
_BY_STRING = {"getattr": "", "hasattr": "", "setattr": "", "LocalProxy": ".get()"}
_MODEL_FIELDS = frozenset({"ForeignKey", "OneToOneField", "ManyToManyField", "relationship", "backref"})


def python_references(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Reference]:
    """Decorators, then names and attributes that are read or set, then what strings name."""
    for node in nodes["decorator"]:
        path = syntax.path(first_child(node))
        if path:
            yield from places.reference(node, ".".join(path).removesuffix("()"), "decorator")
    for node in nodes["identifier"]:
        if not _is_named_elsewhere(node):
            yield from places.reference(node, text_of(node), "value")
    for node in nodes["attribute"]:
        if not _is_called(node):
            yield from places.reference(node, ".".join(syntax.path(node)), "value")
    for node in nodes["type"]:
        yield from _quoted(syntax, node, places)
    for node in nodes["call"]:
        yield from _by_string(syntax, node, places)
    yield from _in_modules(syntax, nodes, places)


def _is_named_elsewhere(node: Node) -> bool:
    """True if a name is declared or set here, is the name of a keyword or an attribute, or is called."""
    parent = node.parent
    if parent is None or parent.type in _DECLARING or node.text in _SELF or _is_base(parent):
        return True
    if parent.type == "typed_parameter":
        return first_child(parent) == node
    field = _NAMING.get(parent.type)
    return field is not None and parent.child_by_field_name(field) == node


def _is_called(node: Node) -> bool:
    """True if an attribute is what a call calls, a decorator names, or a base class."""
    parent = node.parent
    if parent is None or parent.type == "decorator" or _is_base(parent):
        return True
    return parent.type == "call" and parent.child_by_field_name("function") == node


def _is_base(parent: Node) -> bool:
    """True if what is listed in a node are base classes."""
    return parent.type == "argument_list" and parent.parent is not None and parent.parent.type == "class_definition"


def _quoted(syntax: Syntax, node: Node, places: Places) -> Iterator[Reference]:
    """The types that an annotation names in quotes."""
    pending = [node]
    while pending:
        current = pending.pop()
        if current.type == "string":
            for name in _NAME.findall(string_value(syntax, current)):
                yield from places.reference(current, name, "type")
        elif current.type not in ("type", "call") or current == node:
            pending.extend(current.named_children)


def _by_string(syntax: Syntax, node: Node, places: Places) -> Iterator[Reference]:
    """`getattr(x, "name")` and its like, and the models and tables that fields of models name by a string."""
    path = syntax.path(node.child_by_field_name("function"))
    arguments = arguments_of(node) if path else []
    strings = [string_value(syntax, child) if child.type == "string" else "" for child in arguments[:2]]
    if len(arguments) > 1 and path[-1] in _BY_STRING and _NAME.fullmatch(strings[1]):
        of = syntax.path(arguments[0])
        if of:
            yield from places.reference(node, f"{'.'.join(of)}{_BY_STRING[path[-1]]}.{strings[1]}", "value")
    if arguments and path[-1] in _MODEL_FIELDS and _NAME.fullmatch(strings[0]):
        yield from places.reference(node, strings[0].rpartition(".")[2], "type")


def _in_modules(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Reference]:
    """Strings that look like the full name of a module, or of something in one; documentation aside."""
    documentation = syntax.documentation(nodes)
    for node in nodes["string"]:
        named = _IN_MODULE.fullmatch(text_of(node))
        if named is not None and not named[2].isidentifier() and node.start_byte not in documentation:
            yield from places.reference(node, named[2], "string")


def python_calls(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Call]:
    """`x[key] = y` calls `x.__setitem__`, and `@receiver(signal)` or `@signal.connect` connects what it decorates."""
    for node in nodes["assignment"]:
        path = syntax.path(node.child_by_field_name("left"))
        value = syntax.value_path(node.child_by_field_name("right"))
        if len(path) > 1 and path[-1] == OF_ITEMS and value:
            yield _call(node, places, path[:-1], "__setitem__", ("", value))
    for node in nodes["decorated_definition"]:
        name = text_of(node, "definition", "name")
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
    first = first_child(call, "arguments")
    is_list = first is not None and first.type in ("list", "tuple")
    yield from filter(None, map(syntax.value_path, children_of(first) if is_list else ()))


def _call(node: Node, places: Places, receiver: tuple[str, ...], name: str, arguments: tuple[str, ...]) -> Call:
    return Call(places.key(node), places.scope(node), ".".join(receiver), name, line_of(node), False, arguments)
