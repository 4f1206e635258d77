"""SQL text as tokens with exact offsets. Never fails: what no rule knows is a symbol of one character.

sqlglot's tokenizer gives up at the first unterminated quote and knows no batches, client commands or
changed delimiters; cutting a file into statements must survive all of them.
"""

import re
from collections.abc import Iterable
from enum import IntEnum, StrEnum
from typing import NamedTuple


class Dialect(StrEnum):
    """The SQL a file is written in; the value is the node's language."""

    TSQL = "tsql"
    POSTGRES = "postgres"
    MYSQL = "mysql"
    GENERIC = "sql"


class Kind(IntEnum):
    """The kind of a token."""

    WORD = 1
    QUOTED = 2
    STRING = 3
    BODY = 4
    VARIABLE = 5
    NUMBER = 6
    SYMBOL = 7
    COMMENT = 8
    TERMINATOR = 9
    BATCH = 10


class Token(NamedTuple):
    r"""A token at `text[start:end]`. `keyword` is the upper-cased word or the symbol, "" for every other kind.

    BODY is a dollar-quoted string. VARIABLE is `@name`, `#temporary` or `$1`. TERMINATOR ends a statement (`;` or the
    delimiter set by MySQL's DELIMITER) and, after COPY FROM stdin, covers the data rows too. BATCH is a line with GO.
    Client commands (`\connect`, `:setvar`, `DELIMITER`) and the marks around MySQL's versioned code are comments.
    """

    kind: Kind
    keyword: str
    start: int
    end: int


_BACKSLASH_STRING = r"'[^'\\]*+(?:(?:\\.|'')[^'\\]*+)*+'"
_STRING = r"[nN]?'[^']*+(?:''[^']*+)*+'"
_DOUBLE_QUOTED = r'"[^"]*+(?:""[^"]*+)*+"'
_BACKSLASH_DOUBLE_QUOTED = r'"[^"\\]*+(?:(?:\\.|"")[^"\\]*+)*+"'
_BRACKETED = r"\[[^\]\n]*+(?:\]\][^\]\n]*+)*+\]"
_BACKTICKED = r"`[^`\n]*+(?:``[^`\n]*+)*+`"
_LINE_COMMENT = r"--[^\n]*"

_RULES: dict[Dialect, tuple[tuple[str, str], ...]] = {
    Dialect.TSQL: (
        ("COMMENT", _LINE_COMMENT),
        ("BATCH", r"(?i:GO)(?:[ \t]++\d++)?[ \t]*+;?[ \t]*+(?:--[^\n]*)?\r?(?=\n|\Z)"),
        ("CLIENT", r":(?i:r|setvar|on|connect|out|error)\b"),
        ("STRING", _STRING),
        ("QUOTED", f"{_BRACKETED}|{_DOUBLE_QUOTED}"),
        ("VARIABLE", r"@@?[\w@#$]+|#{1,2}[\w@#$]+"),
        ("WORD", r"[^\W\d][\w@#$]*"),
    ),
    Dialect.POSTGRES: (
        ("COMMENT", _LINE_COMMENT),
        ("CLIENT", r"\\"),
        ("STRING", rf"[eE]{_BACKSLASH_STRING}|{_STRING}"),
        ("VARIABLE", r"\$\d+"),
        ("DOLLAR", r"\$(?:[^\W\d]\w*)?\$"),
        ("QUOTED", _DOUBLE_QUOTED),
        ("WORD", r"[^\W\d][\w$]*"),
    ),
    Dialect.MYSQL: (
        ("VERSIONED", r"/\*!\d*|\*/"),
        ("COMMENT", r"--(?=\s|\Z)[^\n]*|\#[^\n]*"),
        ("DELIMITER", r"(?i:DELIMITER)[ \t]+(?P<mark>\S+)"),
        ("STRING", rf"{_BACKSLASH_STRING}|{_BACKSLASH_DOUBLE_QUOTED}"),
        ("QUOTED", _BACKTICKED),
        ("VARIABLE", r"@@?[\w$]+"),
        ("WORD", r"[^\W\d][\w$]*"),
    ),
    Dialect.GENERIC: (
        ("COMMENT", _LINE_COMMENT),
        ("STRING", _STRING),
        ("DOLLAR", r"\$(?:[^\W\d]\w*)?\$"),
        ("QUOTED", rf"\[[^\W\d][^\]\n]*+\]|{_DOUBLE_QUOTED}|{_BACKTICKED}"),
        ("VARIABLE", r"@@?[\w$]+"),
        ("WORD", r"[^\W\d][\w$]*"),
    ),
}
_SHARED_RULES = (("BLOCK", r"/\*"), ("NUMBER", r"\d[\w.]*"), ("SYMBOL", r"\S"))
_QUOTES = "[\"'`"
_QUOTING_RULES = frozenset({"STRING", "QUOTED", "DOLLAR"})
_MAX_UNCLOSED_SCANS = 20
"""How many times the length of a text may be read for quotes that are never closed; after that none is looked for."""


def _pattern(rules: Iterable[tuple[str, str]]) -> re.Pattern[str]:
    return re.compile(r"\s*+(?:" + "|".join(f"(?P<{name}>{rule})" for name, rule in rules) + ")", re.DOTALL)


_PATTERNS = {dialect: _pattern((*rules, *_SHARED_RULES)) for dialect, rules in _RULES.items()}
_PATTERNS_WITHOUT_QUOTES = {
    dialect: _pattern(rule for rule in (*rules, *_SHARED_RULES) if rule[0] not in _QUOTING_RULES)
    for dialect, rules in _RULES.items()
}
_LINE_START_ONLY = frozenset({"BATCH", "CLIENT", "DELIMITER"})
_LINE_COMMANDS = frozenset({"CLIENT", "DELIMITER"})
_COMMENT_RULES = frozenset({"CLIENT", "DELIMITER", "VERSIONED"})
_PLAIN = re.compile(r"\w+|\S")
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_COPY_END = re.compile(r"^\\\.[^\n]*", re.MULTILINE)
_NESTING_COMMENTS = frozenset({Dialect.TSQL, Dialect.POSTGRES})


def tokenize(text: str, dialect: Dialect) -> list[Token]:
    """The tokens of `text` in order, comments included, white space left out."""
    return _Lexer(text, dialect).run()


class _Lexer:
    """One pass over a text; holds what earlier tokens decide: the delimiter in force, an open COPY, nesting."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self._text = text
        self._pattern = _PATTERNS[dialect]
        self._pattern_without_quotes = _PATTERNS_WITHOUT_QUOTES[dialect]
        self._unclosed_characters = 0
        self._may_hold_data = True
        self._comments_nest = dialect in _NESTING_COMMENTS
        self._delimiter = ";"
        self._verb = ""
        self._reads_stdin = False
        self._tokens: list[Token] = []

    def run(self) -> list[Token]:
        position = 0
        while (match := self._pattern.match(self._text, position)) is not None:
            rule = match.lastgroup or "SYMBOL"
            start = match.start(rule)
            if rule in _LINE_START_ONLY and position > 0 and "\n" not in self._text[position:start]:
                word = _PLAIN.match(self._text, start)
                position = self._plain(start, start + 1 if word is None else word.end())
            elif self._delimiter != ";" and self._text.startswith(self._delimiter, start):
                position = self._emit(Kind.TERMINATOR, ";", start, start + len(self._delimiter))
            else:
                position = self._step(rule, match, start)
        return self._tokens

    def _step(self, rule: str, match: re.Match[str], start: int) -> int:
        """Emits the token that `match` found; returns where the next one may start."""
        end = match.end()
        if rule == "WORD":
            cut = self._text.find(self._delimiter, start, end)
            return self._plain(start, end if cut < 0 else cut)
        if rule == "SYMBOL":
            return self._symbol(start)
        if rule == "BLOCK":
            return self._emit(Kind.COMMENT, "", start, self._block_end(start))
        if rule == "DOLLAR":
            return self._dollar(match.group(rule), start)
        if rule == "DELIMITER":
            self._delimiter = match.group("mark")
        if rule in _LINE_COMMANDS:
            line_end = self._text.find("\n", end)
            end = len(self._text) if line_end < 0 else line_end
        return self._emit(Kind.COMMENT if rule in _COMMENT_RULES else Kind[rule], "", start, end)

    def _emit(self, kind: Kind, keyword: str, start: int, end: int) -> int:
        self._tokens.append(Token(kind, keyword, start, end))
        return end

    def _plain(self, start: int, end: int) -> int:
        keyword = self._text[start:end].upper()
        is_word = keyword[0].isalpha() or keyword[0] == "_"
        if is_word:
            self._verb = self._verb or keyword
            self._reads_stdin = self._reads_stdin or keyword == "STDIN"
        return self._emit(Kind.WORD if is_word else Kind.SYMBOL, keyword, start, end)

    def _symbol(self, start: int) -> int:
        symbol, end = self._text[start], start + 1
        if symbol in _QUOTES:
            line_end = self._text.find("\n", start) if symbol in "[`" else -1
            self._count_unclosed((len(self._text) if line_end < 0 else line_end) - start)
        if symbol != ";" or self._delimiter != ";":
            return self._emit(Kind.SYMBOL, symbol, start, end)
        if self._verb == "COPY" and self._reads_stdin and self._may_hold_data:
            data_end = _COPY_END.search(self._text, end)
            self._may_hold_data = data_end is not None
            end = end if data_end is None else data_end.end()
        self._verb, self._reads_stdin = "", False
        return self._emit(Kind.TERMINATOR, symbol, start, end)

    def _dollar(self, tag: str, start: int) -> int:
        close = self._text.find(tag, start + len(tag))
        if close < 0:
            self._count_unclosed(len(self._text) - start)
            return self._emit(Kind.SYMBOL, "$", start, start + len(tag))
        return self._emit(Kind.BODY, "", start, close + len(tag))

    def _count_unclosed(self, characters: int) -> None:
        """A quote that nothing closes is a symbol, once what follows it was read; a text of many is read no oftener."""
        self._unclosed_characters += characters
        if self._unclosed_characters > _MAX_UNCLOSED_SCANS * len(self._text):
            self._pattern = self._pattern_without_quotes

    def _block_end(self, start: int) -> int:
        """The end of the block comment at `start`; its first `*/` from the first nest that does not balance on."""
        depth, first_close = 0, -1
        for edge in _COMMENT_EDGE.finditer(self._text, start):
            if edge.group() == "/*":
                depth += 1
                continue
            first_close = edge.end() if first_close < 0 else first_close
            depth -= 1
            if depth == 0 or not self._comments_nest:
                return edge.end()
        self._comments_nest = False
        return len(self._text) if first_close < 0 else first_close
