"""Tornado: its lists of URLs and handlers."""

from collections.abc import Iterator

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.framework_facts import Route
from groundwire_ingest.tree.languages.nodes import Nodes, given_in
from groundwire_ingest.tree.languages.python.conventions import route_at, text
from groundwire_ingest.tree.languages.python.patterns import regular_pattern
from groundwire_ingest.tree.languages.syntax import Places, Syntax


def routes(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[Route]:
    """`(r"/x", Handler)` in a list."""
    for node in nodes["tuple"]:
        parts = given_in(node)
        if len(parts) > 1 and node.parent is not None and node.parent.type == "list":
            pattern, handler = text(syntax, parts[0]), syntax.value_path(parts[1])
            if pattern.startswith("/") and handler.endswith("Handler"):
                yield route_at(places, parts[0], regular_pattern(pattern), handler, "", "")


TORNADO = Framework(languages="python", finders=(routes,))
