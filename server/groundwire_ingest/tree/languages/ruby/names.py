"""The variables of Ruby code with the attributes and associations of Rails, and what it names."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.facts import RETURNED, Binding, Call, Reference
from groundwire_ingest.tree.languages.nodes import Nodes, children_of, first_child, text_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax

_PARAMETERS = ("method_parameters", "block_parameters", "lambda_parameters")
VALUES = frozenset(
    {"assignment", "operator_assignment", "call", "exception_variable", "for", "body_statement", *_PARAMETERS}
)
_READERS = frozenset({"attr_reader", "attr_accessor"})
_ONE = frozenset({"belongs_to", "has_one"})
_MANY = frozenset({"has_many", "has_and_belongs_to_many"})
_ITERATING = frozenset({"each", "map", "select", "find", "reject", "each_with_index", "flat_map", "filter", "detect"})


def ruby_bindings(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Binding]:
    """Variables by what they are set to, attributes by their instance variables, associations by their names."""
    for node in nodes["call"]:
        yield from _declared(syntax, node, places)
    for node in nodes.of(*_PARAMETERS):
        yield from _parameters(syntax, node, places)
    for node in (*nodes["assignment"], *nodes["operator_assignment"]):
        yield from _assigned(syntax, node, places)
    for node in nodes["body_statement"]:
        is_method = node.parent is not None and node.parent.type in ("method", "singleton_method")
        value = syntax.value_path(node.named_children[-1]) if is_method and node.named_children else ""
        if value:
            yield Binding(places.scope(node), RETURNED, "", False, value)
    for node in nodes["exception_variable"]:
        yield Binding(places.scope(node), text_of(first_child(node)), "", False)
    for node in nodes["for"]:
        name = text_of(node.child_by_field_name("pattern"))
        value = syntax.value_path(first_child(node.child_by_field_name("value")))
        yield Binding(places.scope(node), name, "", False, value, True)


def _parameters(syntax: Syntax, node: Node, places: Places) -> Iterator[Binding]:
    """Parameters; the first one of a block that iterates is an item of the collection."""
    call = node.parent.parent if node.type == "block_parameters" and node.parent is not None else None
    is_iterating = call is not None and text_of(call.child_by_field_name("method")) in _ITERATING
    collection = syntax.value_path(call.child_by_field_name("receiver")) if call is not None and is_iterating else ""
    for position, child in enumerate(node.named_children):
        name = text_of(child.child_by_field_name("name") or child)
        value = collection if position == 0 else ""
        yield Binding(places.scope(node), name, "", False, value, bool(value))


def _assigned(syntax: Syntax, node: Node, places: Places) -> Iterator[Binding]:
    left, value = node.child_by_field_name("left"), syntax.value_path(node.child_by_field_name("right"))
    for target in left.named_children if left is not None and left.type == "left_assignment_list" else (left,):
        if target is None:
            continue
        value = "" if target != left else value
        if target.type == "identifier":
            yield Binding(places.scope(node), text_of(target), "", False, value)
        elif target.type in ("instance_variable", "class_variable") and value:
            written_in = places.scope(node)
            yield Binding(places.type_scope(node), text_of(target), "", False, value, written_in=written_in)


def _declared(syntax: Syntax, node: Node, places: Places) -> Iterator[Binding]:
    """The attributes and associations that a call in a class declares."""
    if node.child_by_field_name("receiver") is not None:
        return
    method, listed = text_of(node.child_by_field_name("method")), node.child_by_field_name("arguments")
    symbols = [child for child in (children_of(listed)) if child.type == "simple_symbol"]
    scope = places.type_scope(node)
    if method in _READERS:
        for symbol in symbols:
            name = text_of(symbol).lstrip(":")
            yield Binding(scope, name, "", False, f"@{name}")
    elif method in _ONE | _MANY and symbols and listed is not None:
        name = text_of(symbols[0]).lstrip(":")
        model = _class_name(syntax, listed) or class_of(name if method in _ONE else singular(name))
        yield Binding(scope, name, f"Array<{model}>" if method in _MANY else model, False)


def _class_name(syntax: Syntax, listed: Node) -> str:
    """The class in `class_name:` of an association."""
    for pair in listed.named_children:
        value = pair.child_by_field_name("value")
        if text_of(pair.child_by_field_name("key")) == "class_name" and value is not None and value.type == "string":
            return string_value(syntax, value).replace("::", ".").lstrip(".")
    return ""


def class_of(name: str) -> str:
    """`LineItem` of `line_item`."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def singular(name: str) -> str:
    """The name without the ending of the plural, as far as it is regular."""
    for ending, replacement in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh")):
        if name.endswith(ending):
            return name.removesuffix(ending) + replacement
    return name.removesuffix("s")


REFERENCING = frozenset({"constant", "scope_resolution", "identifier", "simple_symbol", "superclass"})
_DECLARING = frozenset({"attr_reader", "attr_writer", "attr_accessor", "autoload", "attribute", "define_method"})
_NAMED = frozenset({"class", "module"})
# Where a name alone is the name of a variable or parameter, or of what is declared or called.
_NO_CALLS = frozenset(
    """method singleton_method method_parameters block_parameters lambda_parameters optional_parameter keyword_parameter
    splat_parameter hash_splat_parameter block_parameter exception_variable left_assignment_list destructured_parameter
    rest_assignment alias undef""".split()
)


def ruby_calls(_: Syntax, nodes: Nodes, places: Places) -> Iterator[Call]:
    """Names by themselves, once for each chunk; those of variables are found to be such when they are resolved."""
    seen: set[tuple[str, int, str]] = set()
    for node in nodes["identifier"]:
        place = (places.key(node), places.scope(node), text_of(node))
        if place not in seen and _may_be_call(node):
            seen.add(place)
            yield Call(place[0], place[1], "", place[2], node.start_point.row + 1)


def ruby_references(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Reference]:
    """Constants by the longest path, then the methods that a call without a receiver is given as symbols."""
    for node in nodes.of("constant", "scope_resolution"):
        yield from places.reference(node, ".".join(syntax.path(node)) if _is_use(node) else "", "type")
    for node in nodes["simple_symbol"]:
        call = node.parent.parent if node.parent is not None and node.parent.type == "argument_list" else None
        is_plain = call is not None and call.type == "call" and call.child_by_field_name("receiver") is None
        if call is not None and is_plain and text_of(call.child_by_field_name("method")) not in _DECLARING:
            name = text_of(node).lstrip(":")
            yield from places.reference(node, name, "value")


def _is_use(node: Node) -> bool:
    """True if a constant is neither a part of a longer path, nor what is declared, nor a base."""
    parent = node.parent
    if parent is None or parent.type in ("scope_resolution", "superclass"):
        return False
    if parent.type == "assignment":
        return parent.child_by_field_name("left") != node
    return not (parent.type in _NAMED and parent.child_by_field_name("name") == node)


def _may_be_call(node: Node) -> bool:
    parent = node.parent
    if parent is None or parent.type in _NO_CALLS:
        return False
    if parent.type == "call":
        return parent.child_by_field_name("receiver") == node
    if parent.type in ("assignment", "operator_assignment"):
        return parent.child_by_field_name("left") != node
    return True
