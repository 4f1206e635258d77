"""Cutting a file's places into the texts of nodes, naming them, and the signatures of declarations."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from groundwire_ingest.tree.chunking import MAX_CHUNK_CHARACTERS, Span, split_lines, trimmed_span
from groundwire_ingest.tree.languages.nodes import end_row
from groundwire_ingest.tree.languages.outline import Declared, ParsedFile
from groundwire_ingest.tree.languages.places import Place
from groundwire_ingest.tree.languages.syntax import Syntax

MAX_SIGNATURE_CHARACTERS = 300

_SIGNATURE_END = " {:;=,"


def signature(parsed: ParsedFile, declared: Declared) -> str:
    """The declaration up to its body on one line, without annotations."""
    start = _after_adornments(parsed.syntax, declared.node).start_byte
    if declared.node.type in parsed.syntax.given:
        start = parsed.source.rfind(b"\n", 0, start) + 1
    end = min(_end(declared), start + 4 * MAX_SIGNATURE_CHARACTERS)
    text = parsed.source[start:end].decode(errors="ignore")
    return " ".join(text.split()).removesuffix("=>").rstrip(_SIGNATURE_END)[:MAX_SIGNATURE_CHARACTERS]


def signature_span(parsed: ParsedFile, declared: Declared) -> Span:
    """The signature indented as it is written, with a sign for the body that is left out.

    Its lines are those of the declaration less its annotations.
    """
    row = _after_adornments(parsed.syntax, declared.node).start_point.row
    line = parsed.lines[row]
    indent = line[: len(line) - len(line.lstrip())]
    text = indent + signature(parsed, declared) + (parsed.syntax.elided if declared.shape.body else ";")
    return Span(text, row + 1, end_row(declared.node) + 1)


def _end(declared: Declared) -> int:
    """Where the body starts, or the comment before it."""
    node, body = declared.node, declared.shape.body
    if body is None:
        return node.end_byte
    name = node.child_by_field_name("name")
    comments = (child.start_byte for child in node.children if child.is_extra and name)
    return min(body.start_byte, *(start for start in comments if name and start > name.end_byte), body.start_byte)


def _after_adornments(syntax: Syntax, node: Node) -> Node:
    """The first part of a declaration that is no annotation; the declaration itself where there is none."""
    for child in node.children:
        for part in child.children if child.type == "modifiers" else (child,):
            if part.type not in syntax.adornments:
                return part
    return node


@dataclass(frozen=True, slots=True)
class Chunk:
    """The text of one node. A place's first chunk has the place's own name, a further one `@2`, `@3`, ... after it."""

    place: Place
    local_id: str
    span: Span


class ChunkCutter:
    """Cuts the places of one file; `notices` are the rows of its licence."""

    def __init__(self, parsed: ParsedFile, notices: Container[int]) -> None:
        self._parsed = parsed
        self._syntax = parsed.syntax
        self._lines = parsed.lines
        self._notices = notices
        self._owned: defaultdict[str, list[Declared]] = defaultdict(list)

    def cut(self, places: Sequence[Place]) -> Iterator[Chunk]:
        """The chunks of a file place by place, each in the order of its lines; `places` starts with the file's.

        A place that holds others is an outline: its own lines, with the signatures of the others in their places, and
        short constants and variables as they are. The
        signatures of a type's members outside of it, in the same file, come after it. A
        file with only imports before its types has no chunk; those lines are the last ones of its first type, less its
        licence. A symbol that the file declares again gets `~2`, `~3`, ... in the order of the declarations.
        """
        file, *declared = places
        for place in declared:
            if place.declared is not None and place.declared.shape.owner:
                self._owned[place.declared.shape.owner].append(place.declared)
        header = self._header_rows(file)
        if not self._is_mere_header(file, header):
            header = []
            declared = [file, *declared]
        header = [row for row in header if row not in self._notices]
        times_seen: Counter[str] = Counter()
        for place in declared:
            local_id, node = self._parsed.file.path, self._parsed.root
            if place.declared is not None:
                symbol, node = place.declared.symbol, place.declared.node
                times_seen[symbol] += 1
                local_id += f"#{symbol}" + (f"~{times_seen[symbol]}" if times_seen[symbol] > 1 else "")
            parts = self._with_owned(place, self._parts(place, node, header if place is declared[0] else ()))
            for number, part in enumerate(parts, 1):
                yield Chunk(place, local_id if number == 1 else f"{local_id}@{number}", part)

    def _with_owned(self, place: Place, parts: Sequence[Span]) -> Sequence[Span]:
        """The texts of a place, the last one with the signatures of the members outside of it."""
        is_type = place.declared is not None and place.declared.shape.construct == "type"
        owned = self._owned.get(place.declared.symbol, []) if place.declared is not None and is_type else []
        signatures = [signature_span(self._parsed, item).text for item in owned]
        text = "\n".join([parts[-1].text, *signatures])
        if not signatures or len(text) > MAX_CHUNK_CHARACTERS:
            return parts
        return [*parts[:-1], Span(text, parts[-1].start_line, parts[-1].end_line)]

    def _header_rows(self, file: Place) -> list[int]:
        """The rows of the file's own that hold an import, the name of a namespace, a directive or a comment."""
        rows: set[int] = set()
        pending = [self._parsed.root]
        while pending:
            for child in pending.pop().children:
                opens, body = self._syntax.namespace(child) is not None, child.child_by_field_name("body")
                is_comment = child.type in self._syntax.leading and child.is_extra
                if opens and body is not None:
                    rows.update(range(child.start_point.row, body.start_point.row + 1))
                    pending.append(body)
                elif opens or is_comment or child.type in self._syntax.headers:
                    rows.update(range(child.start_point.row, end_row(child) + 1))
        return [row for row in file.own_rows() if row in rows]

    def _is_mere_header(self, file: Place, header: Sequence[int]) -> bool:
        """True if the file has types and nothing else of its own."""
        inner = [place.declared for place in file.inner if place.declared is not None]
        if not inner or any(item.shape.construct != "type" for item in inner):
            return False
        own_lines = [self._lines[row] for row in set(file.own_rows()) - set(header)]
        directive = self._syntax.directive
        said = (line for line in own_lines if not directive or not line.lstrip().startswith(directive))
        return not any(character.isalnum() for line in said for character in line)

    def _parts(self, place: Place, node: Node, header: Sequence[int]) -> Sequence[Span]:
        """The texts of a place; its first line where others hold them all."""
        if not place.inner:
            span = trimmed_span(self._lines, place.first_row, place.last_row + 1, 1)
            if span is not None and not header:
                return self._cut(node, span)
        parts = list(_joined(self._outline(place)))
        header_text = "".join(self._lines[row] for row in header).strip()
        if parts and header_text:
            text = f"{parts[-1].text}\n\n{header_text}"
            fits = len(text) <= MAX_CHUNK_CHARACTERS
            last = Span(text if fits else parts[-1].text, parts[-1].start_line, parts[-1].end_line)
            parts = [*parts[:-1], last] if fits else [*parts, Span(header_text, header[0] + 1, header[-1] + 1)]
        return parts or [next(self._own(place.first_row, place.last_row))]

    def _outline(self, place: Place) -> Iterator[Span]:
        """The place's own lines, and of each place within it the signature, one after the other."""
        row = place.first_row
        for inner in place.inner:
            if inner.first_row > row:
                yield from self._own(row, inner.first_row - 1)
            if inner.declared is not None and inner.is_short_variable:
                yield from self._own(inner.declared.node.start_point.row, inner.last_row)
            elif inner.declared is not None:
                yield signature_span(self._parsed, inner.declared)
            row = inner.last_row + 1
        yield from self._own(row, place.last_row)

    def _own(self, first: int, last: int) -> Iterator[Span]:
        for row in range(first, last + 1):
            line = self._lines[row].removesuffix("\n").removesuffix("\r")
            if line.strip():
                yield Span(line, row + 1, row + 1)

    def _cut(self, node: Node, span: Span) -> Sequence[Span]:
        if len(span.text) <= MAX_CHUNK_CHARACTERS:
            return (span,)
        return split_lines(span.text, span.start_line, self._boundaries(node, span))

    def _boundaries(self, node: Node, span: Span) -> list[int]:
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
                after_comment = child.type in self._syntax.leading
        return boundaries


def _joined(lines: Iterator[Span]) -> Iterator[Span]:
    """The spans as texts of at most MAX_CHUNK_CHARACTERS, longer ones by themselves."""
    held: list[Span] = []
    length = 0
    for line in lines:
        if held and length + len(line.text) > MAX_CHUNK_CHARACTERS:
            yield _one(held)
            held, length = [], 0
        held.append(line)
        length += len(line.text) + 1
    if held:
        yield _one(held)


def _one(lines: Sequence[Span]) -> Span:
    text = "\n".join(line.text for line in lines)
    return Span(text, lines[0].start_line, max(line.end_line for line in lines))
