"""The templates that code renders, by the names that it gives them."""

from collections.abc import Iterable, Iterator

from groundwire_ingest.tree.facts import Call
from groundwire_ingest.tree.languages.nodes import Nodes, children_of, line_of, part_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.model import StringLiteral

# Calls that take the name of a template among their first arguments, in small letters less underscores.
_RENDERS = frozenset("render renderview rendertemplate renderpartial view partialview modelandview setviewname".split())
_MAX_PLACE = 2


def views(syntax: Syntax, nodes: Nodes, places: Places, calls: Iterable[Call]) -> Iterator[StringLiteral]:
    """The names of templates in `calls` that render them, and what else the language's frameworks take for one."""
    rendering = {call.from_key for call in calls if _renders(call.name)}
    for kind, form in syntax.calls.items():
        for node in nodes[kind] if rendering else ():
            callee = syntax.callee(node) if places.key(node) in rendering else None
            if callee is not None and _renders(callee[1]):
                given = part_of(node, form.arguments) if form.arguments else None
                for argument in children_of(given)[:_MAX_PLACE]:
                    # Some grammars put each argument into a node of its own.
                    for part in (argument, *argument.named_children):
                        if part.type in syntax.strings:
                            yield StringLiteral(places.key(node), string_value(syntax, part), line_of(part))
    yield from syntax.views(nodes, places)


def _renders(name: str) -> bool:
    return name.lower().replace("_", "") in _RENDERS
