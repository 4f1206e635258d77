"""A text as tokens, where all that matters are words, strings, comments and brackets. Linear in the text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

SLASH_COMMENTS = r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?"
HASH_COMMENTS = r"#[^\n]*+"
DOUBLE_QUOTED = r'"(?:[^"\\\n]|\\[^\n])*+"?'
SINGLE_QUOTED = r"'(?:[^'\\\n]|\\[^\n])*+'?"

_NAME = r"[^\W\d][\w.-]*+"


@dataclass(frozen=True, slots=True)
class Token:
    """A token with its kind (`word`, `string`, `comment` or `mark`), its offset and the 1-based line of its start."""

    kind: str
    text: str
    start: int
    line: int

    @property
    def end_line(self) -> int:
        """The line on which it ends."""
        return self.line + self.text.count("\n")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The tokens of a language. Every pattern must match in a time that is linear in what it consumes."""

    pattern: re.Pattern[str]

    @classmethod
    def of(cls, comments: str, strings: str, word: str = _NAME) -> "Lexicon":
        """Comments and strings win over words, and those over marks: any other character but white space."""
        return cls(re.compile(rf"(?P<comment>{comments})|(?P<string>{strings})|(?P<word>{word})|(?P<mark>\S)"))

    def tokens(self, text: str) -> Iterator[Token]:
        """The tokens of `text` in order, comments included."""
        for match, line in numbered(self.pattern, text):
            yield Token(match.lastgroup or "mark", match.group(), match.start(), line)


def unquoted(text: str) -> str:
    """The content of a quoted string as written, escapes included."""
    quote = text[:1]
    return text[1:-1] if len(text) > 1 and text.endswith(quote) else text[1:]


def numbered(pattern: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], int]]:
    """The matches of `pattern` in `text`, each with the 1-based line on which it begins."""
    line, counted_to = 1, 0
    for match in pattern.finditer(text):
        line += text.count("\n", counted_to, match.start())
        counted_to = match.start()
        yield match, line
