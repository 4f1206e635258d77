"""Routes of Python's web frameworks: Flask, FastAPI, Starlette, aiohttp, Django with its REST framework, Tornado."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.facts import Import, Mount, MountRole, Route
from groundwire_ingest.tree.languages.nodes import Nodes, arguments_of, first_child, text_of
from groundwire_ingest.tree.languages.python.patterns import plain_pattern, regular_pattern
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.urls import url_path

ROUTING = frozenset({"decorator", "call", "assignment", "tuple"})
URLPATTERNS = "urlpatterns"

_METHODS = frozenset({"get", "post", "put", "patch", "delete", "head", "options"})
_DECORATORS = _METHODS | {"route", "api_route", "websocket", "websocket_route", "view"}
_REGISTERING = re.compile(
    r"add_(?:url_rule|api_route|route|api_websocket_route|websocket_route|view|resource|get|post|put|patch|delete|head"
    r"|options)|Route|WebSocketRoute|APIRoute"
)
_DJANGO = frozenset({"path", "re_path", "url"})
_HANDLER_KEYWORDS = ("view_func", "endpoint", "handler", "view", "route")
_PREFIX_KEYWORDS = ("url_prefix", "prefix")
_MOUNTING = frozenset({"register_blueprint", "include_router", "mount", "add_subapp", "add_router", "Mount"})
# The routes of a view set of Django's REST framework, by method: of the collection, and of one of its items.
_OF_COLLECTION = {"GET": "list", "POST": "create"}
_OF_ITEM = {"GET": "retrieve", "PUT": "update", "PATCH": "partial_update", "DELETE": "destroy"}
_MAX_STEPS_TO_VARIABLE = 8


def python_routes(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Route | Mount]:
    """The URLs in decorators, calls and lists of patterns, and the prefixes of blueprints and routers."""
    reader = _Routes(syntax, places)
    for node in nodes["decorator"]:
        yield from reader.decorated(node)
    for node in nodes["call"]:
        yield from reader.registered(node)
    for node in nodes["assignment"]:
        yield from reader.made(node)
    for node in nodes["tuple"]:
        yield from reader.listed(node)


def imports_of_routes(syntax: Syntax, nodes: Nodes) -> Iterator[Import]:
    """The modules whose patterns a module of patterns includes by their name, under a name that no variable has."""
    for node in nodes["call"]:
        module = _included_module(syntax, node)
        if module:
            yield Import(module, "", module.replace(".", "/"), node.start_point.row + 1)


class _Routes:
    """Reads the routes of one file."""

    def __init__(self, syntax: Syntax, places: Places) -> None:
        self._syntax = syntax
        self._places = places

    def decorated(self, node: Node) -> Iterator[Route]:
        """`@app.route("/x", methods=["POST"])`, `@router.get("/x")`, `@get("/x")`."""
        call = first_child(node)
        path = self._syntax.path(call) if call is not None and call.type == "call" else ()
        name = path[-1].removesuffix("()") if path else ""
        if call is None or name not in _DECORATORS:
            return
        written = next(iter(self._strings(call)), None) or _keyword(call, "path") or _keyword(call, "rule")
        text = self._text(written)
        if written is not None and (text.startswith("/") or (not text and len(path) > 1)):
            for method in _stated_methods(call) or (_method(name),):
                yield self._route(written, plain_pattern(text), "", ".".join(path[:-1]), method, node)

    def registered(self, node: Node) -> Iterator[Route | Mount]:
        """`app.add_url_rule("/x", view_func=f)`, `path("x/", view)`, `app.include_router(r, prefix="/x")`."""
        callee = self._syntax.callee(node)
        if callee is None:
            return
        receiver, name = callee
        if name in _MOUNTING:
            yield from self._mounted(node, receiver, name)
        elif name in _DJANGO and not receiver:
            yield from self._django(node, name)
        elif name == "register" and receiver:
            yield from self._view_set(node, receiver)
        elif _REGISTERING.fullmatch(name) or (receiver == "web" and name in _METHODS | {"view", "route"}):
            handler = self._handler(node)
            of = (receiver if name.startswith("add_") else "") or _variable_around(node)
            for written in self._strings(node) if handler else ():
                if self._text(written).startswith("/"):
                    pattern = plain_pattern(self._text(written))
                    for method in _stated_methods(node) or (_method(name.removeprefix("add_")),):
                        yield self._route(written, pattern, handler, of.removesuffix(".router"), method)

    def made(self, node: Node) -> Iterator[Mount]:
        """`bp = Blueprint("x", __name__, url_prefix="/x")`."""
        call, router = node.child_by_field_name("right"), node.child_by_field_name("left")
        if call is None or call.type != "call":
            return
        prefix = next(filter(None, (_keyword(call, name) for name in _PREFIX_KEYWORDS)), None)
        path = ".".join(self._syntax.path(router))
        if prefix is not None and path and self._text(prefix).startswith("/"):
            yield self._mount(prefix, path, plain_pattern(self._text(prefix)), "", "own")

    def listed(self, node: Node) -> Iterator[Route]:
        """`(r"/x", Handler)` in a list, as Tornado has it."""
        parts = [child for child in node.named_children if not child.is_extra]
        if len(parts) < 2 or node.parent is None or node.parent.type != "list":
            return
        text, handler = self._text(parts[0]), self._syntax.value_path(parts[1])
        if text.startswith("/") and handler.endswith("Handler"):
            yield self._route(parts[0], regular_pattern(text), handler, "", "")

    def _mounted(self, node: Node, receiver: str, name: str) -> Iterator[Mount]:
        positional = [child for child in arguments_of(node) if child.type != "keyword_argument"]
        stated = next(filter(None, (_keyword(node, keyword) for keyword in _PREFIX_KEYWORDS)), None)
        prefix = stated or next((child for child in positional if child.type == "string"), None)
        routers = [child for child in positional if child.type != "string"]
        router = routers[0] if routers else _keyword(node, "app") or _keyword(node, "routes")
        path = self._syntax.value_path(router)
        if path:
            within = receiver if name != "Mount" else _variable_around(node)
            role: MountRole = "instead" if name == "register_blueprint" and stated is not None else "added"
            yield self._mount(prefix or node, path, plain_pattern(self._text(prefix)), within, role)

    def _django(self, node: Node, name: str) -> Iterator[Route | Mount]:
        arguments = arguments_of(node)
        if len(arguments) < 2 or arguments[0].type != "string":
            return
        text, variable = self._text(arguments[0]), _variable_around(node)
        pattern = plain_pattern(text) if name == "path" else regular_pattern(text)
        included = arguments[1] if arguments[1].type == "call" else None
        if included is not None and self._syntax.path(included) == ("include()",):
            for router in self._included(included):
                yield self._mount(arguments[0], router, pattern, variable, "added")
        else:
            handler = self._view(arguments[1])
            if handler:
                yield self._route(arguments[0], pattern, handler, variable, "")

    def _included(self, call: Node) -> Iterator[str]:
        """The paths of the list of patterns that `include` names: by a module's name, as a list, or of a router."""
        module = _included_module(self._syntax, call)
        if module:
            yield f"{module.replace('.', '/')}.{URLPATTERNS}"
            return
        first = next(iter(arguments_of(call)), None)
        path = self._syntax.value_path(first_child(first) if first is not None and first.type == "tuple" else first)
        if path:
            yield path.removesuffix(".urls")
            yield f"{path}.{URLPATTERNS}"

    def _view_set(self, node: Node, router: str) -> Iterator[Route]:
        """`router.register("users", UserViewSet)`."""
        arguments = [child for child in arguments_of(node) if child.type != "keyword_argument"]
        handler = self._syntax.value_path(arguments[1]) if len(arguments) > 1 else ""
        if not handler or arguments[0].type != "string" or not handler.rpartition(".")[2][:1].isupper():
            return
        collection = regular_pattern(self._text(arguments[0]))
        item = f"{collection.rstrip('/')}/{{pk}}"
        for pattern, methods in ((collection, _OF_COLLECTION), (item, _OF_ITEM)):
            yield self._route(arguments[0], pattern, handler, router, "")
            for method, member in methods.items():
                yield self._route(arguments[0], pattern, f"{handler}.{member}", router, method)

    def _handler(self, node: Node) -> str:
        """The argument that a call registers: by keyword, or the first one that is no string."""
        by_keyword = next(filter(None, (_keyword(node, name) for name in _HANDLER_KEYWORDS)), None)
        plain = (child for child in arguments_of(node) if child.type not in ("string", "keyword_argument", "none"))
        value = by_keyword if by_keyword is not None and by_keyword.type != "string" else next(plain, None)
        return self._view(value) if value is not None else ""

    def _view(self, node: Node) -> str:
        """The path of a view, what wraps it or makes it of a class left out."""
        path = self._syntax.value_path(node)
        for _ in range(_MAX_STEPS_TO_VARIABLE):
            if node.type != "call" or path.endswith(".as_view()"):
                break
            wrapped = next((child for child in reversed(arguments_of(node)) if self._syntax.value_path(child)), None)
            if wrapped is None:
                break
            node, path = wrapped, self._syntax.value_path(wrapped)
        return path.removesuffix(".as_view()").removesuffix("()")

    def _route(
        self, written: Node, pattern: str, handler: str, prefix_of: str, method: str, place: Node | None = None
    ) -> Route:
        at = place or written
        line = written.start_point.row + 1
        return Route(self._places.key(at), self._places.scope(at), url_path(pattern), handler, line, prefix_of, method)

    def _mount(self, written: Node, router: str, prefix: str, within: str, role: MountRole) -> Mount:
        scope, line = self._places.scope(written), written.start_point.row + 1
        return Mount(scope, router, url_path(prefix).rstrip("/"), line, within, role)

    def _strings(self, call: Node) -> Iterator[Node]:
        return (child for child in arguments_of(call) if child.type == "string")

    def _text(self, node: Node | None) -> str:
        return string_value(self._syntax, node) if node is not None and node.type == "string" else ""


def _keyword(call: Node, name: str) -> Node | None:
    """The value of an argument that is given by its name."""
    for child in arguments_of(call):
        if child.type == "keyword_argument" and text_of(child.child_by_field_name("name")) == name:
            return child.child_by_field_name("value")
    return None


def _stated_methods(call: Node) -> tuple[str, ...]:
    """`GET` and `POST` of `methods=["GET", "POST"]`."""
    listed = _keyword(call, "methods") or _keyword(call, "method")
    return tuple(word.upper() for word in re.findall(r"[A-Za-z]+", text_of(listed)) if word.lower() in _METHODS)


def _method(name: str) -> str:
    return name.upper() if name in _METHODS else ""


def _included_module(syntax: Syntax, call: Node) -> str:
    """`shop.urls` of `include("shop.urls")`, alone or with the name of an application."""
    if syntax.path(call) != ("include()",):
        return ""
    first = next(iter(arguments_of(call)), None)
    first = first_child(first) if first is not None and first.type == "tuple" else first
    module = string_value(syntax, first) if first is not None and first.type == "string" else ""
    return module if all(part.isidentifier() for part in module.split(".")) else ""


def _variable_around(node: Node) -> str:
    """The variable that is set to the list with a call in it; empty when there is none."""
    current = node.parent
    for _ in range(_MAX_STEPS_TO_VARIABLE):
        if current is None or current.type in ("function_definition", "class_definition", "module"):
            return ""
        if current.type in ("assignment", "augmented_assignment"):
            left = current.child_by_field_name("left")
            return text_of(left) if left is not None and left.type == "identifier" else ""
        current = current.parent
    return ""
