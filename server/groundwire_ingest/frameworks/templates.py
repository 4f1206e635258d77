"""Calls that render a template, in any language."""

from collections.abc import Iterator

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.file_analysis import StringLiteral
from groundwire_ingest.tree.languages.nodes import Nodes, children_of, field_of, line_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax

# Calls that take the name of a template among their first arguments, in small letters less underscores.
_RENDERS = frozenset("render renderview rendertemplate renderpartial view partialview modelandview setviewname".split())
_MAX_PLACE = 2


def views(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[StringLiteral]:
    """The names of templates in calls that render them."""
    for node, form, callee in syntax.called(nodes):
        if form.arguments and callee[1].lower().replace("_", "") in _RENDERS:
            for argument in children_of(field_of(node, form.arguments))[:_MAX_PLACE]:
                # Some grammars put each argument into a node of its own.
                for part in (argument, *argument.named_children):
                    if part.type in syntax.strings:
                        yield StringLiteral(places.key(node), string_value(syntax, part), line_of(part))


TEMPLATES = Framework(finders=(views,))
