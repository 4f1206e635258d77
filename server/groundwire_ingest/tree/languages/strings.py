"""The string literals of a file as the values that the program would see, as far as the source states them."""

import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from groundwire_ingest.tree.file_analysis import StringLiteral
from groundwire_ingest.tree.languages.nodes import Nodes, line_of
from groundwire_ingest.tree.languages.syntax import Places, Syntax

_OPENING = re.compile(r"""([A-Za-z@$]*)("+|'+|`)""")
_JOINED = re.compile(rb"\s*+(?:\+\s*+)?(?:\\\r?\n\s*+)?")
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|(\r?\n)|(.))", re.DOTALL)
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "f": "\f", "v": "\v", "a": "\a"}


def string_literals(syntax: Syntax, nodes: Nodes, source: bytes, places: Places) -> Iterator[StringLiteral]:
    """The values of a file's strings in document order, strings inside another and documentation left out.

    Literals with nothing but `+` or white space between them are one. Placeholders stay as in the source (`{name}`,
    `${name}`).
    """
    strings = list(nodes.of(*sorted(syntax.strings)))
    documentation = syntax.documentation(nodes)
    joined: list[Node] = []
    for node in sorted(strings, key=lambda node: (node.start_byte, -node.end_byte)):
        if (joined and node.start_byte < joined[-1].end_byte) or node.start_byte in documentation:
            continue
        if joined and not _JOINED.fullmatch(source, joined[-1].end_byte, node.start_byte):
            yield from _literal(syntax, joined, places)
            joined = []
        joined.append(node)
    yield from _literal(syntax, joined, places)


def _literal(syntax: Syntax, joined: Sequence[Node], places: Places) -> Iterator[StringLiteral]:
    value = "".join(string_value(syntax, node) for node in joined)
    if value:
        has_insertions = any(syntax.has_insertions(node) for node in joined)
        yield StringLiteral(places.key(joined[0]), value, line_of(joined[0]), has_insertions)


def string_value(syntax: Syntax, node: Node) -> str:
    """The value of one literal, without what it is joined with."""
    parts = _parts((node.text or b"").decode())
    if parts is None:
        return ""
    prefix, quote, body = parts
    if syntax.raw is None or not syntax.raw.search(prefix + quote):
        return _ESCAPE.sub(_unescaped, body)
    return body.replace('""', '"') if quote == '"' and "@" in prefix else body


def unescaped(text: str) -> str:
    """What a part of a literal with escapes says."""
    return _ESCAPE.sub(_unescaped, text)


def _parts(literal: str) -> tuple[str, str, str] | None:
    """The letters before the quote, the quote, which may be one character or three and more, and what it encloses."""
    opening = _OPENING.match(literal)
    if opening is None:
        return None
    prefix, run = opening.groups()
    quoted = literal[len(prefix) :].removesuffix("u8")
    closing = len(quoted) - len(quoted.rstrip(run[0]))
    length = min(len(run), closing, len(quoted) // 2)
    if length == 0:
        return None
    if length < 3 or "@" in prefix:
        length = 1
    return prefix, run[:length], quoted[length:-length]


def _unescaped(match: re.Match[str]) -> str:
    two_digits, four_digits, line_end, character = match.groups()
    if line_end:
        return ""
    if character:
        return _CONTROL.get(character, character)
    code = int(two_digits or four_digits, 16)
    return "" if 0xD800 <= code <= 0xDFFF else chr(code)
