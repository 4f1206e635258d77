"""Registrations at containers."""

from collections.abc import Iterator
from dataclasses import replace

from tree_sitter import Node

from groundwire_ingest.tree.facts import Registration
from groundwire_ingest.tree.languages.nodes import Nodes, arguments_of, field_of, first_child
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.typescript.conventions import members_of
from groundwire_ingest.tree.languages.typescript.shapes import called_name

_PROVIDED = frozenset({"provide", "token"})
_GIVEN = ("useClass", "useExisting", "useFactory", "useValue", "useToken")
_REGISTERING = frozenset({"register", "registerSingleton", "registerType", "registerInstance", "registerClass"})
_BINDING = frozenset({"to", "toSelf", "toService", "toConstantValue", "toDynamicValue", "toClass", "toFactory"})
_ASKING = frozenset({"inject", "Inject", "resolve", "AuthGuard", "getAllAndOverride", "getAllAndMerge"})
# The value that a decorator stores under a key, and its readers.
_KEEPING, _READER = "SetMetadata", "reflector.get"


def providers(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Registration]:
    """`{ provide: TOKEN, useClass: Users }`, `register("Users", { useClass: Users })`, `bind(TOKEN).to(Users)`."""
    for node in nodes["object"]:
        members = members_of(node)
        provided = next((value for key, value in members.items() if key in _PROVIDED), None)
        if provided is not None:
            yield from _registration(syntax, node, provided, _given(members), places)
    for node in nodes["call_expression"]:
        yield from _called(syntax, node, places)
    for node in nodes["class_heritage"]:
        yield from _strategy(syntax, node, places)


def _called(syntax: Syntax, node: Node, places: Places) -> Iterator[Registration]:
    """The type that a call registers or requests."""
    name, arguments = called_name(node), arguments_of(node)
    if name in _REGISTERING and len(arguments) > 1:
        given = _given(members_of(arguments[1])) if arguments[1].type == "object" else arguments[1]
        yield from _registration(syntax, node, arguments[0], given, places)
    elif name in _BINDING:
        for asked in _asked_before(node)[:1]:
            yield from _registration(syntax, node, asked, arguments[0] if arguments else asked, places)
    elif name == _KEEPING and arguments:
        yield from _registration(syntax, node, arguments[0], None, places)
    elif arguments and (name in _ASKING or _is_reader(syntax, node)):
        yield from (replace(item, asks=True) for item in _registration(syntax, node, arguments[0], None, places))


def _is_reader(syntax: Syntax, call: Node) -> bool:
    function = call.child_by_field_name("function")
    return called_name(call) == "get" and ".".join(syntax.path(function)).endswith(_READER)


def _strategy(syntax: Syntax, heritage: Node, places: Places) -> Iterator[Registration]:
    """`class X extends PassportStrategy(Strategy, "name")`, which guards ask for by that name."""
    clause = first_child(heritage)
    value = field_of(clause, "value")
    if value is None or value.type != "call_expression" or called_name(value) != "PassportStrategy":
        return
    name = next((argument for argument in arguments_of(value) if argument.type in syntax.strings), None)
    if name is not None:
        yield from _registration(syntax, value, name, None, places)


def _asked_before(node: Node) -> list[Node]:
    """The arguments of `bind` in `bind(TOKEN).to(Users)`."""
    function = node.child_by_field_name("function")
    call = field_of(function, "object")
    is_bind = call is not None and call.type == "call_expression" and called_name(call) == "bind"
    return arguments_of(call) if call is not None and is_bind else []


def _registration(syntax: Syntax, node: Node, name: Node, given: Node | None, places: Places) -> Iterator[Registration]:
    """One registration; without `given` it is the definition around it."""
    is_string = name.type in syntax.strings
    asked, path = (string_value(syntax, name), "") if is_string else ("", syntax.value_path(name))
    handed = syntax.value_path(given).removesuffix("()") if given is not None else ""
    if (asked or path) and (given is None or handed):
        key, scope = places.key(node), places.scope(node)
        yield Registration(key, scope, asked, path, handed, node.start_point.row + 1)


def _given(members: dict[str, Node]) -> Node | None:
    """The provided value: a class, a value, or the result of a factory that is written out."""
    value = next((members[key] for key in _GIVEN if key in members), None)
    if value is None or value.type != "arrow_function":
        return value
    body = value.child_by_field_name("body")
    return first_child(body) if body is not None and body.type == "parenthesized_expression" else body
