"""Express, Fastify, Koa, Hono, Elysia, restify and routers like theirs."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.framework_facts import Mount, Route
from groundwire_ingest.tree.languages.nodes import Nodes, arguments_of, field_of, text_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.typescript.conventions import route_pattern, string_under
from groundwire_ingest.tree.languages.typescript.imports import imported_path
from groundwire_ingest.tree.languages.typescript.shapes import FUNCTIONS, HTTP_VERBS, called_name

_ROUTER_NAME = re.compile(r"(?:app|router|server|fastify|api|routes?|\w*(?:Router|Routes|App|Server))")
_MAKES_ROUTER = re.compile(
    r"(?:\w+\.)?(?:Router|express|fastify|Fastify|Koa|KoaRouter|Hono|OpenAPIHono|Elysia|polka|restify|createServer)"
)
_MOCKS = "msw"
_MOUNTING = frozenset({"use", "register", "route"})
_OF_ROUTER = frozenset({"routes()", "middleware()", "allowedMethods()", "router"})
_MAX_CHAIN = 10


def routes(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Route | Mount]:
    """Routes and mounts of routers that the file makes or is handed."""
    routers = frozenset(_routers(syntax, nodes))
    for node in nodes["call_expression"]:
        name = called_name(node)
        path = syntax.path(node.child_by_field_name("function")) if name in HTTP_VERBS or name in _MOUNTING else ()
        if len(path) > 1 and name in HTTP_VERBS:
            yield from _route(syntax, node, path, places, routers)
        elif len(path) > 1:
            yield from _mounts(syntax, node, path, places, routers)


def _routers(syntax: Syntax, nodes: Nodes) -> Iterator[str]:
    """The variables that hold a router, and what mocks of servers are made with."""
    for node in nodes["variable_declarator"]:
        value = node.child_by_field_name("value")
        if value is not None and _MAKES_ROUTER.fullmatch(_made(syntax, value)):
            yield text_of(node.child_by_field_name("name"))
    for item in syntax.imports(nodes):
        if item.module == _MOCKS and item.alias:
            yield item.alias


def _made(syntax: Syntax, value: Node) -> str:
    """The name of what a value is made by: a function that is called, or a class."""
    if value.type == "new_expression":
        return text_of(value.child_by_field_name("constructor"))
    return ".".join(syntax.path(value)[:2]).replace("()", "")


def _route(
    syntax: Syntax, node: Node, path: tuple[str, ...], places: Places, routers: frozenset[str]
) -> Iterator[Route]:
    """`router.get("/users", guard, handler)`, `router.route("/users").get(handler)`."""
    arguments = arguments_of(node)
    pattern = string_value(syntax, arguments[0]) if arguments and arguments[0].type in syntax.strings else ""
    router = _router_of(path, routers)
    if path[-2] == "route()" and not pattern:
        pattern = _pattern_of_chain(syntax, node)
    elif len(arguments) < 2:
        return
    if not pattern or router is None:
        return
    verb = path[-1].upper()
    method = "" if verb == "ALL" else "DELETE" if verb == "DEL" else verb
    scope, handler = _handler(syntax, arguments[-1], places) if arguments else (0, "")
    line = node.start_point.row + 1
    if scope or handler:
        yield Route(
            places.key(node), scope or places.scope(node), route_pattern(pattern), handler, line, router, method
        )


def _router_of(path: tuple[str, ...], routers: frozenset[str]) -> str | None:
    """The path of the router that a chain of calls starts with; empty for one without a name, None where it is none."""
    first = next((number for number, segment in enumerate(path) if segment.endswith("()")), len(path) - 1)
    names = path[:first] if not path[0].endswith("()") else ()
    if not names:
        return "" if _MAKES_ROUTER.fullmatch(path[0].removesuffix("()")) else None
    return ".".join(names) if names[-1] in routers or _ROUTER_NAME.fullmatch(names[-1]) else None


def _pattern_of_chain(syntax: Syntax, node: Node) -> str:
    """The string that the call of `route` further down a chain is given."""
    current: Node | None = node
    for _ in range(_MAX_CHAIN):
        function = field_of(current, "function")
        current = field_of(function, "object")
        arguments = arguments_of(current) if current is not None and current.type == "call_expression" else []
        if arguments and arguments[0].type in syntax.strings:
            return string_value(syntax, arguments[0])
    return ""


def _handler(syntax: Syntax, node: Node, places: Places) -> tuple[int, str]:
    """The definition around a function written out, or of the path of one, also inside of a wrapping call."""
    for _ in range(_MAX_CHAIN):
        if node.type in FUNCTIONS:
            body = node.child_by_field_name("body")
            return places.scope(body or node), ""
        inner = arguments_of(node) if node.type == "call_expression" else list(node.named_children)
        path = syntax.path(node)
        if path and path[-1] == "bind()":
            return 0, ".".join(path[:-1])
        if node.type not in ("call_expression", "array") or not inner:
            return 0, ".".join(path)
        node = inner[-1]
    return 0, ""


def _mounts(
    syntax: Syntax, node: Node, path: tuple[str, ...], places: Places, routers: frozenset[str]
) -> Iterator[Mount]:
    """`app.use("/users", users)`, `app.use(router.routes())`, `fastify.register(users, { prefix: "/users" })`."""
    arguments, within = arguments_of(node), _router_of(path, routers)
    if within is None or not arguments:
        return
    prefix = string_value(syntax, arguments[0]) if arguments[0].type in syntax.strings else ""
    given = arguments[1:] if arguments[0].type in syntax.strings else arguments
    for argument in given:
        if argument.type == "object":
            prefix = prefix or string_under(syntax, argument, ("prefix",))
    for argument in given:
        mounted = imported_path(argument) or _without_tail(syntax.path(argument))
        if mounted and argument.type != "object":
            yield Mount(places.scope(node), mounted, route_pattern(prefix), node.start_point.row + 1, within)


def _without_tail(path: tuple[str, ...]) -> str:
    while len(path) > 1 and path[-1] in _OF_ROUTER:
        path = path[:-1]
    return "" if path and path[-1].endswith("()") else ".".join(path)


EXPRESS = Framework(languages="typescript javascript", finders=(routes,))
