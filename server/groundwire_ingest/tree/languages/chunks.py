"""Cutting a file's places into the texts of nodes, naming them, and the signatures of declarations."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from groundwire_ingest.tree.chunking import MAX_CHUNK_CHARACTERS, Span, split_lines, trimmed_span
from groundwire_ingest.tree.languages.nodes import end_row
from groundwire_ingest.tree.languages.outline import Declared
from groundwire_ingest.tree.languages.places import Place
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


@dataclass(frozen=True, slots=True)
class Chunk:
    """The text of one node. A place's first chunk has the place's own name, a further one `@2`, `@3`, ... after it."""

    place: Place
    local_id: str
    span: Span


class ChunkCutter:
    """Cuts the places of one file; `source` is its text in UTF-8, `lines` the same with their ends.

    `notices` are the rows of its licence.
    """

    def __init__(
        self, syntax: Syntax, path: str, root: Node, source: bytes, lines: Sequence[str], notices: Container[int]
    ) -> None:
        self._syntax = syntax
        self._path = path
        self._root = root
        self._source = source
        self._lines = lines
        self._notices = notices
        self._owned: defaultdict[str, list[Declared]] = defaultdict(list)

    def cut(self, places: Sequence[Place]) -> Iterator[Chunk]:
        """The chunks of a file place by place, each in the order of its lines; `places` starts with the file's.

        A place that holds others is an outline: its own lines, with the signatures of the others in their places. The
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
            local_id, node = self._path, self._root
            if place.declared is not None:
                symbol, node = place.declared.symbol, place.declared.node
                times_seen[symbol] += 1
                local_id = f"{self._path}#{symbol}" + (f"~{times_seen[symbol]}" if times_seen[symbol] > 1 else "")
            parts = self._with_owned(place, self._parts(place, node, header if place is declared[0] else ()))
            for number, part in enumerate(parts, 1):
                yield Chunk(place, local_id if number == 1 else f"{local_id}@{number}", part)

    def _with_owned(self, place: Place, parts: Sequence[Span]) -> Sequence[Span]:
        """The texts of a place, the last one with the signatures of the members outside of it."""
        declared = place.declared
        is_type = declared is not None and declared.shape.construct == "type"
        owned = self._owned.get(declared.symbol, []) if declared is not None and is_type else []
        signatures = [signature_text(self._syntax, item, self._source, self._lines) for item in owned]
        text = "\n".join([parts[-1].text, *signatures])
        if not signatures or len(text) > MAX_CHUNK_CHARACTERS:
            return parts
        return [*parts[:-1], Span(text, parts[-1].start_line, parts[-1].end_line)]

    def _header_rows(self, file: Place) -> list[int]:
        """The rows of the file's own that hold an import, the name of a namespace, a directive or a comment."""
        rows: set[int] = set()
        pending = [self._root]
        while pending:
            for child in pending.pop().children:
                body = child.child_by_field_name("body")
                if self._syntax.namespace(child) is not None and body is not None:
                    rows.update(range(child.start_point.row, body.start_point.row + 1))
                    pending.append(body)
                elif self._is_header(child):
                    rows.update(range(child.start_point.row, end_row(child) + 1))
        own = (row for first, last in file.own_rows() for row in range(first, last + 1))
        return [row for row in own if row in rows]

    def _is_header(self, node: Node) -> bool:
        syntax = self._syntax
        is_comment = node.type in syntax.leading and node.is_extra
        return is_comment or node.type in syntax.headers or syntax.namespace(node) is not None

    def _is_mere_header(self, file: Place, header: Sequence[int]) -> bool:
        """True if the file has types and nothing else of its own."""
        inner = [place.declared for place in file.inner if place.declared is not None]
        if not inner or any(item.shape.construct != "type" for item in inner):
            return False
        own = {row for first, last in file.own_rows() for row in range(first, last + 1)} - set(header)
        return not any(self._says_something(self._lines[row]) for row in own)

    def _says_something(self, line: str) -> bool:
        directive = self._syntax.directive
        is_directive = bool(directive) and line.lstrip().startswith(directive)
        return not is_directive and any(character.isalnum() for character in line)

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
        return parts or [self._first_line(place)]

    def _outline(self, place: Place) -> Iterator[Span]:
        """The place's own lines, and of each place within it the signature, one after the other."""
        row = place.first_row
        for inner in place.inner:
            if inner.first_row > row:
                yield from self._own(row, inner.first_row - 1)
            if inner.declared is not None:
                first = signature_row(self._syntax, inner.declared.node)
                yield Span(
                    signature_text(self._syntax, inner.declared, self._source, self._lines),
                    first + 1,
                    inner.last_row + 1,
                )
            row = inner.last_row + 1
        yield from self._own(row, place.last_row)

    def _own(self, first: int, last: int) -> Iterator[Span]:
        for row in range(first, last + 1):
            line = self._lines[row].removesuffix("\n").removesuffix("\r")
            if line.strip():
                yield Span(line, row + 1, row + 1)

    def _first_line(self, place: Place) -> Span:
        rows = range(place.first_row, place.last_row + 1)
        row = next(row for row in rows if self._lines[row].strip())
        return Span(self._lines[row].removesuffix("\n").removesuffix("\r"), row + 1, row + 1)

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
