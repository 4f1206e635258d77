"""URLs in the strings of a file: what it may ask for."""

import re
from collections.abc import Iterator, Sequence, Set
from itertools import islice

from tree_sitter import Node

from groundwire_index.repository_edges.requests import Request
from groundwire_ingest.tree.framework_facts import Route
from groundwire_ingest.tree.languages.nodes import Nodes, around_of, field_of, line_of, text_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax

_MAX_URL_BYTES = 300
_MAX_ARGUMENT_BYTES = 2000
_MAX_STEPS_TO_CALL = 4
# Placeholders in a string, in the syntax of all languages.
_HOLE = re.compile(r"\$?\{[^{}]*\}|%\(\w+\)[sd]|%[sdvq]|\$[A-Za-z_]\w*")
# Where a tree may be served itself, among them the names of hosts without a dot, which hold in a network of its own;
# what is asked of any other host is not answered by it.
_HERE = r"https?://(?:[A-Za-z][\w-]*|127\.0\.0\.1|0\.0\.0\.0|\[::1\]|\{\})(?::(?:\d+|\{\}))?"
_URL = re.compile("(" + _HERE + r"|\{\})?(/[\w\-.~:@!$&'()*+,;=%{}/]*)(?:[?#]\S*)?", re.ASCII)
_SENDS = re.compile(
    r"(get|post|put|patch|delete|head|options)(?:(?:from|as)?json|string|stream|bytearray|bytes|forobject|forentity)*"
    r"(?:async)?",
    re.IGNORECASE,
)
_ASKS = frozenset(
    """request open fetch ajax axios send goto visit redirect navigate push exchange stream newrequest uri url
    websocketconnect sendasync""".split()
)
_STATED_METHOD = re.compile(r"""\bmethods?["']?\s*+[:=]\s*+(?:\[\s*+)?["'](\w++)["']""", re.IGNORECASE)
_METHOD_STRING = re.compile(r"""["']?(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)["']?""")
# The start of a view's name that means a redirect to a URL.
_REDIRECT = re.compile(r"(redirect|forward):(?=/)")
_ANNOTATIONS = frozenset({"annotation", "attribute_list", "attribute_item", "decorator"})
_MAX_STEPS_TO_ANNOTATION = 8
# The last name of an annotation, after any sign.
_ANNOTATION_NAME = re.compile(r"[@#\[\s]*+(?:\w++(?:\.|::|:|\\))*+(\w++)")
# Annotations that declare which URLs are answered, by the name less underscores.
_DECLARES = re.compile(
    r"\A(?:http)?(?:get|post|put|patch|delete|head|options|all|any|request)\Z"
    r"|route|mapping|path|controller|servlet|endpoint|resource|websocket|view|exchange|client",
    re.IGNORECASE,
)


def url_path(text: str) -> str:
    """A pattern of URLs in one form: with a slash before it and none behind it; just that for the root."""
    return "/" + text.strip("/")


def requests(
    syntax: Syntax, nodes: Nodes, places: Places, routes: Sequence[Route], taken: Set[int]
) -> Iterator[Request]:
    """The strings that look like the path of a URL, each once for a chunk; those on lines of `taken` are known.

    A declaration in an annotation is one too, unless it is at a callable without a body, as clients of HTTP have.
    """
    handlers = {item.scope for item in routes if not item.handler}
    documentation = syntax.documentation(nodes)
    seen: set[tuple[str, str, str]] = set()
    for node in nodes.of(*sorted(syntax.strings)):
        key, line = places.key(node), line_of(node)
        match = None if line in taken or node.start_byte in documentation else _url(syntax, node)
        if match is None or _is_declared(syntax, node, places, handlers):
            continue
        is_continued = node.next_sibling is not None and node.next_sibling.type == "+"
        url = url_path(match[2] + ("{}" if is_continued and match[2].endswith("/") else ""))
        is_added = node.prev_sibling is not None and node.prev_sibling.type == "+"
        is_sent, method = _sending(syntax, node)
        if (key, url, method) not in seen:
            seen.add((key, url, method))
            yield Request(key, url, line, method, is_sent, match[1] == "{}" or is_added)


def _is_declared(syntax: Syntax, node: Node, places: Places, handlers: Set[int]) -> bool:
    """True if a string is in an annotation that declares a route."""
    around = list(islice(around_of(node.parent), _MAX_STEPS_TO_ANNOTATION))
    annotation = next((item for item in around if item.type in _ANNOTATIONS), None)
    if annotation is None:
        return False
    one_of_list = next((item for item in around[: around.index(annotation)] if item.type == "attribute"), annotation)
    name = _ANNOTATION_NAME.match(text_of(one_of_list))
    if name is None or _DECLARES.search(name[1].replace("_", "")) is None:
        return False
    declared = next(item for item in around_of(annotation.parent) if item.type != "modifiers")
    shape = syntax.shape(declared)
    asks = shape is not None and shape.construct == "callable" and shape.body is None
    return not asks or places.scope(node) in handlers


def _url(syntax: Syntax, node: Node) -> re.Match[str] | None:
    if node.end_byte - node.start_byte > _MAX_URL_BYTES:
        return None
    return url_in(_REDIRECT.sub("", string_value(syntax, node)))


def url_in(text: str) -> re.Match[str] | None:
    """A text that is a URL which the tree may answer: `{}` or the host if any, and the path with `{}` for holes."""
    return _URL.fullmatch(_HOLE.sub("{}", text)) if "/" in text else None


def _sending(syntax: Syntax, node: Node) -> tuple[bool, str]:
    """True, with the HTTP method or "", if the call that has a string as an argument works with URLs."""
    redirect = _REDIRECT.match(string_value(syntax, node))
    if redirect is not None:
        return True, "GET" if redirect[1] == "redirect" else ""
    around = islice(around_of(node.parent), _MAX_STEPS_TO_CALL)
    call = next((item for item in around if item.type in syntax.calls), None)
    callee = syntax.callee(call) if call is not None else None
    listed = field_of(call, "arguments")
    if callee is None or listed is None or node.start_byte < listed.start_byte:
        return False, ""
    name = callee[1].lower().replace("_", "")
    match = _SENDS.fullmatch(name)
    if match is not None:
        return True, match[1].upper()
    return (True, _stated_method(listed)) if name in _ASKS else (False, "")


def _stated_method(listed: Node) -> str:
    """The method that the arguments of a call state: as the first of them, or under that name."""
    text = (listed.text or b"")[:_MAX_ARGUMENT_BYTES].decode(errors="ignore")
    stated = _METHOD_STRING.match(text.lstrip("( \t\r\n")) or _STATED_METHOD.search(text)
    return stated[1].upper() if stated else ""
