"""Which URLs servers in TypeScript and JavaScript answer: Express and its like, and controllers with decorators."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.facts import Mount, Route
from groundwire_ingest.tree.languages.nodes import Nodes, arguments_of, field_of, first_child, text_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.typescript.imports import imported_path
from groundwire_ingest.tree.languages.typescript.shapes import FUNCTIONS, HTTP_VERBS, called_name
from groundwire_ingest.tree.languages.urls import url_path

_ROUTER_NAME = re.compile(r"(?:app|router|server|fastify|api|routes?|\w*(?:Router|Routes|App|Server))")
_MAKES_ROUTER = re.compile(
    r"(?:\w+\.)?(?:Router|express|fastify|Fastify|Koa|KoaRouter|Hono|OpenAPIHono|Elysia|polka|restify|createServer)"
)
_MOCKS = "msw"
_MOUNTING = frozenset({"use", "register", "route"})
_CONTROLLERS = frozenset({"Controller", "JsonController", "RestController", "Route"})
_OF_ROUTER = frozenset({"routes()", "middleware()", "allowedMethods()", "router"})
# `:id`, `:id(\d+)`, `:id?`, `[id]`; `*` and other forms for the rest of a path.
_VARYING = re.compile(r":(\w+)(?:\([^()/]*\))?(\*|\+)?\??|\{\*(\w+)\}|\*(\w*)")
_BASE = re.compile(r"^(?:\$\{[^{}]*\}|https?://[^/]*)(?=/)")
_MAX_CHAIN = 10


def script_routes(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Route | Mount]:
    """Routes and mounts of routers that the file makes or is handed, then those of controllers."""
    routers = frozenset(_routers(syntax, nodes))
    for node in nodes["call_expression"]:
        name = called_name(node)
        path = syntax.path(node.child_by_field_name("function")) if name in HTTP_VERBS or name in _MOUNTING else ()
        if len(path) > 1 and name in HTTP_VERBS:
            yield from _route(syntax, node, path, places, routers)
        elif len(path) > 1:
            yield from _mounts(syntax, node, path, places, routers)
    for node in nodes["class_declaration"]:
        yield from _controller(syntax, node, places)


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
            prefix = prefix or _string_under(syntax, argument, ("prefix",))
    for argument in given:
        mounted = imported_path(argument) or _without_tail(syntax.path(argument))
        if mounted and argument.type != "object":
            yield Mount(places.scope(node), mounted, route_pattern(prefix), node.start_point.row + 1, within)


def _without_tail(path: tuple[str, ...]) -> str:
    while len(path) > 1 and path[-1] in _OF_ROUTER:
        path = path[:-1]
    return "" if path and path[-1].endswith("()") else ".".join(path)


def _controller(syntax: Syntax, node: Node, places: Places) -> Iterator[Route]:
    """Methods with `@Get("...")` of a class with `@Controller("...")`."""
    around = node.parent if node.parent is not None and node.parent.type == "export_statement" else node
    decorators = [child for child in (*around.children, *node.children) if child.type == "decorator"]
    prefixes = [prefix for name, prefix in (_decoration(syntax, item) for item in decorators) if name in _CONTROLLERS]
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
        return name, _string_under(syntax, first, ("path", "prefix"))
    return name, string_value(syntax, first) if first.type in syntax.strings else None


def route_pattern(written: str) -> str:
    """A pattern as Express writes it in the form of `facts.Route`, less a base that is put before it at run time."""
    varying = _VARYING.sub(_varying, _BASE.sub("", written))
    return url_path(re.sub("/{2,}", "/", varying))


def _varying(match: re.Match[str]) -> str:
    name, repeated, rest, star = match.groups()
    return f"{{{name}{'*' if repeated else ''}}}" if name else f"{{{rest or star or 'rest'}*}}"


def _string_under(syntax: Syntax, node: Node, keys: tuple[str, ...]) -> str:
    """The string that an object has under one of some keys."""
    for pair in node.named_children:
        value = pair.child_by_field_name("value")
        if value is not None and text_of(pair.child_by_field_name("key")) in keys and value.type in syntax.strings:
            return string_value(syntax, value)
    return ""
