"""Routes of net/http, chi, gin, echo, fiber, gorilla/mux and Go routers like them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.framework_facts import Mount, Route
from groundwire_ingest.tree.languages.go.types import go_type
from groundwire_ingest.tree.languages.nodes import (
    Nodes,
    arguments_of,
    around_of,
    children_of,
    field_of,
    line_of,
    text_of,
)
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.urls import url_path

_VERBS = frozenset("get post put patch delete head options connect trace".split())
_ANY = frozenset("handle handlefunc handler handlerfunc any all method methodfunc".split())
_GROUPS = frozenset({"Group", "Route", "PathPrefix"})
_MOUNTS = frozenset({"Mount"})
_PASSING = frozenset({"With", "Use", "Subrouter", "Methods", "Name", "Host", "Schemes", "Headers", "Queries"})
_ROUTERS = frozenset(
    """Router RouterGroup IRouter IRoutes Engine Echo Group App Mux ServeMux RouteGroup GroupRouter""".split()
)
_PATTERN = re.compile(r"(?:([A-Z]{3,10})[ \t]+)?(?:[\w.-]+)?(/\S*)?")
_VARYING = re.compile(r"\{(\w+)(\.\.\.)?(?::[^{}]*)?\}|:(\w+)\??(?:\([^()]*\))?|\*(\w*)")
_MAX_CHAIN = 10
_MAX_NESTING = 12
_MAX_WRAPPERS = 4


def routes(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Route | Mount]:
    """Routes of calls such as `r.Get("/x", h)`, and the prefixes of groups, subrouters and what they are handed to."""
    imports = [text_of(node.child_by_field_name("path")) for node in nodes["import_spec"]]
    handler_first = any("labstack/echo" in path for path in imports)
    routers = {text_of(name) for node in nodes["parameter_declaration"] for name in _router_names(node)}
    for node in nodes["short_var_declaration"]:
        for mount in _group(syntax, node, places):
            routers.add(mount.router)
            yield mount
    helpers = dict(_helpers(syntax, nodes))
    for node in nodes["call_expression"]:
        name = _name(node)
        helper = helpers.get(text_of(node, "function"))
        if helper is not None:
            yield from _by_helper(syntax, node, helper, places)
        if name.lower() in _VERBS | _ANY:
            yield from _routed(syntax, node, places, handler_first)
        elif name in _MOUNTS:
            yield from _mounted(syntax, node, places)
        else:
            yield from _handed_over(syntax, node, places, routers)


def _router_names(parameter: Node) -> list[Node]:
    stated = go_type(parameter.child_by_field_name("type")).rpartition(".")[2]
    return parameter.children_by_field_name("name") if stated in _ROUTERS else []


def _routed(syntax: Syntax, node: Node, places: Places, handler_first: bool) -> Iterator[Route]:
    """The routes of one call: a pattern, and a function, member or call among the other arguments."""
    arguments, name = arguments_of(node), _name(node)
    strings = [text for text in (_text(syntax, value) for value in arguments[:2]) if text is not None]
    handlers = arguments[len(strings) :]
    router = _before(node)
    if router is None or not strings or not handlers:
        return
    written = strings[-1]
    match = _PATTERN.fullmatch(f"/{written}" if name.isupper() and written[:1] != "/" else written)
    if match is None or not (match[2] or not written):
        return
    stated = strings[0].upper() if len(strings) == 2 else match[1] or ""
    methods = [name.upper()] if name.lower() in _VERBS else _methods_of(syntax, node) or [stated]
    holder, prefix = _router(syntax, router)
    pattern = route_pattern(prefix + (match[2] or ""), is_subtree=name in ("Handle", "HandleFunc"))
    for handler in _handlers(syntax, handlers[0] if handler_first else handlers[-1]):
        for method in methods:
            line = node.start_point.row + 1
            yield Route(places.key(node), places.scope(node), pattern, handler, line, holder, method)


class _Helper(NamedTuple):
    """A function that adds a route to a router: the places of what it takes, and what it puts before the pattern."""

    router: int
    pattern: int
    handler: int
    prefix: str
    method: str


def _helpers(syntax: Syntax, nodes: Nodes) -> Iterator[tuple[str, _Helper]]:
    """The functions of the file like `func h(r chi.Router, path string, f handler) { r.HandleFunc("/"+path, f) }`."""
    for node in nodes["call_expression"]:
        name, router, arguments = _name(node).lower(), _before(node), arguments_of(node)
        if name not in _VERBS | _ANY or router is None or len(arguments) < 2:
            continue
        before, last = arguments[0].child_by_field_name("left"), arguments[0].child_by_field_name("right")
        around = next((item for item in around_of(node) if item.type == "function_declaration"), None)
        written = [parameter.name for parameter in syntax.parameters(around) or ()] if around is not None else []
        pattern, holder = text_of(last if last is not None else arguments[0]), text_of(router)
        if around is None or len(written) < 3 or pattern not in written[:-1] or holder not in written:
            continue
        prefix = string_value(syntax, before) if before is not None and before.type in syntax.strings else ""
        method = name.upper() if name in _VERBS else ""
        places = (written.index(holder), written.index(pattern), len(written) - 1)
        yield text_of(around, "name"), _Helper(*places, prefix, method)


def _by_helper(syntax: Syntax, node: Node, helper: _Helper, places: Places) -> Iterator[Route]:
    """The route of `h(r, "star", api.Star)`, whose name is the string that it is registered with."""
    arguments = arguments_of(node)
    if max(helper[:3]) >= len(arguments) or arguments[helper.pattern].type not in syntax.strings:
        return
    name = string_value(syntax, arguments[helper.pattern])
    holder, outer = _router(syntax, arguments[helper.router])
    pattern = route_pattern(outer + url_path(helper.prefix + name))
    for handler in _handlers(syntax, arguments[helper.handler]):
        line = line_of(node)
        yield Route(places.key(node), places.scope(node), pattern, handler, line, holder, helper.method, name)


def _methods_of(syntax: Syntax, node: Node) -> list[str]:
    """The methods that gorilla/mux gets after a route: `.Methods("GET", http.MethodPut)`."""
    selector = node.parent
    call = selector.parent if selector is not None and selector.type == "selector_expression" else None
    if call is None or call.type != "call_expression" or _name(call) != "Methods":
        return []
    written = (string_value(syntax, value) or text_of(value).rpartition("Method")[2] for value in arguments_of(call))
    return [method.upper() for method in written if method]


def _handlers(syntax: Syntax, value: Node, depth: int = _MAX_WRAPPERS) -> Iterator[str]:
    """The paths that may lead to the handler, the likeliest first; an empty one for a function written there."""
    if value.type == "func_literal":
        yield ""
    elif value.type == "call_expression":
        for argument in arguments_of(value) if depth else ():
            if argument.type in ("identifier", "selector_expression", "func_literal", "call_expression"):
                yield from _handlers(syntax, argument, depth - 1)
        function = ".".join(syntax.path(value.child_by_field_name("function")))
        if function:
            yield function
    else:
        path = syntax.value_path(value)
        if path and not path.endswith("()"):
            yield path
        if path:
            yield f"{path}.ServeHTTP"


def _router(syntax: Syntax, node: Node) -> tuple[str, str]:
    """The path of the object that a chain of calls starts with, and the prefixes of all groups that it is in."""
    prefixes: list[str] = []
    path, outer = "", node
    for _ in range(_MAX_NESTING):
        current = _chain_start(syntax, outer, prefixes)
        path = ".".join(syntax.path(current))
        around = _around(current, path) if path else None
        before = _before(around) if around is not None else None
        if around is None or before is None:
            break
        prefixes.append(_first_string(syntax, around))
        outer = before
    return path, "".join(url_path(prefix) if prefix.strip("/") else "" for prefix in reversed(prefixes))


def _chain_start(syntax: Syntax, node: Node, prefixes: list[str]) -> Node:
    """The start of a chain of calls that make groups; adds their prefixes, the last one first."""
    for _ in range(_MAX_CHAIN):
        before = _before(node) if node.type == "call_expression" else None
        if before is None or _name(node) not in _GROUPS | _PASSING:
            break
        if _name(node) in _GROUPS:
            prefixes.append(_first_string(syntax, node))
        node = before
    return node


def _around(node: Node, name: str) -> Node | None:
    """The call `x.Route("/prefix", func(r Router) {...})` in whose function a name is the router that it gets."""
    current = node.parent
    for _ in range(_MAX_NESTING * _MAX_CHAIN):
        if current is None or current.type in ("function_declaration", "method_declaration"):
            return None
        if current.type == "func_literal" and _takes(current, name):
            call = current.parent.parent if current.parent is not None else None
            return call if call is not None and _name(call) in _GROUPS else None
        current = current.parent
    return None


def _takes(function: Node, name: str) -> bool:
    parameters = children_of(function.child_by_field_name("parameters"))
    return any(text_of(known) == name for item in parameters for known in item.children_by_field_name("name"))


def _group(syntax: Syntax, node: Node, places: Places) -> Iterator[Mount]:
    """`api := r.Group("/api")`, `sub := r.PathPrefix("/x").Subrouter()`."""
    names, values = node.child_by_field_name("left"), node.child_by_field_name("right")
    value = values.named_children[0] if values is not None and values.named_child_count == 1 else None
    if names is None or value is None or value.type != "call_expression":
        return
    holder, prefix = _router(syntax, value)
    if prefix and holder and names.named_child_count:
        name = text_of(names.named_children[0])
        yield Mount(places.scope(node), name, route_pattern(prefix), node.start_point.row + 1, holder, "instead")


def _mounted(syntax: Syntax, node: Node, places: Places) -> Iterator[Mount]:
    """`r.Mount("/admin", adminRouter())`."""
    arguments, router = arguments_of(node), _before(node)
    mounted = syntax.value_path(arguments[1]) if len(arguments) == 2 else ""
    if router is not None and mounted and arguments[0].type in syntax.strings:
        holder, prefix = _router(syntax, router)
        pattern = route_pattern(prefix + url_path(string_value(syntax, arguments[0])))
        yield Mount(places.scope(node), mounted, pattern, node.start_point.row + 1, holder)


def _handed_over(syntax: Syntax, node: Node, places: Places, routers: set[str]) -> Iterator[Mount]:
    """A router, or a group of one, that is handed to a function that adds routes to it."""
    for number, value in enumerate(arguments_of(node)):
        is_group = value.type == "call_expression" and _name(value) in _GROUPS | _PASSING
        holder, prefix = _router(syntax, value) if is_group or text_of(value) in routers else ("", "")
        if holder and (prefix or holder in routers) and not holder.endswith("()"):
            function = ".".join(syntax.path(node.child_by_field_name("function")))
            line = node.start_point.row + 1
            if function and not function.endswith("()"):
                pattern = route_pattern(prefix) if prefix else ""
                yield Mount(places.scope(node), f"{function}({number})", pattern, line, holder)


def _first_string(syntax: Syntax, call: Node) -> str:
    first = next(iter(arguments_of(call)), None)
    return string_value(syntax, first) if first is not None and first.type in syntax.strings else ""


def _text(syntax: Syntax, value: Node) -> str | None:
    """The value of a string, also of one that something is put before; None for anything else."""
    last = value.child_by_field_name("right") if value.type == "binary_expression" else value
    return string_value(syntax, last) if last is not None and last.type in syntax.strings else None


def _name(call: Node) -> str:
    """The name of the member that is called, empty for a call without a receiver."""
    function = call.child_by_field_name("function")
    return text_of(function.child_by_field_name("field")) if function is not None else ""


def _before(call: Node) -> Node | None:
    function = call.child_by_field_name("function")
    return field_of(function, "operand")


def route_pattern(template: str, *, is_subtree: bool = False) -> str:
    """A pattern as `facts.Route` has it: `{id}` for `:id` and `{id:[0-9]+}`, `{rest*}` for `*rest` and `{rest...}`.

    With `is_subtree` one that ends with a slash matches all paths below it, as in net/http.
    """

    def varying(match: re.Match[str]) -> str:
        name, is_open, of_colon, of_star = match.groups()
        return f"{{{name or of_colon or of_star or 'rest'}{'*' if is_open or of_star is not None else ''}}}"

    plain = _VARYING.sub(varying, template.replace("{$}", ""))
    below = "/{rest*}" if is_subtree and len(plain) > 1 and plain.endswith("/") and "{$}" not in template else ""
    return url_path(re.sub("/{2,}", "/", plain)) + below


GO_ROUTERS = Framework(languages="go", finders=(routes,))
