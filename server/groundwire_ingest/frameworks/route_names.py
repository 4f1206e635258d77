"""Requests of Django, Flask, FastAPI and Starlette that name a route instead of its URL."""

import re
from collections.abc import Iterator

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.framework_facts import Request
from groundwire_ingest.tree.languages.nodes import Nodes, arguments_of, line_of
from groundwire_ingest.tree.languages.python.conventions import text
from groundwire_ingest.tree.languages.syntax import Places, Syntax

_CALLS = frozenset({"reverse", "reverse_lazy", "redirect", "resolve_url", "url_for", "url_path_for"})
_NAME = re.compile(r"\.?([A-Za-z_][\w.:-]*)")


def requests(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Request]:
    """`reverse("shop:order")`, `redirect("order")`, `url_for("shop.order")`, `url_for(".order")`."""
    for node in nodes["call"]:
        callee, arguments = syntax.callee(node), arguments_of(node)
        name = text(syntax, arguments[0]) if callee is not None and callee[1] in _CALLS and arguments else ""
        if stated := _NAME.fullmatch(name):
            yield Request(places.key(node), stated[1], line_of(node), is_name=True)


ROUTE_NAMES = Framework(languages="python", finders=(requests,))
