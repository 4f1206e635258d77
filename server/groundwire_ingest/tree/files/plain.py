"""What has no structure to go by: plain text, style sheets, tables."""

import re

from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.chunk_writer import ChunkPlace, ChunkWriter
from groundwire_ingest.tree.chunking import lines_of, trimmed_span
from groundwire_ingest.tree.files.languages import chunk_class
from groundwire_ingest.tree.files.lexer import numbered
from groundwire_ingest.tree.files.parts import write_parts
from groundwire_ingest.tree.files.reading import FileReading, PathReference
from groundwire_ingest.tree.model import FileAnalysis, SourceFile

MAX_TEXT_CHARACTERS = 500_000

_PRIVATE_KEY = re.compile(r"-----BEGIN (?:[A-Z ]+ )?PRIVATE KEY-----")
_STYLE_IMPORT = re.compile(
    r"^[ \t]*@(?:import|use|forward)[ \t]+(?:url\([ \t]*)?[\"']([^\"'\n]{1,300})[\"']", re.MULTILINE
)
_STYLE_SUFFIXES = ("", ".css", ".scss", ".sass", ".less")


def read_text(file: SourceFile) -> FileReading:
    """The file as a whole, or cut at blank lines where it is long.

    Text of more than MAX_TEXT_CHARACTERS is data that a program wrote and is skipped; so is a private key.
    """
    if _PRIVATE_KEY.search(file.text):
        return _skipped(file, "holds a private key; secrets are not read")
    if len(file.text) > MAX_TEXT_CHARACTERS:
        return _skipped(
            file, f"{len(file.text)} characters; plain text of more than {MAX_TEXT_CHARACTERS} is taken for data"
        )
    return FileReading(write_parts(file, ()))


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
