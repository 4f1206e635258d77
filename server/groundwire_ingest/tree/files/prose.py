"""Plain text, style sheets and tables, and reStructuredText and AsciiDoc as sections."""

import re
from collections.abc import Sequence

from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.change_logs import version_sections
from groundwire_ingest.tree.chunk_writer import ChunkClass, ChunkPlace, ChunkWriter
from groundwire_ingest.tree.chunking import lines_of, trimmed_span
from groundwire_ingest.tree.file_analysis import FileAnalysis, SourceFile
from groundwire_ingest.tree.files.languages import chunk_class
from groundwire_ingest.tree.files.lexer import numbered
from groundwire_ingest.tree.files.parts import write_parts
from groundwire_ingest.tree.files.reading import FileReading, PathReference
from groundwire_ingest.tree.sections import Heading, corpus_type_of, plain_title, write_sections

MAX_TEXT_CHARACTERS = 500_000

_PRIVATE_KEY = re.compile(r"-----BEGIN (?:[A-Z ]+ )?PRIVATE KEY-----")
_STYLE_IMPORT = re.compile(
    r"^[ \t]*@(?:import|use|forward)[ \t]+(?:url\([ \t]*)?[\"']([^\"'\n]{1,300})[\"']", re.MULTILINE
)
_STYLE_SUFFIXES = ("", ".css", ".scss", ".sass", ".less")


def read_text(file: SourceFile, fields: ChunkClass | None = None) -> FileReading:
    """The file as a whole, or cut at blank lines where it is long.

    `fields` are the common fields of the nodes, unless those of the file's language.
    Text of more than MAX_TEXT_CHARACTERS is data that a program wrote and is skipped; so is a private key.
    """
    if _PRIVATE_KEY.search(file.text):
        return _skipped(file, "holds a private key; secrets are not read")
    if len(file.text) > MAX_TEXT_CHARACTERS:
        return _skipped(
            file, f"{len(file.text)} characters; plain text of more than {MAX_TEXT_CHARACTERS} is taken for data"
        )
    return FileReading(write_parts(file, (), fields=fields))


def read_style(file: SourceFile) -> FileReading:
    """A style sheet, cut where a rule begins at the margin; what it imports are `Imports` references."""
    cuts = [line for line, text in enumerate(lines_of(file.text), start=1) if text[:1] not in " \t\r\n}*"]
    references: list[PathReference] = []
    for match, line in numbered(_STYLE_IMPORT, file.text):
        folder, _, name = match.group(1).rpartition("/")
        lead = f"{folder}/" if folder else ""
        written = tuple(f"{lead}{mark}{name}{suffix}" for suffix in _STYLE_SUFFIXES for mark in ("", "_"))
        references.append(PathReference(file.path, written, "Imports", line))
    return FileReading(write_parts(file, (), cuts=cuts), tuple(references))


def read_table(file: SourceFile) -> FileReading:
    """The header of a table, its first line that is not blank; the metadata `rows` counts the lines below it."""
    lines = lines_of(file.text)
    first = next(row for row, line in enumerate(lines) if line.strip())
    rows = sum(1 for line in lines[first + 1 :] if line.strip())
    writer = ChunkWriter(chunk_class(file))
    span = trimmed_span(lines, first, first + 1, 1)
    if span is not None:
        name = file.path.rpartition("/")[2]
        writer.write(file.path, name, (span,), {"rows": rows}, ChunkPlace(context_prefix=f"{file.path} > {rows} rows"))
    return FileReading(writer.analysis())


def _skipped(file: SourceFile, why: str) -> FileReading:
    return FileReading(FileAnalysis(skipped=(SkippedFile(file.path, why),)))


_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1+")
_ROLE = re.compile(r":[\w:.+-]{1,60}:`([^`]{1,300})`")
_RST_FILE = re.compile(r"\.\.[ \t]+(?:include|literalinclude|csv-table)::[ \t]*(\S+)")
_BLOCK_FENCE = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}+|\+{4,}|/{4,}|`{3,}|\|={3,})[ \t]*\w*")
_ASCIIDOC_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)")
_ASCIIDOC_FILE = re.compile(r"include::([^\[\n]{1,300})\[")
_KINDS = {"restructuredtext": "rst", "asciidoc": "adoc"}


def read_restructured_text(file: SourceFile) -> FileReading:
    """Sections by their adorned titles, the style met first being the outermost; included files are references."""
    lines = lines_of(file.text)
    return _reading(file, lines, _rst_headings(lines), _RST_FILE)


def read_asciidoc(file: SourceFile) -> FileReading:
    """Sections by `=` titles outside of delimited blocks; included files are references."""
    lines = lines_of(file.text)
    return _reading(file, lines, _asciidoc_headings(lines), _ASCIIDOC_FILE)


def _reading(
    file: SourceFile, lines: Sequence[str], headings: Sequence[Heading], included: re.Pattern[str]
) -> FileReading:
    kind = _KINDS[file.language]
    chunk_class = ChunkClass(file.path, kind, file.language, "doc", corpus_type_of(file.path), document_id=file.path)
    writer = ChunkWriter(chunk_class)
    headings, end, left_out = version_sections(file.path, lines, headings)
    write_sections(writer, file.path, lines[:end], headings, ())
    inclusions = ((included.match(text.lstrip()), line) for line, text in enumerate(lines, start=1))
    references = tuple(
        PathReference(file.path, (match.group(1),), "Imports", line) for match, line in inclusions if match is not None
    )
    return FileReading(writer.analysis(left_out), references)


def _rst_headings(lines: Sequence[str]) -> list[Heading]:
    """A title is a line at the margin with a line of one repeated mark below it that is as long, or one above as well.

    Before it is a blank line, another title or nothing; a line that begins with a blank is a title only between
    two equal adornments.
    """
    rows = [line.rstrip() for line in lines]
    headings: list[Heading] = []
    styles: dict[tuple[str, bool], int] = {}
    row = 0
    is_free = True
    while row < len(rows):
        over = _adornment(rows, row) if is_free else ""
        title = row + bool(over)
        under = _adornment(rows, title + 1)
        text = rows[title].strip() if title < len(rows) else ""
        is_title = bool(under) and bool(text) and len(rows[title + 1]) >= len(text) and not _adornment(rows, title)
        is_title &= (over == under and rows[row] == rows[title + 1]) if over else is_free and text == rows[title]
        if is_title:
            level = styles.setdefault((under, bool(over)), len(styles) + 1)
            headings.append(Heading(level, plain_title(_ROLE.sub(r"\1", text).replace("`", "")), row))
            row = title + 1
        is_free = is_title or not rows[row]
        row += 1
    return headings


def _adornment(rows: Sequence[str], row: int) -> str:
    """The mark that makes up the row, at least twice; "" for any other row and after the last."""
    match = _ADORNMENT.fullmatch(rows[row]) if row < len(rows) else None
    return match.group(1) if match is not None else ""


def _asciidoc_headings(lines: Sequence[str]) -> list[Heading]:
    headings: list[Heading] = []
    fence = ""
    for row, line in enumerate(lines):
        text = line.rstrip()
        mark = _BLOCK_FENCE.fullmatch(text)
        heading = _ASCIIDOC_HEADING.fullmatch(text)
        if fence:
            fence = "" if mark is not None and mark.group(1) == fence else fence
        elif mark is not None:
            fence = mark.group(1)
        elif heading is not None:
            headings.append(Heading(len(heading.group(1)), plain_title(heading.group(2)), row))
    return headings
