"""Which URLs controllers with decorators answer."""

from collections.abc import Iterator

from tree_sitter import Node

from groundwire_ingest.tree.facts import Route
from groundwire_ingest.tree.languages.nodes import Nodes, arguments_of, first_child, text_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.typescript.conventions import decorators_of, route_pattern, string_under
from groundwire_ingest.tree.languages.typescript.shapes import HTTP_VERBS

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
