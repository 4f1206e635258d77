"""Terraform, Bicep, PowerShell and GraphQL: files that are lists of blocks in braces, each with words before it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.files.lexer import (
    DOUBLE_QUOTED,
    HASH_COMMENTS,
    SINGLE_QUOTED,
    SLASH_COMMENTS,
    Lexicon,
    numbered,
    unquoted,
)
from groundwire_ingest.tree.files.parts import Part, write_parts
from groundwire_ingest.tree.files.reading import FileReading, PathReference

_HEREDOC = r"<<[-~]?[\"']?(?P<mark_>\w+)[^\n]*(?:(?s:.*?)\n[ \t]*(?P=mark_)\b|(?s:.*))"
_HERE_STRING = r"@\"(?:[^\"]|\"(?!@))*+(?:\"@)?|@'(?:[^']|'(?!@))*+(?:'@)?"


@dataclass(frozen=True, slots=True)
class _Blocks:
    """How a language writes its blocks.

    A block begins at a line that begins with one of `keywords` (None: with any word), outside of all brackets. It ends
    at the end of its braces; a text directly above describes it. `name_words` says how many words and strings after the
    keyword name it. Without `has_bare`, what has no braces is no block.
    """

    lexicon: Lexicon
    keywords: frozenset[str] | None
    name_words: int
    comments: tuple[str, ...]
    has_bare: bool = False


_LANGUAGES = {
    "terraform": _Blocks(
        Lexicon.of(rf"{HASH_COMMENTS}|{SLASH_COMMENTS}", rf"{_HEREDOC}|{DOUBLE_QUOTED}"), None, 2, ("#", "//")
    ),
    "bicep": _Blocks(
        Lexicon.of(SLASH_COMMENTS, rf"'''(?:[^']|'(?!''))*+(?:''')?|{SINGLE_QUOTED}"),
        frozenset({"resource", "module", "func", "type", "param", "var", "output"}),
        1,
        ("//", "@"),
    ),
    "powershell": _Blocks(
        Lexicon.of(
            rf"<\#(?:[^\#]|\#(?!>))*+(?:\#>)?|{HASH_COMMENTS}", rf'{_HERE_STRING}|"(?:[^"`]|`.)*+"?|\'[^\']*+\'?'
        ),
        frozenset({"function", "filter", "class", "enum", "workflow", "configuration"}),
        1,
        ("#",),
    ),
    "graphql": _Blocks(
        Lexicon.of(HASH_COMMENTS, rf'"""(?:[^"]|"(?!""))*+(?:""")?|{DOUBLE_QUOTED}'),
        frozenset(
            "type interface enum input union scalar directive extend schema query mutation subscription "
            "fragment".split()
        ),
        1,
        ("#",),
        has_bare=True,
    ),
}
_SOURCES = {
    "terraform": re.compile(r"^[ \t]*source[ \t]*=[ \t]*\"(\.{1,2}/[^\"\n]*)\"", re.MULTILINE),
    "bicep": re.compile(
        r"^[ \t]*(?:(?:module[ \t]+\w+|using)[ \t]*|import[ \t][^'\n]*)'([^'\n]+\.bicep)'", re.MULTILINE
    ),
    "powershell": re.compile(
        r"^[ \t]*(?:\.|&|Import-Module|using module)[ \t]+[\"']?(?:\$PSScriptRoot[/\\])?([\w./\\-]+\.psm?1)\b",
        re.MULTILINE | re.IGNORECASE,
    ),
}


def read_blocks(file: SourceFile) -> FileReading:
    """The blocks of several lines as parts: `resource.aws_x.name`, `module.web`, `function.Get-It`, `type.Order`.

    References lead to modules and scripts that are named by a path.
    """
    language = _LANGUAGES[file.language]
    parts = [part for part in _parts(language, file.text) if part.end_line > part.start_line]
    analysis = write_parts(file, parts, comments=language.comments)
    return FileReading(analysis, tuple(_references(file)))


def _parts(language: _Blocks, text: str) -> Iterator[Part]:
    depth = last_line = 0
    words: list[str] = []
    first_line = block_end = text_line = text_end = 0
    in_body = False
    for token in language.lexicon.tokens(text):
        if token.kind == "comment":
            continue
        is_keyword = language.keywords is None or token.text.lower() in language.keywords
        if depth == 0 and token.kind == "word" and token.line > last_line and is_keyword:
            if words and language.has_bare:
                yield _part(language, words, first_line, block_end)
            first_line = text_line if text_line and text_end == token.line - 1 else token.line
            words, in_body = [token.text], False
        elif depth == 0 and token.kind == "string" and token.line > last_line:
            text_line, text_end = token.line, token.end_line
        elif depth == 0 and words and not in_body and token.kind in {"word", "string"}:
            words.append(unquoted(token.text) if token.kind == "string" else token.text)
        elif token.kind == "mark":
            in_body = in_body or (bool(words) and token.text == "{")
            depth = max(depth + (token.text in "{([") - (token.text in "})]"), 0)
            if depth == 0 and in_body and token.text == "}":
                yield _part(language, words, first_line, token.line)
                words, in_body = [], False
        last_line = block_end = token.end_line
    if words and language.has_bare:
        yield _part(language, words, first_line, block_end)


def _part(language: _Blocks, words: list[str], first_line: int, end_line: int) -> Part:
    name_words = language.name_words + (words[0] == "extend")
    return Part(tuple(words[: 1 + name_words]), first_line, end_line)


def _references(file: SourceFile) -> Iterator[PathReference]:
    pattern = _SOURCES.get(file.language)
    if pattern is None:
        return
    for match, line in numbered(pattern, file.text):
        written = match.group(1)
        folder = written.rstrip("/")
        spellings = (written,) if file.language != "terraform" else (f"{folder}/main.tf", f"{folder}/variables.tf")
        yield PathReference(file.path, spellings, "Imports", line)
