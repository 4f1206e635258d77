"""The strings that C# expressions build, with what is inserted into them."""

from collections.abc import Iterable, Iterator

from tree_sitter import Node

from groundwire_ingest.tree.languages.nodes import field_of, first_child, given_in, last_child, text_of, type_of
from groundwire_ingest.tree.languages.strings import string_value, unescaped
from groundwire_ingest.tree.languages.syntax import Syntax
from groundwire_ingest.tree.text_facts import NAME_OF_TYPE, Text, TextPart

_PLAIN = frozenset({"string_literal", "verbatim_string_literal", "raw_string_literal"})
_MAX_PARTS = 200
_MAX_DEPTH = 8


def is_string(node: Node | None) -> bool:
    """True if an expression is a string by itself, with or without inserted values."""
    return node is not None and (node.type in _PLAIN or node.type == "interpolated_string_expression")


def text_of_expression(syntax: Syntax, node: Node | None) -> Text:
    """The string that an expression builds; empty if it is no string, no name, and no sum of these."""
    parts = tuple(_joined(_parts(syntax, node, 0)))
    return parts if len(parts) <= _MAX_PARTS and any(part.text for part in parts) else ()


def _joined(parts: Iterator[TextPart]) -> Iterator[TextPart]:
    """The parts, with those that insert nothing and follow each other as one."""
    said = ""
    for part in parts:
        if not part.is_inserted:
            said += part.text
            continue
        if said:
            yield TextPart(said)
            said = ""
        yield part
    if said:
        yield TextPart(said)


def _parts(syntax: Syntax, node: Node | None, depth: int) -> Iterator[TextPart]:
    while node is not None and node.type == "parenthesized_expression":
        node = first_child(node)
    if node is None or depth > _MAX_DEPTH:
        yield TextPart("", True)
    elif node.type in _PLAIN:
        yield TextPart(string_value(syntax, node))
    elif node.type == "interpolated_string_expression":
        yield from _content(syntax, node, depth)
    elif is_sum(node):
        for operand in operands(node):
            yield from _parts(syntax, operand, depth + 1)
    elif node.type == "invocation_expression" and text_of(node, "function") == "nameof":
        yield TextPart(text_of(last_child(node, "arguments")).rpartition(".")[2])
    else:
        yield TextPart(_path(syntax, node), True)


def are_plain(nodes: Iterable[Node | None]) -> bool:
    """True if all of several expressions are strings without inserted values."""
    return all(node is not None and node.type in _PLAIN for node in nodes)


def is_sum(node: Node) -> bool:
    """True for `a + b`."""
    return node.type == "binary_expression" and any(child.type == "+" for child in node.children)


def operands(node: Node) -> list[Node | None]:
    """`a`, `b` and `c` of `a + b + c`; of a sum of too many the last ones."""
    operands: list[Node | None] = []
    current: Node | None = node
    while current is not None and is_sum(current) and len(operands) <= _MAX_PARTS:
        operands.append(current.child_by_field_name("right"))
        current = current.child_by_field_name("left")
    return [current, *reversed(operands)]


def _content(syntax: Syntax, node: Node, depth: int) -> Iterator[TextPart]:
    """The parts of `$"..."`."""
    opening = (node.text or b"")[:8].decode(errors="ignore")
    is_raw = "@" in opening.partition('"')[0] or '"""' in opening
    for child in node.named_children:
        if child.type == "string_content":
            written = (child.text or b"").decode()
            said = written.replace('""', '"') if is_raw else unescaped(written)
            yield TextPart(said.replace("{{", "{").replace("}}", "}"))
        elif child.type == "escape_sequence":
            yield TextPart(unescaped(text_of(child)))
        elif child.type == "interpolation":
            inserted = [part for part in given_in(child) if part.type != "interpolation_brace"]
            yield from _parts(syntax, inserted[0] if inserted else None, depth + 1)


def _path(syntax: Syntax, node: Node) -> str:
    """The path of an expression; `typeof(T).Name` and the name of the object's own type have one as well."""
    if node.type == "member_access_expression" and text_of(node, "name") == "Name":
        inner = field_of(node, "expression")
        if inner is not None and inner.type == "typeof_expression":
            return NAME_OF_TYPE.format(type_of(inner, "type"))
    return ".".join(syntax.path(node))
