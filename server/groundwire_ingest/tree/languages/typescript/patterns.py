"""Patterns of URLs as TypeScript and JavaScript write them, in the form of `facts.Route`."""

import re

from tree_sitter import Node

from groundwire_ingest.tree.languages.nodes import text_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Syntax
from groundwire_ingest.tree.languages.urls import url_path

# `:id`, `:id(\d+)`, `:id?`, `[id]`; `*` and other forms for the rest of a path.
_VARYING = re.compile(r":(\w+)(?:\([^()/]*\))?(\*|\+)?\??|\{\*(\w+)\}|\*(\w*)")
_BASE = re.compile(r"^(?:\$\{[^{}]*\}|https?://[^/]*)(?=/)")


def route_pattern(written: str) -> str:
    """A pattern as Express writes it in the form of `facts.Route`, less a base that is put before it at run time."""
    varying = _VARYING.sub(_varying, _BASE.sub("", written))
    return url_path(re.sub("/{2,}", "/", varying))


def _varying(match: re.Match[str]) -> str:
    name, repeated, rest, star = match.groups()
    return f"{{{name}{'*' if repeated else ''}}}" if name else f"{{{rest or star or 'rest'}*}}"


def string_under(syntax: Syntax, node: Node, keys: tuple[str, ...]) -> str:
    """The string that an object has under one of some keys."""
    for pair in node.named_children:
        value = pair.child_by_field_name("value")
        if value is not None and text_of(pair.child_by_field_name("key")) in keys and value.type in syntax.strings:
            return string_value(syntax, value)
    return ""
