"""The components, directives and pipes of Angular, with the elements that stand for them."""

import re
from collections.abc import Iterator
from posixpath import join, normpath

from tree_sitter import Node

from groundwire_ingest.tree.files.markup.angular_templates import template_names
from groundwire_ingest.tree.folders import folder_of
from groundwire_ingest.tree.framework_facts import TemplateView
from groundwire_ingest.tree.languages.nodes import Nodes, first_child, line_of, text_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.languages.typescript.conventions import decorators_of, members_of, string_under
from groundwire_ingest.tree.languages.typescript.shapes import CLASS_NODES

_VIEWS = frozenset({"Component", "Directive", "Pipe"})
_ATTRIBUTE = re.compile(r"\[([\w-]{1,100})")
_ELEMENT = re.compile(r"[a-z][\w]*-[\w-]*")


def views(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[TemplateView]:
    """The classes with `@Component({ selector, templateUrl })`, `@Directive`, `@Pipe({ name })`."""
    for node in nodes.of(*sorted(CLASS_NODES)):
        for call in map(first_child, decorators_of(node)):
            options = first_child(call, "arguments") if call is not None else None
            if options is not None and options.type == "object" and text_of(call, "function") in _VIEWS:
                yield from _view(syntax, node, options, places)


def _view(syntax: Syntax, node: Node, options: Node, places: Places) -> Iterator[TemplateView]:
    index = places.declared(node)
    pipe = string_under(syntax, options, ("name",))
    selectors = (f"|{pipe}",) if pipe else tuple(_selectors(string_under(syntax, options, ("selector",))))
    written = string_under(syntax, options, ("templateUrl",))
    path = normpath(join(folder_of(places.path), written)) if written else ""
    inline = members_of(options).get("template")
    is_string = inline is not None and inline.type in syntax.strings
    names = template_names(string_value(syntax, inline)) if inline is not None and is_string else None
    first = line_of(inline) - 1 if inline is not None else 0
    used = tuple((name, line + first) for name, line in names.selectors) if names is not None else ()
    if index and (selectors or path or used):
        yield TemplateView(index, selectors, path, used)


def _selectors(written: str) -> Iterator[str]:
    """The elements and attributes that a selector names: `app-card`, and `[appBold]` of `button[appBold]`."""
    for part in written.split(","):
        attributes = _ATTRIBUTE.findall(part.partition(":not(")[0])
        element = _ELEMENT.match(part.strip())
        if attributes:
            yield from (f"[{name}]" for name in attributes)
        elif element is not None:
            yield element[0]
