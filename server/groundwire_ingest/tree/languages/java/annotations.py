"""The annotations of Java declarations, and the URLs (Spring, JAX-RS) and tables (JPA) that they state."""

import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from groundwire_ingest.tree.facts import Route, TableMapping
from groundwire_ingest.tree.languages.nodes import Nodes, children_of, first_child, line_of, text_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.urls import url_path
from groundwire_ingest.tree.model import StringLiteral

_ANNOTATIONS = frozenset({"annotation", "marker_annotation"})
_LISTS = frozenset({"element_value_array_initializer", "parenthesized_expression"})


def annotations(node: Node) -> Iterator[tuple[str, Node]]:
    """The plain name of each annotation of a declaration, and its node."""
    for modifiers in node.children:
        if modifiers.type == "modifiers":
            for child in modifiers.named_children:
                if child.type in _ANNOTATIONS:
                    yield text_of(child.child_by_field_name("name")).rpartition(".")[2], child


def values(annotation: Node, *names: str) -> Sequence[Node]:
    """The values of the first of the arguments `names` that an annotation has; `value` needs no name."""
    listed = annotation.child_by_field_name("arguments")
    given: dict[str, Node] = {}
    for argument in children_of(listed):
        if argument.type == "element_value_pair":
            value = argument.child_by_field_name("value")
            if value is not None:
                given[text_of(argument.child_by_field_name("key"))] = value
        elif not argument.is_extra:
            given["value"] = argument
    found = next((given[name] for name in names if name in given), None)
    if found is None:
        return ()
    return found.named_children if found.type in _LISTS else (found,)


def strings(syntax: Syntax, annotation: Node, *names: str) -> list[str]:
    """The plain strings among those values."""
    return [string_value(syntax, node) for node in values(annotation, *names) if node.type in syntax.strings]


_MAPPING = re.compile(r"(Get|Post|Put|Delete|Patch|Request)Mapping")
_VERBS = frozenset({"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"})
_CLIENTS = frozenset({"FeignClient", "HttpExchange", "RegisterRestClient"})
# `{id:[0-9]+}`, `{*rest}`, `**`.
_VARYING = re.compile(r"\{(\*?)\s*(\w+)(?::(?:[^{}]|\{[^{}]*\})*)?\}|\*\*|\*")


def java_routes(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Route]:
    """The methods with `@GetMapping("...")` or `@GET @Path("...")`, below what their class says.

    The interfaces of HTTP clients are none: they ask for what others answer.
    """
    for kind in ("class_declaration", "interface_declaration", "record_declaration"):
        for node in nodes[kind]:
            found = dict(annotations(node))
            if _CLIENTS.isdisjoint(found):
                yield from _of_type(syntax, node, places, _patterns(syntax, node))


def _of_type(syntax: Syntax, node: Node, places: Places, outer: list[str]) -> Iterator[Route]:
    body = node.child_by_field_name("body")
    for method in children_of(body):
        if method.type != "method_declaration":
            continue
        for verbs, inner in _mapped(syntax, method):
            name = method.child_by_field_name("name") or method
            for pattern in dict.fromkeys(f"{url_path(one)}{url_path(two)}" for one in outer or [""] for two in inner):
                for verb in verbs:
                    line, key = name.start_point.row + 1, places.key(name)
                    yield Route(key, places.scope(name), route_pattern(pattern), "", line, "", verb)


def _patterns(syntax: Syntax, node: Node) -> list[str]:
    """The patterns that a class or a method states by `@RequestMapping` or `@Path`."""
    found = (item for name, item in annotations(node) if name in ("RequestMapping", "Path"))
    return [pattern for item in found for pattern in strings(syntax, item, "value", "path") or [""]]


def _mapped(syntax: Syntax, method: Node) -> Iterator[tuple[list[str], list[str]]]:
    """The methods of HTTP, an empty one for any, and the patterns that a method states."""
    for name, item in annotations(method):
        match = _MAPPING.fullmatch(name)
        if match is not None:
            stated = [text_of(value).rpartition(".")[2] for value in values(item, "method")]
            verbs = [match[1].upper()] if match[1] != "Request" else stated or [""]
            yield verbs, strings(syntax, item, "value", "path") or [""]
        elif name in _VERBS:
            yield [name], _patterns(syntax, method) or [""]


def route_pattern(template: str) -> str:
    """A pattern as `facts.Route` has it: `{id}` for `{id:[0-9]+}`, `{rest*}` for `{*rest}` and `**`."""

    def varying(match: re.Match[str]) -> str:
        if match[2]:
            return f"{{{match[2]}{match[1]}}}"
        return "{rest*}" if match[0] == "**" else "{part}"

    return url_path(re.sub("/{2,}", "/", _VARYING.sub(varying, template)))


def java_views(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[StringLiteral]:
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
    found = dict(annotations(node))
    return "Controller" in found and "ResponseBody" not in found


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


CONVENTION_CONFIDENCE = 0.8
"""An entity's table has its name, in small letters with underscores under Spring, by default."""

_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def java_mappings(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[TableMapping]:
    """`@Table(name = "x", schema = "s")` on a class, else `@Entity` by its own name."""
    for node in nodes["class_declaration"]:
        found = dict(annotations(node))
        scope, key = places.scope(node), places.key(node)
        table = found.get("Table")
        names = strings(syntax, table, "name", "value") if table is not None else []
        if names and table is not None:
            schema = strings(syntax, table, "schema")[:1]
            yield TableMapping(key, scope, "", ".".join([*schema, names[0]]), 1.0)
        elif "Entity" in found:
            stated = strings(syntax, found["Entity"], "name")
            name = (stated or [text_of(node.child_by_field_name("name"))])[0]
            yield TableMapping(key, scope, "", "_".join(_WORDS.split(name)).lower(), CONVENTION_CONFIDENCE)
