"""Requests that name a route instead of its URL, in Python, PHP and JavaScript."""

import re
from collections.abc import Iterator

from groundwire_index.repository_edges.requests import Request
from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.languages.nodes import Nodes, arguments_of, first_child, given_in, line_of
from groundwire_ingest.tree.languages.python.conventions import text
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax

_CALLS = frozenset({"reverse", "reverse_lazy", "redirect", "resolve_url", "url_for", "url_path_for"})
_IN_SCRIPTS = frozenset({"route", "url", "urlFor", "pathFor"})
_HELPERS = {
    "php": frozenset({"route", "to_route", "redirectToRoute", "signedRoute", "temporarySignedRoute"}),
    "typescript": _IN_SCRIPTS,
    "javascript": _IN_SCRIPTS,
}
_NAME = re.compile(r"\.?([A-Za-z_][\w.:-]*)")


def requests(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Request]:
    """`reverse("shop:order")`, `redirect("order")`, `url_for("shop.order")`, `url_for(".order")`."""
    for node in nodes["call"]:
        callee, arguments = syntax.callee(node), arguments_of(node)
        name = text(syntax, arguments[0]) if callee is not None and callee[1] in _CALLS and arguments else ""
        if stated := _NAME.fullmatch(name):
            yield Request(places.key(node), stated[1], line_of(node), is_name=True)


def named_requests(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Request]:
    """`route("orders.show", id)`, `redirect()->route("orders.show")`, `url("star")`."""
    names, is_script = _HELPERS[syntax.language], syntax.language != "php"
    for node, form, (receiver, called) in syntax.called(nodes):
        if form.constructs or not form.arguments or called not in names or (is_script and receiver):
            continue
        given = next(iter(given_in(node, form.arguments)), None)
        given = first_child(given) if given is not None and given.type == "argument" else given
        name = string_value(syntax, given) if given is not None and given.type in syntax.strings else ""
        if _NAME.fullmatch(name):
            yield Request(places.key(node), name, line_of(node), is_name=True)


ROUTE_NAMES = Framework(languages="python", finders=(requests,))
NAMED_ROUTES = Framework(languages="php typescript javascript", finders=(named_requests,))
