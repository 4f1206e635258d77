"""Reads an object as models write it: JSON with small deviations.

These are trailing commas, single quotes, line breaks inside strings, and unquoted words as keys and values.
"""

import re
from typing import Final

Tolerated = str | None | list["Tolerated"] | dict[str, "Tolerated"]
"""A value: unquoted words and numbers are strings, `null` and `None` are None."""

_MAX_DEPTH: Final = 8
_SPACE: Final = re.compile(r"\s*")
_WORD: Final = re.compile(r"""[^\s,:{}\[\]"'`]+""")
_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"} | {sign: sign for sign in "\"'\\/"}
_ESCAPE: Final = re.compile(r"""\\(?:[bfnrt"'\\/]|u[0-9A-Fa-f]{4})""")
_QUOTED: Final = {quote: re.compile(rf"(?:[^\\{quote}]++|{_ESCAPE.pattern})*+") for quote in "\"'"}
"""The content of a string, by the quotes around it."""
_FENCE: Final = re.compile(r"```[\w+-]*\s(?P<inside>.*)```", re.DOTALL)


def unfenced(text: str) -> str:
    """A text without the code fence around it."""
    fenced = _FENCE.fullmatch(text)
    return fenced["inside"].strip() if fenced else text


class MalformedError(Exception):
    """The text is no object; the message says what was found and what was expected."""


def read_object(text: str) -> dict[str, Tolerated]:
    """The object in `text`; spaces around it are ignored. Raises MalformedError."""
    reader = _Reader(text)
    reader.skip_space()
    value = reader.read_object(depth=1)
    reader.skip_space()
    if reader.position < len(text):
        raise reader.malformed("nothing more")
    return value


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def skip_space(self) -> None:
        space = _SPACE.match(self.text, self.position)
        self.position = space.end() if space else self.position

    def malformed(self, expected: str) -> MalformedError:
        next_characters = self.text[self.position : self.position + 12]
        return MalformedError(f"expected {expected} at character {self.position + 1}, found {next_characters!r}")

    def taken(self, sign: str) -> bool:
        """Skips `sign` and the white space after it, if it comes next."""
        if not self.text.startswith(sign, self.position):
            return False
        self.position += len(sign)
        self.skip_space()
        return True

    def read_object(self, depth: int) -> dict[str, Tolerated]:
        members: dict[str, Tolerated] = {}
        if not self.taken("{"):
            raise self.malformed("'{'")
        while not self.taken("}"):
            key = self._read_text()
            self.skip_space()
            if not self.taken(":"):
                raise self.malformed("':'")
            if key in members:
                raise MalformedError(f"the key {key!r} is given twice")
            members[key] = self._read_value(depth + 1)
            self._end_member("}")
        return members

    def _read_list(self, depth: int) -> list[Tolerated]:
        members: list[Tolerated] = []
        self.taken("[")
        while not self.taken("]"):
            members.append(self._read_value(depth + 1))
            self._end_member("]")
        return members

    def _end_member(self, closing: str) -> None:
        self.skip_space()
        if not self.taken(",") and not self.text.startswith(closing, self.position):
            raise self.malformed(f"',' or {closing!r}")

    def _read_value(self, depth: int) -> Tolerated:
        if depth > _MAX_DEPTH:
            raise MalformedError(f"values are nested more than {_MAX_DEPTH} deep")
        sign = self.text[self.position : self.position + 1]
        if sign == "{":
            return self.read_object(depth)
        if sign == "[":
            return self._read_list(depth)
        if sign in _QUOTED:
            return self._read_text()
        word = self._read_text()
        return None if word in ("null", "None") else word

    def _read_text(self) -> str:
        quote = self.text[self.position : self.position + 1]
        if quote in _QUOTED:
            self.position += 1
            return self._read_quoted(quote)
        word = _WORD.match(self.text, self.position)
        if word is None:
            raise self.malformed("a string or a word")
        self.position = word.end()
        return word.group()

    def _read_quoted(self, quote: str) -> str:
        inside = _QUOTED[quote].match(self.text, self.position)
        assert inside is not None, "the pattern matches the empty string"
        self.position = inside.end()
        if self.position == len(self.text):
            raise self.malformed(f"the closing {quote}")
        self.position += 1
        if self.text[self.position - 1] != quote:
            raise self.malformed("an escape of JSON")
        return _joined(_ESCAPE.sub(_unescaped, inside.group()))


def _unescaped(escape: re.Match[str]) -> str:
    sign = escape.group()[1:]
    return _ESCAPES.get(sign) or chr(int(sign[1:], 16))


def _joined(text: str) -> str:
    """Joins pairs of surrogates, as escapes beyond the basic plane are written; a single surrogate is no character."""
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError as error:
        raise MalformedError("a \\u escape is half of a surrogate pair") from error
