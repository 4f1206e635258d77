"""From the outline of a file to nodes: small files whole, long ones by their parts, longer parts by theirs."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import PurePosixPath

from groundwire_ingest.records import SkippedFile, SourceNode
from groundwire_ingest.tree.chunk_writer import ChunkClass, ChunkPlace, ChunkWriter
from groundwire_ingest.tree.chunking import MAX_CHUNK_CHARACTERS, Span, lines_of, split_lines, trimmed_span
from groundwire_ingest.tree.file_analysis import FileAnalysis, SourceFile
from groundwire_ingest.tree.files.languages import chunk_class
from groundwire_ingest.tree.notices import is_notice

WHOLE_UP_TO = 1500
PART_FROM = 200
MAX_NAME_CHARACTERS = 200
PATH_SEPARATOR = " > "


@dataclass(frozen=True, slots=True)
class Part:
    """A named stretch of whole lines, 1-based and inclusive; `path` are the names that lead to it, its own last.

    With `is_own` it is a node of its own however short what it is inside of.
    """

    path: tuple[str, ...]
    start_line: int
    end_line: int
    is_own: bool = False


@dataclass(slots=True)
class _Whole:
    """The file, or a part of it, with the parts directly inside and its place."""

    path: tuple[str, ...]
    start_line: int
    end_line: int
    is_own: bool = False
    parts: list["_Whole"] = field(default_factory=list)
    container: SourceNode | None = None


def write_parts(
    file: SourceFile,
    parts: Sequence[Part],
    *,
    cuts: Sequence[int] = (),
    comments: tuple[str, ...] = (),
    skipped: tuple[SkippedFile, ...] = (),
    fields: ChunkClass | None = None,
) -> FileAnalysis:
    """The nodes of a file and a Contains edge from each to the parts of it that are nodes.

    A text of at most WHOLE_UP_TO characters, or without parts, is one node, less those of its parts that are nodes
    anyway. Anything longer is its outline, and its parts of at least PART_FROM characters are nodes. An outline is the
    text outside of such parts, and the first line of each part. A part with almost no text of its own, such as a
    `<div>` around all others, is no node; its inner parts are. A part counts that begins below the first line of what
    it is inside of and below the end of the part before it. It takes in the lines directly above that begin with one of
    `comments`, but the first part takes in no licence. A long text without parts is cut before one of the lines `cuts`,
    where a part would begin, or after a blank line. `fields` are the common fields of the nodes, unless those of the
    file's language.

    The file's own node has the local id `<path>`, its symbol is the file's name; a part's are `<path>#<a.b>` and `a.b`.
    """
    if not any(map(str.isalnum, file.text)):
        return FileAnalysis(skipped=(*skipped, SkippedFile(file.path, "holds no word to search for")))
    lines = lines_of(file.text)
    offsets = [0, *accumulate(map(len, lines))]
    boundaries = sorted({*cuts, *(part.start_line for part in parts)})
    writer = ChunkWriter(fields or chunk_class(file))
    pending = [_nested(lines, parts, comments)]
    while pending:
        whole = pending.pop()
        whole.parts = _shown(whole, offsets)
        if whole.parts:
            spans = _outline(whole, lines)
        else:
            inside = boundaries[bisect_right(boundaries, whole.start_line) : bisect_right(boundaries, whole.end_line)]
            text = "".join(lines[whole.start_line - 1 : whole.end_line])
            spans = split_lines(text, whole.start_line, inside)
        node = _write(writer, file.path, whole, spans)
        for part in reversed(whole.parts):
            part.container = node
            pending.append(part)
    return writer.analysis(skipped)


def _nested(lines: Sequence[str], parts: Sequence[Part], comments: tuple[str, ...]) -> _Whole:
    """The file with its parts inside each other as their lines are; those that overlap are left out."""
    root = _Whole((), 1, len(lines))
    around = [root]
    for part in sorted(parts, key=lambda part: (part.start_line, -part.end_line)):
        while len(around) > 1 and part.start_line > around[-1].end_line:
            around.pop()
        whole = around[-1]
        floor = whole.parts[-1].end_line if whole.parts else (whole.start_line if len(around) > 1 else 0)
        end = min(part.end_line, len(lines))
        if part.start_line > floor and end <= whole.end_line and part.start_line <= end:
            start = part.start_line
            while comments and start - 1 > floor and lines[start - 2].lstrip().startswith(comments):
                start -= 1
            if whole is root and not root.parts and is_notice("".join(lines[start - 1 : part.start_line - 1])):
                start = part.start_line
            inner = _Whole(tuple(name[:MAX_NAME_CHARACTERS] for name in part.path), start, end, part.is_own)
            whole.parts.append(inner)
            around.append(inner)
    return root


def _shown(whole: _Whole, offsets: Sequence[int]) -> list[_Whole]:
    """The parts that are nodes, in place of a part whose outline would be shorter than PART_FROM those inside of it."""
    is_long = _size(whole, offsets) > WHOLE_UP_TO
    pending = whole.parts[::-1]
    shown: list[_Whole] = []
    while pending:
        part = pending.pop()
        size = _size(part, offsets)
        if part.is_own or (is_long and PART_FROM <= size <= WHOLE_UP_TO):
            shown.append(part)
        elif is_long and size > WHOLE_UP_TO:
            inside = [_size(item, offsets) for item in part.parts]
            is_shell = size - sum(length for length in inside if length >= PART_FROM) < PART_FROM
            if is_shell:
                pending.extend(part.parts[::-1])
            else:
                shown.append(part)
    return shown


def _size(whole: _Whole, offsets: Sequence[int]) -> int:
    return offsets[whole.end_line] - offsets[whole.start_line - 1]


def _outline(whole: _Whole, lines: Sequence[str]) -> tuple[Span, ...]:
    """The whole's own lines and the first line of each of its parts, in spans of at most MAX_CHUNK_CHARACTERS.

    The first span has the lines of the whole, the others those that they come from.
    """
    kept: list[int] = []
    line = whole.start_line
    for part in whole.parts:
        kept.extend(range(line, part.start_line + 1))
        line = part.end_line + 1
    kept.extend(range(line, whole.end_line + 1))
    spans: list[Span] = []
    taken: list[int] = []
    size = 0
    for number in [*kept, 0]:
        length = len(lines[number - 1]) if number else 0
        if taken and (not number or size + length > MAX_CHUNK_CHARACTERS):
            span = trimmed_span([lines[row - 1] for row in taken], 0, len(taken), 1)
            if span is not None:
                first, last = taken[span.start_line - 1], taken[span.end_line - 1]
                spans.append(Span(span.text, first, last) if spans else Span(span.text, first, whole.end_line))
            taken, size = [], 0
        taken.append(number)
        size += length
    return tuple(spans)


def _write(writer: ChunkWriter, path: str, whole: _Whole, spans: Sequence[Span]) -> SourceNode | None:
    symbol = ".".join(whole.path)
    above = PATH_SEPARATOR.join((path, *whole.path[:-1]))
    place = ChunkPlace(PATH_SEPARATOR.join(whole.path), above, PATH_SEPARATOR.join((path, *whole.path)))
    wanted = f"{path}#{symbol}" if symbol else path
    node = writer.write(wanted, symbol or PurePosixPath(path).name, spans, {}, place)
    if node is not None and whole.container is not None:
        writer.contain(whole.container, node)
    return node
