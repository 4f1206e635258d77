"""TOML and the families of INI: sections in brackets with keys and values below them."""

import re
from collections.abc import Iterator, Sequence

from groundwire_ingest.tree.chunking import lines_of
from groundwire_ingest.tree.files.facts import Setting
from groundwire_ingest.tree.files.lexer import DOUBLE_QUOTED, HASH_COMMENTS, Lexicon, unquoted
from groundwire_ingest.tree.files.parts import Part, write_parts
from groundwire_ingest.tree.files.reading import FileReading
from groundwire_ingest.tree.model import SourceFile

_TOML = Lexicon.of(
    HASH_COMMENTS,
    rf'"""(?s:(?:[^"\\]|\\.|"(?!""))*+)(?:"""+)?|\'\'\'(?:[^\']|\'(?!\'\'))*+(?:\'\'\'+)?|{DOUBLE_QUOTED}|\'[^\'\n]*+\'?',
    r"[\w.+:-]+",
)
_TOML_NAME = r"(?:[\w-]+|\"[^\"\n]*\"|'[^'\n]*')"
_TOML_HEADER = re.compile(rf"\s*\[\[?[ \t]*({_TOML_NAME}(?:[ \t]*\.[ \t]*{_TOML_NAME})*+)")
_TOML_KEY = re.compile(rf"[ \t]*({_TOML_NAME}(?:[ \t]*\.[ \t]*{_TOML_NAME})*+)[ \t]*=[ \t]*(.*)")
_TOML_NAMES = re.compile(_TOML_NAME)
_INI_HEADER = re.compile(r"[ \t]*\[([^\]\n]+)\]")
_INI_KEY = re.compile(r"(?:export[ \t]+)?([\w.${}/@-]+)[ \t]*[=:][ \t]*(.*)")


def read_toml(file: SourceFile) -> FileReading:
    """Each table (`[tool.pytest]`) as a part with its dotted name, and every key as a setting.

    A bracket or a line that only looks like a header, inside an array or a text of several lines, is none.
    """
    lines = lines_of(file.text)
    headers: list[tuple[int, tuple[str, ...]]] = []
    settings: list[Setting] = []
    for line in _logical_lines(file.text):
        text = lines[line - 1]
        header = _TOML_HEADER.match(text)
        key = None if header else _TOML_KEY.match(text)
        if header is not None:
            headers.append((line, _names(header.group(1))))
        elif key is not None:
            table = headers[-1][1] if headers else ()
            settings.append(Setting((*table, *_names(key.group(1))), line, _value(key.group(2))))
    analysis = write_parts(file, _sections(headers, len(lines)), comments=("#",))
    return FileReading(analysis, settings=tuple(settings))


def read_ini(file: SourceFile) -> FileReading:
    """Each section in brackets as a part, every key of INI, .properties and environment examples as a setting."""
    lines = lines_of(file.text)
    headers: list[tuple[int, tuple[str, ...]]] = []
    settings: list[Setting] = []
    for line, text in enumerate(lines, start=1):
        header = _INI_HEADER.match(text)
        key = None if header else _INI_KEY.match(text)
        if header is not None:
            headers.append((line, (header.group(1).strip(),)))
        elif key is not None:
            section = headers[-1][1] if headers else ()
            settings.append(Setting((*section, key.group(1)), line, _value(key.group(2))))
    analysis = write_parts(file, _sections(headers, len(lines)), comments=("#", ";"))
    return FileReading(analysis, settings=tuple(settings))


def _logical_lines(text: str) -> Iterator[int]:
    """The lines on which no text or array of TOML is open at the start, and which hold something."""
    depth = last_line = 0
    for token in _TOML.tokens(text):
        if token.line > last_line and depth == 0 and token.kind != "comment":
            yield token.line
        last_line = token.end_line
        if token.kind == "mark":
            depth += token.text in "[{"
            depth = max(depth - (token.text in "]}"), 0)


def _sections(headers: Sequence[tuple[int, tuple[str, ...]]], line_count: int) -> list[Part]:
    ends = [*(line - 1 for line, _ in headers[1:]), line_count]
    return [Part(path, line, end) for (line, path), end in zip(headers, ends, strict=False)]


def _names(dotted: str) -> tuple[str, ...]:
    return tuple(unquoted(name) if name[0] in "\"'" else name for name in _TOML_NAMES.findall(dotted))


def _value(text: str) -> str:
    text = text.strip()
    return unquoted(text) if text[:1] in ('"', "'") and text.endswith(text[0]) else text
