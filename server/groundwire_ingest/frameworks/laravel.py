"""Laravel: the routes of `Route::get('/users', [UserController::class, 'index'])` and the like."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.framework_facts import Route
from groundwire_ingest.tree.languages.nodes import (
    FIRST,
    Nodes,
    arguments_of,
    around_of,
    children_of,
    field_of,
    first_child,
    line_of,
    text_of,
)
from groundwire_ingest.tree.languages.php.php_bindings import php_name
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.urls import url_path

_FACADE = "Route"
_VERBS = frozenset({"get", "post", "put", "patch", "delete", "options", "any"})
_CALLS = frozenset({"scoped_call_expression", "member_call_expression"})
_OF_RESOURCE = (
    ("index", "GET", ""),
    ("create", "GET", "/create"),
    ("store", "POST", ""),
    ("show", "GET", "/{id}"),
    ("edit", "GET", "/{id}/edit"),
    ("update", "PUT", "/{id}"),
    ("destroy", "DELETE", "/{id}"),
)
"""The methods of a controller of a resource, with the method and the rest of the URL of each."""
_FORM_METHODS = frozenset({"create", "edit"})
_OPTIONAL = re.compile(r"/?\{(\w++)\?\}$")
_MAX_CHAIN = 12
_MAX_PREFIX = 1_000
"""A route below longer prefixes than this is not read: each route would repeat them."""


def routes(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Route]:
    """The routes that a file states, with the prefixes of the groups around them."""
    prefixes = _Prefixes(syntax)
    for node in nodes.of(*sorted(_CALLS)):
        name = text_of(node, "name")
        if name not in _VERBS and name not in ("resource", "apiResource"):
            continue
        chain = _chain(node)
        arguments = arguments_of(node)
        if not chain or len(arguments) < 2:
            continue
        written = _string(syntax, arguments[0])
        handled = first_child(arguments[1])
        if written is None or handled is None:
            continue
        calls = [*chain, *_groups(node)]
        prefix = prefixes.of(calls)
        if prefix is None:
            continue
        given = "".join(prefixes.names_of(calls)) + _name_after(syntax, node)
        if name in _VERBS:
            handler = _handler(syntax, handled, calls)
            yield from _route(node, f"{prefix}/{written}", handler, name, given, places)
        else:
            controller = _class(handled)
            plain = f"{given}{written.strip('/').replace('/', '.')}"
            for method, verb, rest in _OF_RESOURCE if controller else ():
                if name == "resource" or method not in _FORM_METHODS:
                    route_name = f"{plain}.{method}"
                    handler = f"{controller}.{method}"
                    yield from _route(node, f"{prefix}/{written}{rest}", handler, verb, route_name, places)


def _name_after(syntax: Syntax, node: Node) -> str:
    """The name that `->name('users.show')` gives to a route after the call that makes it."""
    for _ in range(_MAX_CHAIN):
        around = node.parent
        if around is None or around.type != "member_call_expression" or around.child_by_field_name("object") != node:
            return ""
        arguments = arguments_of(around)
        if text_of(around, "name") == "name" and arguments:
            return _string(syntax, arguments[0]) or ""
        node = around
    return ""


def _route(node: Node, written: str, handler: str, verb: str, name: str, places: Places) -> Iterator[Route]:
    """The route of a pattern; one whose last part may be missing is two."""
    method = "" if verb == "any" else verb.upper()
    plain = _OPTIONAL.sub("", written)
    for pattern in dict.fromkeys((_OPTIONAL.sub(r"/{\1}", written), plain)) if handler else ():
        url = url_path(re.sub("/{2,}", "/", f"/{pattern}"))
        yield Route(places.key(node), places.scope(node), url, handler, line_of(node), "", method, name)


def _chain(node: Node) -> list[Node]:
    """A call on the facade of routes and those that it is chained to; empty for a call on anything else."""
    calls: list[Node] = []
    current: Node | None = node
    while current is not None and current.type in _CALLS and len(calls) < _MAX_CHAIN:
        calls.append(current)
        if current.type == "scoped_call_expression":
            is_facade = php_name(current.child_by_field_name("scope")).rpartition(".")[2] == _FACADE
            return calls if is_facade else []
        current = current.child_by_field_name("object")
    return []


def _groups(node: Node) -> Iterator[Node]:
    """The calls of the groups around a route, and those that they are chained to, from the innermost outwards."""
    for around in around_of(node.parent):
        if around.type in _CALLS and text_of(around, "name") == "group":
            yield from _chain(around)


class _Prefixes:
    """The prefixes that the calls of a file put before URLs, each read once."""

    def __init__(self, syntax: Syntax) -> None:
        self._syntax = syntax
        self._of_call: dict[int, str] = {}

    def of(self, calls: list[Node]) -> str | None:
        """The prefix of a route, given the calls around it from the innermost outwards; None for one too long."""
        for call in calls:
            if call.id not in self._of_call:
                self._of_call[call.id] = _prefix(self._syntax, call)
        prefix = "/".join(reversed([*filter(None, (self._of_call[call.id] for call in calls))]))
        return prefix if len(prefix) <= _MAX_PREFIX else None

    def names_of(self, calls: list[Node]) -> list[str]:
        """The beginnings of the names of routes that calls state, the outermost first: `name('admin.')`."""
        named = [call for call in calls if text_of(call, "name") in ("name", "as") and arguments_of(call)]
        return [_string(self._syntax, arguments_of(call)[0]) or "" for call in reversed(named)]


def _prefix(syntax: Syntax, call: Node) -> str:
    """What `prefix('admin')` or `group(['prefix' => 'admin'], ...)` puts before the URLs."""
    arguments = arguments_of(call)
    if not arguments:
        return ""
    if text_of(call, "name") == "prefix":
        return _string(syntax, arguments[0]) or ""
    settings = first_child(arguments[0])
    if text_of(call, "name") == "group" and settings is not None and settings.type == "array_creation_expression":
        for item in settings.named_children:
            parts = item.named_children
            if len(parts) == 2 and _string_of(syntax, parts[0]) == "prefix":
                return _string_of(syntax, parts[1]) or ""
    return ""


def _handler(syntax: Syntax, handled: Node, calls: list[Node]) -> str:
    """`UserController.show` of an array, of `UserController@show`, or of a class that is its own method."""
    if handled.type == "array_creation_expression":
        items = children_of(handled)
        controller = _class(field_of(items[0], FIRST)) if items else ""
        method = _string_of(syntax, field_of(items[1], FIRST)) if len(items) > 1 else None
        return f"{controller}.{method}" if controller and method else ""
    if handled.type == "class_constant_access_expression":
        return f"{_class(handled)}.__invoke"
    written = _string_of(syntax, handled)
    if written is None:
        return ""
    controller, _, method = written.replace("\\", ".").rpartition("@")
    if controller:
        return f"{controller}.{method}"
    named = next((call for call in calls if text_of(call, "name") == "controller" and arguments_of(call)), None)
    controller = _class(first_child(arguments_of(named)[0])) if named is not None else ""
    return f"{controller}.{written}" if controller and written.isidentifier() else ""


def _class(node: Node | None) -> str:
    """`UserController` of `UserController::class`."""
    is_class = node is not None and node.type == "class_constant_access_expression"
    return php_name(field_of(node, FIRST)) if is_class and text_of(node).endswith("::class") else ""


def _string(syntax: Syntax, argument: Node) -> str | None:
    return _string_of(syntax, first_child(argument))


def _string_of(syntax: Syntax, node: Node | None) -> str | None:
    """The value of a plain string."""
    value = string_value(syntax, node) if node is not None and node.type in syntax.strings else None
    return None if value is None or "$" in value else value


LARAVEL = Framework(languages="php", finders=(routes,))
