"""Spring, and JAX-RS with the same annotations: the URLs of controllers, and the templates that they return."""

import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from groundwire_index.repository_edges.requests import Request
from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.file_analysis import StringLiteral
from groundwire_ingest.tree.framework_facts import Route
from groundwire_ingest.tree.languages.java.annotations import annotations, strings, values
from groundwire_ingest.tree.languages.nodes import Nodes, children_of, first_child, line_of, text_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.urls import url_path

_MAPPING = re.compile(r"(Get|Post|Put|Delete|Patch|Request)Mapping")
_VERBS = frozenset({"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"})
_CLIENTS = frozenset({"FeignClient", "HttpExchange", "RegisterRestClient"})
# `{id:[0-9]+}`, `{*rest}`, `**`.
_VARYING = re.compile(r"\{(\*?)\s*(\w+)(?::(?:[^{}]|\{[^{}]*\})*)?\}|\*\*|\*")


def routes(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Route]:
    """The methods with `@GetMapping("...")` or `@GET @Path("...")`, below what their class says.

    The interfaces of HTTP clients are none: they ask for what others answer.
    """
    for node in nodes.of("class_declaration", "interface_declaration", "record_declaration"):
        given_annotations = dict(annotations(node))
        if _CLIENTS.isdisjoint(given_annotations):
            yield from _of_type(syntax, node, places, _patterns(syntax, node))


def clients(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Request]:
    """The requests of `@FeignClient(name = "orders", path = "/orders")`, one for each method of the interface."""
    for node in nodes["interface_declaration"]:
        client = dict(annotations(node)).get("FeignClient")
        service = next(iter(strings(syntax, client, "name", "value", "serviceId")), "") if client is not None else ""
        if client is None or not service or _is_elsewhere(syntax, client):
            continue
        outer = strings(syntax, client, "path") or _patterns(syntax, node) or [""]
        for method in children_of(node, "body"):
            for annotation, verbs, inner in _mapped(syntax, method):
                url = re.sub(r"\{[^{}]*\}", "{}", f"{url_path(outer[0])}{url_path(inner[0])}")
                for verb in verbs:
                    key, line = places.key(method), line_of(annotation)
                    yield Request(key, url_path(re.sub("/{2,}", "/", url)), line, verb, is_sent=True, service=service)


def _is_elsewhere(syntax: Syntax, client: Node) -> bool:
    """True if a client states the URL of a host, which is a name with dots."""
    return any("." in url.partition("//")[2].partition("/")[0] for url in strings(syntax, client, "url"))


def _of_type(syntax: Syntax, node: Node, places: Places, outer: list[str]) -> Iterator[Route]:
    body = node.child_by_field_name("body")
    for method in children_of(body):
        if method.type != "method_declaration":
            continue
        for _, verbs, inner in _mapped(syntax, method):
            name = method.child_by_field_name("name") or method
            for pattern in dict.fromkeys(
                f"{url_path(outer_path)}{url_path(inner_path)}" for outer_path in outer or [""] for inner_path in inner
            ):
                for verb in verbs:
                    line, key = name.start_point.row + 1, places.key(name)
                    yield Route(key, places.scope(name), route_pattern(pattern), "", line, "", verb)


def _patterns(syntax: Syntax, node: Node) -> list[str]:
    """The patterns that a class or a method states by `@RequestMapping` or `@Path`."""
    mappings = (item for name, item in annotations(node) if name in ("RequestMapping", "Path"))
    return [pattern for item in mappings for pattern in strings(syntax, item, "value", "path") or [""]]


def _mapped(syntax: Syntax, method: Node) -> Iterator[tuple[Node, list[str], list[str]]]:
    """The annotation of a method, the methods of HTTP, an empty one for any, and the patterns that it states."""
    for name, item in annotations(method):
        match = _MAPPING.fullmatch(name)
        if match is not None:
            stated = [text_of(value).rpartition(".")[2] for value in values(item, "method")]
            verbs = [match[1].upper()] if match[1] != "Request" else stated or [""]
            yield item, verbs, strings(syntax, item, "value", "path") or [""]
        elif name in _VERBS:
            yield item, [name], _patterns(syntax, method) or [""]


def route_pattern(template: str) -> str:
    """A pattern as `facts.Route` has it: `{id}` for `{id:[0-9]+}`, `{rest*}` for `{*rest}` and `**`."""

    def varying(match: re.Match[str]) -> str:
        if match[2]:
            return f"{{{match[2]}{match[1]}}}"
        return "{rest*}" if match[0] == "**" else "{part}"

    return url_path(re.sub("/{2,}", "/", _VARYING.sub(varying, template)))


def views(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[StringLiteral]:
    """The results of methods of Spring's controllers: strings, and constants of the file.

    Those that return the body of the response itself name no template.
    """
    constants = dict(_constants(syntax, nodes))
    controllers = {places.declared(node) for node in nodes["class_declaration"] if _names_views(node)}
    bodies = {
        places.declared(node) for node in nodes["method_declaration"] if "ResponseBody" in dict(annotations(node))
    }
    for node in nodes["return_statement"]:
        if places.type_scope(node) in controllers and places.scope(node) not in bodies:
            for value in _alternatives(first_child(node)):
                is_string = value.type in syntax.strings
                name = string_value(syntax, value) if is_string else constants.get(text_of(value), "")
                yield StringLiteral(places.key(node), name, line_of(value))


def _names_views(node: Node) -> bool:
    given_annotations = dict(annotations(node))
    return "Controller" in given_annotations and "ResponseBody" not in given_annotations


def _alternatives(value: Node | None) -> Sequence[Node]:
    """A value, or the two that a condition chooses from."""
    if value is None or value.type != "ternary_expression":
        return (value,) if value is not None else ()
    return value.named_children[1:]


def _constants(syntax: Syntax, nodes: Nodes) -> Iterator[tuple[str, str]]:
    """The fields of the file's types that are set to a string, by name."""
    for node in nodes["field_declaration"]:
        for variable in node.children_by_field_name("declarator"):
            value = variable.child_by_field_name("value")
            if value is not None and value.type in syntax.strings:
                yield text_of(variable.child_by_field_name("name")), string_value(syntax, value)


SPRING = Framework(
    languages="java", finders=(routes, clients, views), service_name="spring.application.name", placeholders=".java .kt"
)
