"""Files that are read line by line: TOML and the families of INI, shell scripts, Makefiles and .http files."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from groundwire_ingest.tree.chunking import lines_of
from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.files.commands import command_references, entry_points
from groundwire_ingest.tree.files.facts_about_code import Setting
from groundwire_ingest.tree.files.lexer import DOUBLE_QUOTED, HASH_COMMENTS, Lexicon, unquoted
from groundwire_ingest.tree.files.parts import Part, write_parts
from groundwire_ingest.tree.files.reading import FileReading, PathReference

_FUNCTION = re.compile(r"([ \t]*)(?:function[ \t]+([\w:.-]+)(?:[ \t]*\(\))?|([\w:.-]+)[ \t]*\(\))[ \t]*(\{?)(.*)")
_HEREDOC = re.compile(r"<<(-?)[ \t]*([\"']?)([A-Za-z_]\w*)\2")
_SOURCED = re.compile(r"[ \t]*(?:\.|source|bash|sh|exec)[ \t]+[\"']?(?:\$\{?\w+\}?/)?([\w./-]+\.(?:sh|bash|zsh))\b")
_TARGET = re.compile(r"([^\s:#=$(][^:#=\n]*+)::?(?![:=])")
_DEFINE = re.compile(r"(?:override[ \t]+|export[ \t]+)*define[ \t]+([\w.-]+)")
_INCLUDE = re.compile(r"[-s]?include[ \t]+([\w./ -]+)")
_REQUEST = re.compile(r"(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|TRACE|CONNECT|GRAPHQL|GRPC|WEBSOCKET)[ \t]+(\S+)")
_SEPARATOR = re.compile(r"###+[ \t]*(.*)")


def read_shell(file: SourceFile) -> FileReading:
    """Each function as a part: from its name to the first `}` at the same depth; none in a here-document.

    A file that is sourced or run by its path is an `Imports` reference, any other file that a line names a reference.
    """
    lines = lines_of(file.text)
    code = set(_shell_lines(lines))
    parts: list[Part] = []
    opened: dict[str, tuple[str, int]] = {}
    references: list[PathReference] = []
    for line in sorted(code):
        text = lines[line - 1]
        sourced = _SOURCED.match(text)
        function = _FUNCTION.match(text)
        if sourced is not None:
            references.append(PathReference(file.path, (sourced.group(1),), "Imports", line))
        if function is not None and not function.group(5).rstrip().endswith("}"):
            opened[function.group(1)] = (function.group(2) or function.group(3), line)
        elif text.lstrip().startswith("}"):
            indent = text[: len(text) - len(text.lstrip())]
            if indent in opened:
                name, start = opened.pop(indent)
                parts.append(Part((name,), start, line))
    imported = {(reference.line, reference.written) for reference in references}
    named = command_references(file.path, ((line, lines[line - 1]) for line in sorted(code)))
    references += (reference for reference in named if (reference.line, reference.written) not in imported)
    return FileReading(write_parts(file, parts, comments=("#",)), tuple(references))


def read_make(file: SourceFile) -> FileReading:
    """Each target, or list of targets, with its recipe as a part, and each `define`. Recipes refer to files."""
    lines = lines_of(file.text)
    parts: list[Part] = []
    references: list[PathReference] = []
    name, start, last = "", 0, 0
    in_define = False
    for line, text in enumerate([*lines, "."], start=1):
        if in_define:
            last, in_define = line, not text.startswith("endef")
            continue
        if name and (text.startswith("\t") or not text.strip() or lines[line - 2].rstrip().endswith("\\")):
            last = line if text.strip() else last
            continue
        if name and last > start:
            parts.append(Part((name,), start, last))
        target, define, include = _TARGET.match(text), _DEFINE.match(text), _INCLUDE.match(text)
        name, start, last = "", line, line
        if include is not None:
            references.extend(PathReference(file.path, (path,), "Imports", line) for path in include.group(1).split())
        elif define is not None:
            name, in_define = define.group(1), True
        elif target is not None and not target.group(1).startswith("."):
            name = " ".join(target.group(1).split())
    recipes = ((line, text) for line, text in enumerate(lines, start=1) if text.startswith("\t"))
    references += command_references(file.path, recipes)
    return FileReading(write_parts(file, parts, comments=("#",)), tuple(references))


def read_http(file: SourceFile) -> FileReading:
    """Each request as a part: the text after `###`, or else its method and URL; variables belong to the file."""
    lines = lines_of(file.text)
    starts: list[tuple[int, tuple[str, ...]]] = []
    is_open = False
    for line, text in enumerate(lines, start=1):
        separator, request = _SEPARATOR.match(text), _REQUEST.match(text)
        if separator is not None:
            starts.append((line, (separator.group(1).strip(),)))
            is_open = True
        elif request is not None:
            first, (stated,) = starts.pop() if is_open else (line, ("",))
            starts.append((first, (stated or f"{request.group(1)} {request.group(2)}",)))
            is_open = False
    return FileReading(write_parts(file, [part for part in _sections(starts, len(lines)) if part.path[0]]))


def _shell_lines(lines: Sequence[str]) -> Iterator[int]:
    """The lines outside of here-documents."""
    ends: list[tuple[bool, str]] = []
    for line, text in enumerate(lines, start=1):
        if ends:
            is_indented, mark = ends[0]
            if (text.lstrip("\t") if is_indented else text).rstrip("\r\n") == mark:
                ends.pop(0)
            continue
        yield line
        ends = [(bool(dash), mark) for dash, _, mark in _HEREDOC.findall(text.partition("#")[0])]


_TOML = Lexicon.of(
    HASH_COMMENTS,
    rf'"""(?s:(?:[^"\\]|\\.|"(?!""))*+)(?:"""+)?|\'\'\'(?:[^\']|\'(?!\'\'))*+(?:\'\'\'+)?|{DOUBLE_QUOTED}|\'[^\'\n]*+\'?',
    r"[\w.+:-]+",
)
_TOML_NAME = r"(?:[\w-]+|\"[^\"\n]*\"|'[^'\n]*')"
_Matcher: TypeAlias = Callable[[str], re.Match[str] | None]
_TOML_HEADER = re.compile(rf"\s*\[\[?[ \t]*({_TOML_NAME}(?:[ \t]*\.[ \t]*{_TOML_NAME})*+)")
_TOML_KEY = re.compile(rf"[ \t]*({_TOML_NAME}(?:[ \t]*\.[ \t]*{_TOML_NAME})*+)[ \t]*=[ \t]*(.*)")
_TOML_NAMES = re.compile(_TOML_NAME)
_INI_HEADER = re.compile(r"[ \t]*\[([^\]\n]+)\]")
_INI_KEY = re.compile(r"(?:export[ \t]+)?([\w.${}/@-]+)[ \t]*[=:][ \t]*(.*)")


def read_toml(file: SourceFile) -> FileReading:
    """Each table (`[tool.pytest]`) as a part with its dotted name, and every key as a setting.

    A bracket or a line that only looks like a header, inside an array or a text of several lines, is none.
    """
    return _read_keys(file, _logical_lines(file.text), (_TOML_HEADER.match, _TOML_KEY.match), _names, ("#",))


def read_ini(file: SourceFile) -> FileReading:
    """Each section in brackets as a part, every key of INI, .properties and environment examples as a setting."""
    numbers = range(1, len(lines_of(file.text)) + 1)
    return _read_keys(file, numbers, (_INI_HEADER.match, _INI_KEY.match), lambda name: (name.strip(),), ("#", ";"))


def _read_keys(
    file: SourceFile,
    numbers: Iterable[int],
    readers: tuple[_Matcher, _Matcher],
    names: Callable[[str], tuple[str, ...]],
    comments: tuple[str, ...],
) -> FileReading:
    """Sections and settings of the lines `numbers`; the readers match a header, and a key with its value.

    A value may name the module of an entry point.
    """
    lines = lines_of(file.text)
    headers: list[tuple[int, tuple[str, ...]]] = []
    settings: list[Setting] = []
    for line in numbers:
        header, key = (read(lines[line - 1]) for read in readers)
        if header is not None:
            headers.append((line, names(header.group(1))))
        elif key is not None:
            section = headers[-1][1] if headers else ()
            settings.append(Setting((*section, *names(key.group(1))), line, _value(key.group(2))))
    analysis = write_parts(file, _sections(headers, len(lines)), comments=comments)
    named = (reference for item in settings for reference in entry_points(file.path, item.line, item.value))
    return FileReading(analysis, tuple(named), settings=tuple(settings))


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
