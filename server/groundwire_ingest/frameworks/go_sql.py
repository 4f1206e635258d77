"""SQL builders in Go, such as squirrel: `Insert(r.tableName)`, `Select("*").From("album")`."""

import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.languages.nodes import (
    Nodes,
    children_of,
    first_child,
    given_in,
    line_of,
    text_of,
    type_name,
)
from groundwire_ingest.tree.languages.strings import string_value
from groundwire_ingest.tree.languages.syntax import Places, Syntax
from groundwire_ingest.tree.text_facts import BuiltText, Text, TextPart, TextRole, TextValue

_BUILDERS = re.compile(r"squirrel|goqu|gocraft/dbr|sqlbuilder|sqrl")
_WRITES = frozenset({"Insert", "Replace", "Update", "Delete", "InsertInto", "DeleteFrom", "Into"})
_READS = frozenset({"From", "Join", "LeftJoin", "RightJoin", "InnerJoin", "CrossJoin"})
_TABLE = re.compile(r'\s*([\w."`]+)(?:\s+(?:AS\s+)?\w+)?(?:\s+ON\b.*)?\s*', re.IGNORECASE | re.DOTALL)
_MAX_OPERANDS = 20


def text_values(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[TextValue]:
    """The strings that constants, variables and fields are set to: `r.tableName = "album"`, `Repo{table: "album"}`."""
    for node in nodes.of("const_spec", "var_spec"):
        names = [name for name in node.children_by_field_name("name") if name.is_named]
        for name, value in zip(names, children_of(node, "value"), strict=False):
            yield from _value(syntax, node, text_of(name), value, places, is_assigned=False)
    for node in nodes.of("short_var_declaration", "assignment_statement"):
        is_assigned = node.type == "assignment_statement"
        for target, value in zip(children_of(node, "left"), children_of(node, "right"), strict=False):
            yield from _value(syntax, node, ".".join(syntax.path(target)), value, places, is_assigned=is_assigned)
    for node in nodes["composite_literal"]:
        made = type_name(node, "type")
        for element in children_of(node, "body") if made else ():
            key, given = _keyed(element)
            if key and given is not None:
                yield from _value(syntax, node, f"{made}.{key}", given, places, is_assigned=True)


def _keyed(element: Node) -> tuple[str, Node | None]:
    """The name and the value of `table: "album"`."""
    parts = element.named_children if element.type == "keyed_element" else []
    values = [first_child(part) if part.type == "literal_element" else part for part in parts]
    return (text_of(values[0]), values[1]) if len(values) > 1 else ("", None)


def _value(
    syntax: Syntax, node: Node, name: str, value: Node, places: Places, *, is_assigned: bool
) -> Iterator[TextValue]:
    text = _text(syntax, value)
    if name and any(not part.is_inserted for part in text):
        yield TextValue(places.variable_scope(node), name, text, is_assigned=is_assigned)


def _text(syntax: Syntax, node: Node | None) -> Text:
    """A string, a path, or a sum of these; empty for anything else."""
    parts: list[TextPart] = []
    pending: list[Node | None] = [node]
    while pending and len(parts) < _MAX_OPERANDS:
        current = pending.pop()
        if current is not None and current.type == "binary_expression" and text_of(current, "operator") == "+":
            pending += [current.child_by_field_name("right"), current.child_by_field_name("left")]
        elif current is not None and current.type in syntax.strings:
            parts.append(TextPart(string_value(syntax, current)))
        else:
            parts.append(TextPart(".".join(syntax.path(current)), True))
    return tuple(parts) if not pending and any(part.text for part in parts) else ()


def tables_of_builders(syntax: Syntax, nodes: Nodes, places: Places) -> Iterator[BuiltText]:
    """The tables that are given to the methods of a builder that the file imports."""
    imported = (text_of(node, "path") for node in nodes["import_spec"])
    if not any(_BUILDERS.search(path) for path in imported):
        return
    for node in nodes["call_expression"]:
        callee = syntax.callee(node)
        name = callee[1] if callee is not None else ""
        if name in _WRITES or name in _READS:
            role: TextRole = "written" if name in _WRITES else "read"
            arguments = given_in(node, "arguments")
            text = _table(_text(syntax, arguments[0])) if arguments else ()
            if text:
                yield BuiltText(places.key(node), places.scope(node), text, line_of(node), role)


def _table(text: Sequence[TextPart]) -> Text:
    """The name of the table at the start of `album a` or `album on album.id = x.id`; a path as it is."""
    if not text or text[0].is_inserted:
        return tuple(text[:1])
    match = _TABLE.fullmatch(text[0].text if len(text) == 1 else f"{text[0].text} ON")
    return (TextPart(match[1]),) if match is not None else ()


GO_SQL = Framework(languages="go", finders=(text_values, tables_of_builders))
