"""Cutting a file's places into the texts of nodes, and naming them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from groundwire_server.ingest.tree.chunking import MAX_CHUNK_CHARACTERS, Span, split_lines, trimmed_span
from groundwire_server.ingest.tree.languages.places import Place
from groundwire_server.ingest.tree.languages.syntax import Syntax, end_row

MIN_GAP_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class Chunk:
    """The text of one node. A place's first chunk has the place's own name, a further one `@2`, `@3`, ... after it."""

    place: Place
    local_id: str
    span: Span


def cut_chunks(syntax: Syntax, path: str, root: Node, places: Sequence[Place], lines: Sequence[str]) -> Iterator[Chunk]:
    """The chunks of a file place by place, each in the order of its lines. Every place has at least one.

    A symbol that the file declares again is told apart by `~2`, `~3`, ... in the order of the declarations.
    """
    times_seen: Counter[str] = Counter()
    for place in places:
        local_id, node = path, root
        if place.declared is not None:
            symbol, node = place.declared.symbol, place.declared.node
            times_seen[symbol] += 1
            local_id = f"{path}#{symbol}" + (f"~{times_seen[symbol]}" if times_seen[symbol] > 1 else "")
        parts = [part for span in _own_spans(place, lines) for part in _cut(syntax, node, span)]
        for number, part in enumerate(parts, 1):
            yield Chunk(place, local_id if number == 1 else f"{local_id}@{number}", part)


def _own_spans(place: Place, lines: Sequence[str]) -> list[Span]:
    """The place's runs of own lines; its first line where others hold them all.

    Runs after the first are left out below MIN_GAP_CHARACTERS other than white space: closing braces and the like.
    """
    runs = [trimmed_span(lines, first, last + 1, 1) for first, last in place.own_rows()]
    spans = [span for span in runs if span is not None]
    if not spans:
        rows = range(place.first_row, place.last_row + 1)
        row = next(row for row in rows if lines[row].strip())
        spans = [Span(lines[row].removesuffix("\n").removesuffix("\r"), row + 1, row + 1)]
    return spans[:1] + [span for span in spans[1:] if len("".join(span.text.split())) >= MIN_GAP_CHARACTERS]


def _cut(syntax: Syntax, node: Node, span: Span) -> tuple[Span, ...]:
    if len(span.text) <= MAX_CHUNK_CHARACTERS:
        return (span,)
    return split_lines(span.text, span.start_line, _boundaries(syntax, node, span))


def _boundaries(syntax: Syntax, node: Node, span: Span) -> list[int]:
    """The lines of `span` on which a statement or member of `node` starts, going into those that are too long.

    A comment stays with what follows it.
    """
    boundaries: list[int] = []
    pending = [node]
    while pending:
        last_row, after_comment = -1, False
        for child in pending.pop().children:
            first_row = child.start_point.row
            if span.start_line <= first_row + 1 <= span.end_line and first_row > last_row and not after_comment:
                boundaries.append(first_row + 1)
            if child.end_byte - child.start_byte > MAX_CHUNK_CHARACTERS:
                pending.append(child)
            last_row = end_row(child)
            after_comment = child.type in syntax.leading
    return boundaries
