"""JSON, with the comments and trailing commas that many tools allow: its keys, and the lines of its values."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.file_analysis import FileAnalysis, SourceFile
from groundwire_ingest.tree.files.facts_about_code import Setting
from groundwire_ingest.tree.files.lexer import DOUBLE_QUOTED, SINGLE_QUOTED, SLASH_COMMENTS, Lexicon, Token, unquoted
from groundwire_ingest.tree.files.parts import Part, write_parts
from groundwire_ingest.tree.files.reading import FileReading, PathReference

MAX_KEY_DEPTH = 8
MAX_DATA_CHARACTERS = 50_000

_LEXICON = Lexicon.of(SLASH_COMMENTS, rf"{DOUBLE_QUOTED}|{SINGLE_QUOTED}", r"[-+\w.]+")
_ESCAPE = re.compile(r"\\(.)")
_FILE_KEYS = frozenset({"$ref", "extends", "path", "project", "main", "types", "import"})
_FILE_VALUE = re.compile(r"\.{0,2}/?[\w@./-]+\.(?:json|[cm]?[jt]sx?|csproj|fsproj|proto|ya?ml)")


@dataclass(slots=True)
class _Container:
    """An open object or array. `path` leads to it; `key` is the name whose value is due, None before a name."""

    is_object: bool
    path: tuple[str, ...]
    line: int
    start: int
    key: str | None = None
    key_line: int = 0
    is_value: bool = False
    entries: int = 0


class _Outline:
    """The results of one pass over the tokens.

    `longest` is the longest array: how many characters it takes and how many objects and arrays are its entries.
    """

    def __init__(self, text: str) -> None:
        self.parts: list[Part] = []
        self.settings: list[Setting] = []
        self.cuts: list[int] = []
        self.longest = (0, 0)
        self._open: list[_Container] = []
        for token in _LEXICON.tokens(text):
            self._take(token)

    def _take(self, token: Token) -> None:
        around = self._open[-1] if self._open else None
        if token.kind == "mark":
            self._mark(token)
        elif token.kind == "comment" or around is None or not around.is_object:
            return
        elif not around.is_value:
            around.key, around.key_line = _name(token), token.line
        elif around.key is not None and len(around.path) < MAX_KEY_DEPTH:
            self.settings.append(Setting((*around.path, around.key), around.key_line, _name(token)))

    def _mark(self, token: Token) -> None:
        around = self._open[-1] if self._open else None
        if token.text in "{[":
            path = around.path if around else ()
            if around is not None and around.is_object and around.key is not None:
                path = (*path, around.key) if len(path) <= MAX_KEY_DEPTH else path
            elif around is not None:
                around.entries += 1
                self.cuts.append(token.line)
            line = around.key_line if around is not None and around.is_object and around.key else token.line
            self._open.append(_Container(token.text == "{", path, line, token.start))
        elif token.text in "}]" and around is not None:
            self._close(token, self._open.pop())
        elif token.text == ":" and around is not None:
            around.is_value = True
        elif token.text == "," and around is not None:
            around.is_value, around.key = False, None

    def _close(self, token: Token, closed: _Container) -> None:
        around = self._open[-1] if self._open else None
        if not closed.is_object and token.start - closed.start > self.longest[0]:
            self.longest = (token.start - closed.start, closed.entries)
        is_named = around is not None and around.is_object and around.key is not None
        if is_named and token.line > closed.line and len(closed.path) <= MAX_KEY_DEPTH:
            self.parts.append(Part(closed.path, closed.line, token.line))


def read_json(file: SourceFile) -> FileReading:
    """The keys with objects and arrays of several lines as parts, and every plain value as a setting.

    A file of more than MAX_DATA_CHARACTERS is data, such as records or coordinates, if one array of objects or arrays
    is more than half of it. It is skipped. Keys deeper than MAX_KEY_DEPTH belong to those above them.
    """
    outline = _Outline(file.text)
    (length, entries), size = outline.longest, len(file.text)
    if size > MAX_DATA_CHARACTERS and entries and length > size / 2:
        why = f"data: more than half of its {size} characters are one array of {entries} entries"
        why += f"; of JSON with more than {MAX_DATA_CHARACTERS}, only what is no such array is read"
        return FileReading(FileAnalysis(skipped=(SkippedFile(file.path, why),)))
    analysis = write_parts(file, outline.parts, cuts=outline.cuts, comments=("//",))
    references = tuple(_references(file.path, outline.settings))
    return FileReading(analysis, references, tuple(outline.settings))


def _name(token: Token) -> str:
    return _ESCAPE.sub(r"\1", unquoted(token.text)) if token.kind == "string" else token.text


def _references(path: str, settings: list[Setting]) -> Iterator[PathReference]:
    """The other files that schemas, TypeScript and project lists name."""
    for setting in settings:
        written = setting.value.partition("#")[0]
        if setting.path[-1] in _FILE_KEYS and _FILE_VALUE.fullmatch(written):
            yield PathReference(path, (written,), "References", setting.line)
