"""Every variable of a file of TypeScript or JavaScript."""

from collections.abc import Iterator, Mapping

from tree_sitter import Node

from groundwire_ingest.tree.code_facts import RETURNED, Binding
from groundwire_ingest.tree.languages.nodes import Nodes, arguments_of, field_of, first_child, outer_of, text_of
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.typescript.known_values import NOTHING, Known, bound, is_declared, known_value
from groundwire_ingest.tree.languages.typescript.members import script_type
from groundwire_ingest.tree.languages.typescript.shapes import FUNCTIONS, called_name

_TYPED_PARAMETERS = ("required_parameter", "optional_parameter")
_FIELDS = {"public_field_definition": "name", "field_definition": "property", "property_signature": "name"}
_DECLARED_FUNCTIONS = frozenset({"function_declaration", "generator_function_declaration", "method_definition"})
_NAMING = frozenset({"variable_declarator", "pair", *_FIELDS, "assignment_expression", "export_statement"})
_MODIFIERS = frozenset({"accessibility_modifier", "override_modifier", "readonly"})
# Methods that hand each item of a collection to a function.
_ITERATING = frozenset(
    "map forEach filter find findIndex findLast some every flatMap sort toSorted partition groupBy each".split()
)
# The parts of statements that may hold a `return` of the same function.
_STATEMENTS = frozenset(
    """statement_block if_statement else_clause try_statement catch_clause finally_clause switch_statement switch_body
    switch_case switch_default for_statement for_in_statement while_statement do_statement""".split()
)
# Methods that hand to a function what a promise gives, or the very thing that they are called on.
_HANDING_ON = frozenset({"then", "$transaction"})


def script_bindings(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Binding]:
    """Parameters first, then variables, fields, items and results; names without any known type come last."""
    unknown: list[Binding] = []
    parameters: dict[tuple[int, str], Known] = {}
    for binding in _all(syntax, nodes, places, parameters):
        if binding.type_name or binding.value:
            yield binding
        else:
            unknown.append(binding)
    yield from unknown


def _all(syntax: Syntax, nodes: Nodes, places: Places, parameters: dict[tuple[int, str], Known]) -> Iterator[Binding]:
    limits = _limits(nodes)
    for node in nodes.of(*_TYPED_PARAMETERS):
        yield from _parameter(syntax, node, places, parameters, limits)
    for node in nodes["formal_parameters"]:
        for child in (parameter for parameter in node.named_children if parameter.type not in _TYPED_PARAMETERS):
            yield from bound(syntax, places.scope(child), child, NOTHING)
    for node in nodes["variable_declarator"]:
        if not is_declared(node.child_by_field_name("value")):
            known = _known(syntax, node, limits)
            yield from bound(syntax, places.around(node), node.child_by_field_name("name"), known)
    yield from _fields(syntax, nodes, places, parameters)
    for node in nodes["for_in_statement"]:
        known = known_value(syntax, node.child_by_field_name("right"))
        is_of = text_of(node, "operator") == "of"
        item = Known(known.type_name, known.path, is_item=True) if is_of and not known.is_item else NOTHING
        yield from bound(syntax, places.scope(node), node.child_by_field_name("left"), item)
    for node in nodes.of(*sorted(FUNCTIONS)):
        yield from _item_of_call(syntax, node, places)
    for node in nodes.of(*sorted(FUNCTIONS | _DECLARED_FUNCTIONS)):
        yield from _result(syntax, node, places)


def _limits(nodes: Nodes) -> dict[str, str]:
    """The bounds of type parameters; of two with one name the first counts."""
    bound_of_name: dict[str, str] = {}
    for node in nodes["type_parameter"]:
        bound_by = script_type(first_child(node, "constraint"))
        if bound_by:
            bound_of_name.setdefault(text_of(node, "name"), bound_by)
    return bound_of_name


def _known(syntax: Syntax, node: Node, limits: Mapping[str, str]) -> Known:
    """The type of a variable or parameter by its annotation, else by its value."""
    annotation = node.child_by_field_name("type")
    if annotation is None:
        return known_value(syntax, node.child_by_field_name("value"))
    type_name = script_type(annotation)
    return Known(limits.get(type_name, type_name), is_stated=True, node=annotation)


def _parameter(
    syntax: Syntax, node: Node, places: Places, parameters: dict[tuple[int, str], Known], limits: Mapping[str, str]
) -> Iterator[Binding]:
    """A parameter, which is a field as well where it has a modifier of fields."""
    target, known, scope = node.child_by_field_name("pattern"), _known(syntax, node, limits), places.scope(node)
    if target is None:
        return
    if target.type == "identifier":
        parameters.setdefault((scope, text_of(target)), known)
    yield from bound(syntax, scope, target, known)
    if any(child.type in _MODIFIERS for child in node.children):
        yield from bound(syntax, places.type_scope(node), target, known)


def _fields(
    syntax: Syntax, nodes: Nodes, places: Places, parameters: Mapping[tuple[int, str], Known]
) -> Iterator[Binding]:
    """Fields that a type declares, and those that its methods set."""
    for kind, field in _FIELDS.items():
        for node in nodes[kind]:
            value, name = node.child_by_field_name("value"), text_of(node, field)
            known = _known(syntax, node, {})
            if name and not is_declared(value) and known.says_something:
                yield known.binding(places.around(node), name)
    for node in nodes["assignment_expression"]:
        path, value = syntax.path(node.child_by_field_name("left")), node.child_by_field_name("right")
        if len(path) != 2 or path[0] != "this":
            continue
        known = parameters.get((places.scope(node), text_of(value))) or known_value(syntax, value)
        # A path that starts with a variable of the method means nothing to the type.
        if known.path and (places.scope(node), known.path.partition(".")[0]) in parameters:
            continue
        if known.says_something:
            yield known.binding(places.type_scope(node) or places.scope(node), path[1])


def _item_of_call(syntax: Syntax, node: Node, places: Places) -> Iterator[Binding]:
    """The first parameter of a function that a method calls with each item, or with what a promise gives."""
    call = outer_of(node) if node.parent is not None and node.parent.type == "arguments" else None
    path = syntax.path(field_of(call, "function"))
    target = node.child_by_field_name("parameter") or first_child(node, "parameters")
    if target is None or len(path) < 2 or target.child_by_field_name("type") is not None:
        return
    target = target.child_by_field_name("pattern") or target
    receiver = _piped(syntax, call) or ".".join(path[:-1])
    if path[-1] in _ITERATING:
        yield from bound(syntax, places.scope(node), target, Known(path=receiver, is_item=True))
    elif path[-1] in _HANDING_ON:
        yield from bound(syntax, places.scope(node), target, Known(path=receiver))


def _piped(syntax: Syntax, call: Node | None) -> str:
    """The first argument of `pipe(items, A.map(f))`, where the call is the second."""
    listed = call.parent if call is not None else None
    outer = listed.parent if listed is not None and listed.type == "arguments" else None
    if outer is None or outer.type != "call_expression" or called_name(outer) not in ("pipe", "flow"):
        return ""
    given = arguments_of(outer)
    return ".".join(syntax.path(given[0])) if len(given) > 1 and given[1] == call else ""


def _result(syntax: Syntax, node: Node, places: Places) -> Iterator[Binding]:
    """The result of a declared function, by its first `return` with a known value."""
    naming = next((naming_node for naming_node in _naming(node) if places.declared(naming_node)), None)
    declared = places.declared(naming) if naming is not None else 0
    body = node.child_by_field_name("body")
    if not declared or body is None or node.child_by_field_name("return_type") is not None:
        return
    for value in _returned(body):
        if value.type == "object":
            yield from _object_result(syntax, value, declared, naming)
            return
        known = known_value(syntax, value)
        if known.says_something:
            yield known.binding(declared, RETURNED)
            return


def _naming(node: Node) -> Iterator[Node]:
    """The nodes that may declare a function: itself, what it is the value of, and the statement around that."""
    yield node
    if node.type in FUNCTIONS and node.parent is not None and node.parent.type in _NAMING:
        yield node.parent
        if node.parent.type == "assignment_expression" and node.parent.parent is not None:
            yield node.parent.parent


def _returned(body: Node) -> Iterator[Node]:
    """The values that a function's body returns, nested functions aside."""
    if body.type != "statement_block":
        yield first_child(body) or body if body.type == "parenthesized_expression" else body
        return
    pending = [body]
    while pending:
        node = pending.pop()
        if node.type == "return_statement":
            value = first_child(node)
            if value is not None:
                yield value
        elif node.type in _STATEMENTS:
            pending.extend(reversed(node.named_children))


def _object_result(syntax: Syntax, value: Node, declared: int, naming: Node | None) -> Iterator[Binding]:
    """A function that returns an object written out represents that object: its variables are the object's members."""
    name = text_of(naming, "name")
    if name and naming is not None and naming.type != "method_definition":
        yield Binding(declared, RETURNED, "", False, name)
    for member in value.named_children:
        known = known_value(syntax, member.child_by_field_name("value")) if member.type == "pair" else NOTHING
        key = text_of(member, "key")
        if key and known.says_something and known.path != key:
            yield known.binding(declared, key)
