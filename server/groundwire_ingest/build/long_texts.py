"""Texts that no response can hold are cut into parts, so that every text of an index can be returned."""

import json
from collections.abc import Iterator
from dataclasses import replace

from groundwire_index.limits import MAX_TEXT_BYTES
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.records import TEXT_FIELDS, SourceNode

MAX_REPEATED_BYTES = MAX_TEXT_BYTES // 2
"""The most bytes of its node that each part may repeat: so all parts together take no more than twice the node."""

_LINE_END = b"\n"


def text_bytes(node: SourceNode) -> int:
    """The UTF-8 bytes of the text in a response, with its symbol and its path, which the citation repeats."""
    return sum(map(_size, (node.text, node.path, node.path, node.symbol)))


def in_parts(node: SourceNode, most_bytes: int = MAX_TEXT_BYTES) -> tuple[SourceNode, ...]:
    """The node, or the parts of one whose text is too long for a response; together they hold the whole text.

    A response has room for `most_bytes` of a text with its symbol and, twice, its path.

    The first part has the node's id, the others `<local id>@part2` and so on. They end with a line where one ends in
    time. Raises IngestError where what the parts would have in common is too long itself.
    """
    if text_bytes(node) <= most_bytes:
        return (node,)
    texts = (getattr(node, name) for name in TEXT_FIELDS)
    strings = (*texts, node.local_id, node.path, node.origin, json.dumps(dict(node.metadata)))
    repeated = sum(map(_size, strings))
    if repeated > MAX_REPEATED_BYTES:
        raise IngestError(
            f"{node.origin}: node {node.key[:80]!r} has a text that must be cut to be returned, and {repeated} bytes "
            f"besides it that every part would repeat; at most {MAX_REPEATED_BYTES} are allowed, shorten them"
        )
    return tuple(_parts(node, most_bytes - repeated))


def _parts(node: SourceNode, most_bytes: int) -> Iterator[SourceNode]:
    line = node.start_line
    knows_lines = line > 0 and _line_count(node.text) == node.end_line - line + 1
    for number, text in enumerate(_cut(node.text.encode(), most_bytes), start=1):
        local_id = node.local_id if number == 1 else f"{node.local_id}@part{number}"
        part = replace(node, local_id=local_id, text=text)
        if knows_lines:
            part = replace(part, start_line=line, end_line=line + _line_count(text) - 1)
            line += text.count("\n")
        yield part


def _cut(text: bytes, most_bytes: int) -> Iterator[str]:
    """Stretches of UTF-8 of at most `most_bytes` bytes; each ends after its last complete line if it has one."""
    start = 0
    while start < len(text):
        end = min(start + most_bytes, len(text))
        if end < len(text):
            end = text.rfind(_LINE_END, start, end) + 1 or _character_start(text, end)
        yield text[start:end].decode()
        start = end


def _character_start(text: bytes, position: int) -> int:
    """Where the character begins that a position lies in; bytes that continue one are 10xxxxxx."""
    while text[position] & 0xC0 == 0x80:
        position -= 1
    return position


def _line_count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))


def _size(string: str) -> int:
    return len(string.encode(errors="surrogatepass"))  # that no text holds half of a pair is not checked here
