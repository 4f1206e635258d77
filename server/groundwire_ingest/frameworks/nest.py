"""Nest and Angular, and containers like Inversify: the URLs that controllers answer, and what is registered."""

from collections.abc import Iterator
from dataclasses import replace

from tree_sitter import Node

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.framework_facts import Registration, Route
from groundwire_ingest.tree.languages.nodes import Nodes, arguments_of, field_of, first_child, text_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.typescript.conventions import (
    decorators_of,
    members_of,
    route_pattern,
    string_under,
)
from groundwire_ingest.tree.languages.typescript.shapes import HTTP_VERBS, called_name

_CONTROLLERS = frozenset({"Controller", "JsonController", "RestController", "Route"})


def routes(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Route]:
    """Methods with `@Get("...")` of a class with `@Controller("...")`."""
    for node in nodes["class_declaration"]:
        yield from _controller(syntax, node, places)


def _controller(syntax: Syntax, node: Node, places: Places) -> Iterator[Route]:
    decorations = (_decoration(syntax, item) for item in decorators_of(node))
    prefixes = [prefix for name, prefix in decorations if name in _CONTROLLERS]
    body = node.child_by_field_name("body")
    if not prefixes or prefixes[0] is None or body is None:
        return
    held: list[Node] = []
    for member in body.named_children:
        if member.type == "decorator":
            held.append(member)
        elif member.type == "method_definition":
            for name, written in (_decoration(syntax, item) for item in held):
                verb = name.lower()
                if verb in HTTP_VERBS and written is not None:
                    pattern = route_pattern(f"{prefixes[0]}/{written}")
                    method, line = "" if verb == "all" else verb.upper(), member.start_point.row + 1
                    yield Route(places.key(member), places.declared(member), pattern, "", line, "", method)
            held = []
        elif not member.is_extra:
            held = []


def _decoration(syntax: Syntax, decorator: Node) -> tuple[str, str | None]:
    """The name of a decorator and the path that it states: empty for none, None for one that is not written out."""
    value = first_child(decorator)
    if value is None or value.type != "call_expression":
        return text_of(value), ""
    name, arguments = text_of(value.child_by_field_name("function")), arguments_of(value)
    first = arguments[0] if arguments else None
    if first is not None and first.type == "array":
        first = first_child(first)
    if first is None:
        return name, ""
    if first.type == "object":
        return name, string_under(syntax, first, ("path", "prefix"))
    return name, string_value(syntax, first) if first.type in syntax.strings else None


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
        for token in _asked_before(node)[:1]:
            yield from _registration(syntax, node, token, arguments[0] if arguments else token, places)
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
    token_name, path = (string_value(syntax, name), "") if is_string else ("", syntax.value_path(name))
    handed = syntax.value_path(given).removesuffix("()") if given is not None else ""
    if (token_name or path) and (given is None or handed):
        key, scope = places.key(node), places.scope(node)
        yield Registration(key, scope, token_name, path, handed, node.start_point.row + 1)


def _given(members: dict[str, Node]) -> Node | None:
    """The provided value: a class, a value, or the result of a factory that is written out."""
    value = next((members[key] for key in _GIVEN if key in members), None)
    if value is None or value.type != "arrow_function":
        return value
    body = value.child_by_field_name("body")
    return first_child(body) if body is not None and body.type == "parenthesized_expression" else body


NEST = Framework(languages="typescript javascript", finders=(routes, providers))
