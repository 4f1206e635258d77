"""Which URLs ASP.NET Core code answers: minimal APIs and controllers."""

import re
from collections.abc import Iterator, Mapping, Set

from tree_sitter import Node

from groundwire_ingest.tree.framework_facts import Mount, Route
from groundwire_ingest.tree.languages.csharp.csharp_bindings import attributes
from groundwire_ingest.tree.languages.nodes import (
    Nodes,
    children_of,
    field_of,
    first_child,
    last_child,
    text_of,
    type_name,
)
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.urls import url_path

_MAP = re.compile(r"Map(Get|Post|Put|Delete|Patch|Methods|Fallback)?")
_VERB = re.compile(r"Http(Get|Post|Put|Delete|Patch|Head|Options)(?:Attribute)?")
# `{id:int}`, `{id?}`, `{id=1}`, `{*rest}`.
_VARYING = re.compile(r"\{(\*{0,2})(\w++)[^{}]*+\}")
_TOKEN = re.compile(r"\[(\w+)\]")
# The types of what routes are mapped on, and methods of groups that map nothing.
_BUILDERS = frozenset({"IEndpointRouteBuilder", "RouteGroupBuilder", "WebApplication", "RouteBuilder"})
_PASSING = frozenset({"MapGroup", "UseRouting", "UseEndpoints"})
_MAX_CHAIN = 10


def routes(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Route | Mount]:
    """Routes of `MapGet` and its like with the groups that they are in, then those of controllers' attributes.

    Groups, and the builders of routes that methods take, may be handed on to methods that map more.
    """
    routers = {text_of(node, "name") for node in nodes["parameter"] if type_name(node, "type") in _BUILDERS}
    for node in nodes["variable_declarator"]:
        value = last_child(node)
        if value is not None and value.type == "invocation_expression" and _router(syntax, value, itself=True)[1]:
            routers.add(text_of(node, "name"))
    calls = nodes["invocation_expression"]
    has_groups = any(callee[1] == "MapGroup" for callee in map(syntax.callee, calls) if callee is not None)
    for node in calls:
        yield from _mapped(syntax, node, places)
        yield from _handed_on(syntax, node, places, routers, has_groups=has_groups)
    for node in nodes["variable_declaration"]:
        for variable in node.named_children:
            yield from _group(syntax, variable, places)
    for node in nodes["class_declaration"]:
        yield from _controller(syntax, node, places)


def _mapped(syntax: Syntax, node: Node, places: Places) -> Iterator[Route]:
    """`x.MapGet("/orders", Handler)`; a lambda is answered by the node that holds it."""
    callee, arguments = syntax.callee(node), _arguments(node)
    match = _MAP.fullmatch(callee[1]) if callee else None
    if match is None or len(arguments) < 2 or arguments[0].type not in syntax.strings:
        return
    router, prefix = _router(syntax, node)
    method = "" if match[1] in (None, "Methods", "Fallback") else match[1].upper()
    handler = syntax.value_path(arguments[-1])
    pattern = route_pattern(prefix + url_path(string_value(syntax, arguments[0])))
    yield Route(places.key(node), places.scope(node), pattern, handler, node.start_point.row + 1, router, method)


def _handed_on(syntax: Syntax, node: Node, places: Places, routers: Set[str], *, has_groups: bool) -> Iterator[Mount]:
    """`app.MapGroup("/orders").WithTags("x").MapOrders()`, `OrderRoutes.Map(group)`: what the method is handed.

    `has_groups` tells if any call of the file makes a group.
    """
    callee, line = syntax.callee(node), node.start_point.row + 1
    if callee is None or _MAP.fullmatch(callee[1]) is not None or callee[1] in _PASSING:
        return
    if callee[1].startswith(("Map", "Add", "Use", "Register")):
        router, prefix = _router(syntax, node)
        if prefix or router in routers or router == "app":
            pattern = route_pattern(prefix) if prefix else ""
            yield Mount(places.scope(node), f"{callee[1]}(0)", pattern, line, router)
    if not routers and not has_groups:
        return
    path = ".".join(filter(None, callee))
    for place, value in enumerate(_arguments(node)):
        is_chain = value.type == "invocation_expression"
        given, before = _router(syntax, value, itself=True) if is_chain else (text_of(value), "")
        if before or given in routers:
            yield Mount(places.scope(node), f"{path}({place})", route_pattern(before) if before else "", line, given)


def _group(syntax: Syntax, variable: Node, places: Places) -> Iterator[Mount]:
    """`var api = app.MapGroup("/api")`."""
    value = last_child(variable) if variable.type == "variable_declarator" else None
    if value is None or value.type != "invocation_expression":
        return
    router, prefix = _router(syntax, value, itself=True)
    if prefix:
        name = text_of(variable.child_by_field_name("name"))
        yield Mount(
            places.scope(variable), name, route_pattern(prefix), variable.start_point.row + 1, router, "instead"
        )


def _router(syntax: Syntax, node: Node, itself: bool = False) -> tuple[str, str]:
    """The variable that a chain of calls starts with, and the prefixes of the groups in it."""
    prefixes: list[str] = []
    current: Node | None = node if itself else _before(node)
    for _ in range(_MAX_CHAIN):
        if current is None or current.type != "invocation_expression":
            break
        callee, arguments = syntax.callee(current), _arguments(current)
        if callee is not None and callee[1] == "MapGroup" and arguments and arguments[0].type in syntax.strings:
            prefixes.append(url_path(string_value(syntax, arguments[0])))
        current = _before(current)
    name = text_of(current) if current is not None and current.type == "identifier" else ""
    return name, "".join(reversed(prefixes))


def _before(call: Node) -> Node | None:
    function = call.child_by_field_name("function")
    return field_of(function, "expression")


def _controller(syntax: Syntax, node: Node, places: Places) -> Iterator[Route]:
    """Actions with `[HttpGet("...")]` or `[Route("...")]`; of a class named `...Controller` without either, by name."""
    class_name, body = text_of(node.child_by_field_name("name")), node.child_by_field_name("body")
    outer = [template for _, template in _attributes(syntax, node) if template is not None]
    is_controller = class_name.endswith("Controller")
    for method in children_of(body):
        if method.type != "method_declaration":
            continue
        name, line = text_of(method.child_by_field_name("name")), method.start_point.row + 1
        names = {"controller": class_name.removesuffix("Controller"), "action": name}
        routes_of_method = list(_attributes(syntax, method))
        if not routes_of_method and is_controller and not outer and _is_public(method):
            routes_of_method = [("", f"/{names['controller']}/{name}")]
        for verb, template in routes_of_method:
            if template is None and not outer:
                template = f"/{names['controller']}/{name}" if is_controller else None
            for template_of_all in _templates(outer, template):
                pattern = route_pattern(_filled(template_of_all, names))
                yield Route(places.key(method), places.scope(method), pattern, "", line, "", verb)


def _templates(outer: list[str], template: str | None) -> list[str]:
    """The templates of an action, each under those of its class unless it starts with `/` or `~/`."""
    if template is not None and template.startswith(("/", "~/")):
        return [template.removeprefix("~")]
    return [f"{prefix}/{template or ''}" for prefix in outer] or ([template] if template is not None else [])


def _filled(template: str, names: Mapping[str, str]) -> str:
    """A template with `[controller]` and `[action]` replaced."""
    return _TOKEN.sub(lambda match: names.get(match[1], match[0]), template)


def _attributes(syntax: Syntax, node: Node) -> Iterator[tuple[str, str | None]]:
    """The method and the template, None without one, of each attribute that is about routes."""
    for attribute in attributes(node):
        name = type_name(attribute.child_by_field_name("name")).rpartition(".")[2]
        verb = _VERB.fullmatch(name)
        if verb is None and name not in ("Route", "RouteAttribute"):
            continue
        arguments = last_child(attribute)
        value = first_child(first_child(arguments)) if arguments is not None and arguments.named_child_count else None
        template = string_value(syntax, value) if value is not None and value.type in syntax.strings else None
        yield (verb[1].upper() if verb else ""), template


def _arguments(call: Node) -> list[Node]:
    listed = call.child_by_field_name("arguments")
    values = (last_child(argument) for argument in listed.named_children) if listed is not None else ()
    return [value for value in values if value is not None]


def _is_public(method: Node) -> bool:
    return any(child.type == "modifier" and child.text == b"public" for child in method.children)


def route_pattern(template: str) -> str:
    """A template as `facts.Route` has it: `{id}` for `{id:int?}`, `{rest*}` for `{**rest}`."""
    varying = _VARYING.sub(lambda match: f"{{{match[2]}{'*' if match[1] else ''}}}", template)
    return url_path(re.sub("/{2,}", "/", varying))
