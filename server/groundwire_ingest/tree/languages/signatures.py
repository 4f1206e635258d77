"""The declaration of a member up to its body, on one line or as it is written."""

from collections.abc import Sequence

from tree_sitter import Node

from groundwire_ingest.tree.languages.outline import Declared
from groundwire_ingest.tree.languages.syntax import Syntax

MAX_SIGNATURE_CHARACTERS = 300

_SIGNATURE_END = " {:;=,"


def signature(syntax: Syntax, declared: Declared, source: bytes) -> str:
    """The declaration up to its body on one line, without annotations."""
    start = _after_adornments(syntax, declared.node).start_byte
    if declared.node.type in syntax.given:
        start = source.rfind(b"\n", 0, start) + 1
    end = _end(declared)
    text = source[start : min(end, start + 4 * MAX_SIGNATURE_CHARACTERS)].decode(errors="ignore")
    return " ".join(text.split()).removesuffix("=>").rstrip(_SIGNATURE_END)[:MAX_SIGNATURE_CHARACTERS]


def signature_row(syntax: Syntax, node: Node) -> int:
    """The row on which the signature of a declaration starts: below its annotations."""
    return _after_adornments(syntax, node).start_point.row


def signature_text(syntax: Syntax, declared: Declared, source: bytes, lines: Sequence[str]) -> str:
    """The signature indented as it is written, with a sign for the body that is left out."""
    line = lines[signature_row(syntax, declared.node)]
    indent = line[: len(line) - len(line.lstrip())]
    return indent + signature(syntax, declared, source) + (syntax.elided if declared.shape.body else ";")


def _end(declared: Declared) -> int:
    """Where the body starts, or the comment before it."""
    node, body = declared.node, declared.shape.body
    if body is None:
        return node.end_byte
    name = node.child_by_field_name("name")
    comments = (
        child.start_byte for child in node.children if child.is_extra and name and child.start_byte > name.end_byte
    )
    return min(body.start_byte, *comments, body.start_byte)


def _after_adornments(syntax: Syntax, node: Node) -> Node:
    """The first part of a declaration that is no annotation; the declaration itself where there is none."""
    for child in node.children:
        for part in child.children if child.type == "modifiers" else (child,):
            if part.type not in syntax.adornments:
                return part
    return node
