"""Flask, FastAPI, Starlette, aiohttp, Pyramid and routers like theirs."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.framework_facts import Mount, MountRole, Route
from groundwire_ingest.tree.languages.nodes import Nodes, arguments_of, first_child, text_of
from groundwire_ingest.tree.languages.python.conventions import (
    keyword,
    mount_at,
    route_at,
    text,
    variable_around,
    view_path,
)
from groundwire_ingest.tree.languages.python.patterns import plain_pattern
from groundwire_ingest.tree.languages.syntax import Places, Syntax

_METHODS = frozenset({"get", "post", "put", "patch", "delete", "head", "options"})
_DECORATORS = _METHODS | {"route", "api_route", "websocket", "websocket_route", "view"}
_REGISTERING = re.compile(
    r"add_(?:url_rule|api_route|route|api_websocket_route|websocket_route|view|resource|get|post|put|patch|delete|head"
    r"|options)|Route|WebSocketRoute|APIRoute"
)
_HANDLER_KEYWORDS = ("view_func", "endpoint", "handler", "view", "route")
_PREFIX_KEYWORDS = ("url_prefix", "prefix")
_MOUNTING = frozenset({"register_blueprint", "include_router", "mount", "add_subapp", "add_router", "Mount"})


def routes(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Route | Mount]:
    """The URLs in decorators and calls, and the prefixes of blueprints and routers."""
    reader = _Routes(syntax, places)
    for node in nodes["decorator"]:
        yield from reader.decorated(node)
    for node in nodes["call"]:
        yield from reader.registered(node)
    for node in nodes["assignment"]:
        yield from reader.made(node)


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
        written = next(_strings(call), None) or keyword(call, "path") or keyword(call, "rule")
        url = text(self._syntax, written)
        if written is not None and (url.startswith("/") or (not url and len(path) > 1)):
            for method in _stated_methods(call) or (_method(name),):
                at = (self._places, written, plain_pattern(url), "", ".".join(path[:-1]), method, node)
                yield route_at(*at, name=self._name(call))

    def registered(self, node: Node) -> Iterator[Route | Mount]:
        """`app.add_url_rule("/x", view_func=f)`, `app.include_router(r, prefix="/x")`."""
        callee = self._syntax.callee(node)
        if callee is None:
            return
        receiver, name = callee
        if name in _MOUNTING:
            yield from self._mounted(node, receiver, name)
        elif _REGISTERING.fullmatch(name) or (receiver == "web" and name in _METHODS | {"view", "route"}):
            handler = self._handler(node)
            of = (receiver if name.startswith("add_") else "") or variable_around(node)
            for written in _strings(node) if handler else ():
                if text(self._syntax, written).startswith("/"):
                    pattern = plain_pattern(text(self._syntax, written))
                    for method in _stated_methods(node) or (_method(name.removeprefix("add_")),):
                        at = (self._places, written, pattern, handler, of.removesuffix(".router"), method)
                        yield route_at(*at, name=self._name(node))

    def made(self, node: Node) -> Iterator[Mount]:
        """`bp = Blueprint("x", __name__, url_prefix="/x")`."""
        call, router = node.child_by_field_name("right"), node.child_by_field_name("left")
        if call is None or call.type != "call":
            return
        prefix = next(filter(None, (keyword(call, name) for name in _PREFIX_KEYWORDS)), None)
        path = ".".join(self._syntax.path(router))
        if prefix is not None and path and text(self._syntax, prefix).startswith("/"):
            yield mount_at(self._places, prefix, path, plain_pattern(text(self._syntax, prefix)), "", "own")

    def _mounted(self, node: Node, receiver: str, name: str) -> Iterator[Mount]:
        positional = [child for child in arguments_of(node) if child.type != "keyword_argument"]
        stated = next(filter(None, (keyword(node, word) for word in _PREFIX_KEYWORDS)), None)
        prefix = stated or next((child for child in positional if child.type == "string"), None)
        routers = [child for child in positional if child.type != "string"]
        router = routers[0] if routers else keyword(node, "app") or keyword(node, "routes")
        path = self._syntax.value_path(router)
        if path:
            within = receiver if name != "Mount" else variable_around(node)
            role: MountRole = "instead" if name == "register_blueprint" and stated is not None else "added"
            yield mount_at(self._places, prefix or node, path, plain_pattern(text(self._syntax, prefix)), within, role)

    def _name(self, call: Node) -> str:
        """`name="x"`, `endpoint="x"`, `add_url_rule("/x", "x")`, `view_func=View.as_view("x")`; empty without one."""
        view = keyword(call, "view_func")
        stated = (keyword(call, "name"), keyword(call, "endpoint"), *_strings(call), *(_strings(view) if view else ()))
        return next((name for node in stated if (name := text(self._syntax, node)) and not name.startswith("/")), "")

    def _handler(self, node: Node) -> str:
        """The argument that a call registers: by keyword, or the first one that is no string."""
        by_keyword = next(filter(None, (keyword(node, name) for name in _HANDLER_KEYWORDS)), None)
        plain = (child for child in arguments_of(node) if child.type not in ("string", "keyword_argument", "none"))
        value = by_keyword if by_keyword is not None and by_keyword.type != "string" else next(plain, None)
        return view_path(self._syntax, value) if value is not None else ""


def _stated_methods(call: Node) -> tuple[str, ...]:
    """`GET` and `POST` of `methods=["GET", "POST"]`."""
    listed = keyword(call, "methods") or keyword(call, "method")
    return tuple(word.upper() for word in re.findall(r"[A-Za-z]+", text_of(listed)) if word.lower() in _METHODS)


def _method(name: str) -> str:
    return name.upper() if name in _METHODS else ""


def _strings(call: Node) -> Iterator[Node]:
    return (child for child in arguments_of(call) if child.type == "string")


FLASK = Framework(languages="python", finders=(routes,))
