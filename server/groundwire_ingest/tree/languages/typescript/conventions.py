"""The decorators, objects and URL patterns that frameworks of TypeScript and JavaScript read."""

import re

from tree_sitter import Node

from groundwire_ingest.tree.languages.nodes import text_of
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Syntax
from groundwire_ingest.tree.languages.urls import url_path

# `:id`, `:id(\d+)`, `:id?`, `[id]`; `*` and other forms for the rest of a path.
_VARYING = re.compile(r":(\w+)(?:\([^()/]*\))?(\*|\+)?\??|\{\*(\w+)\}|\*(\w*)")
_BASE = re.compile(r"^(?:\$\{[^{}]*\}|https?://[^/]*)(?=/)")


def decorators_of(node: Node) -> list[Node]:
    """The decorators of a class, in front of `export` as well."""
    around = node.parent if node.parent is not None and node.parent.type == "export_statement" else node
    return [child for child in (*around.children, *node.children) if child.type == "decorator"]


def members_of(node: Node) -> dict[str, Node]:
    """The values of an object by their keys."""
    pairs = (
        (text_of(pair, "key"), pair.child_by_field_name("value")) for pair in node.named_children if pair.type == "pair"
    )
    return {key: value for key, value in pairs if value is not None}


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
        if value is not None and text_of(pair, "key") in keys and value.type in syntax.strings:
            return string_value(syntax, value)
    return ""
