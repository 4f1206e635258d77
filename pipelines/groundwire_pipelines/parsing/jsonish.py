"""Parses what a model writes for a search: plain text, or an object with a query and filters.

The object is JSON with small deviations: trailing commas, single quotes, line breaks inside strings, and unquoted words
as keys and values. Anything else that begins like an object is a query like any other text.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from groundwire_client import NodeFilter, node_filter
from groundwire_pipelines.parsing.filters import CALLER_NAMES, FILTER_NAMES, FLAG_FIELDS
from groundwire_pipelines.wording import shown

Tolerated = str | None | list["Tolerated"] | dict[str, "Tolerated"]
"""A value: unquoted words and numbers are strings, `null` and `None` are None."""

MAX_QUERY_CHARACTERS: Final = 8_192
MAX_PHRASINGS: Final = 8
"""The longest query that a server searches for."""

_MAX_DEPTH: Final = 8
_SPACE: Final = re.compile(r"\s*")
_WORD: Final = re.compile(r"""[^\s,:{}\[\]"'`]+""")
_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"} | {sign: sign for sign in "\"'\\/"}
_ESCAPE: Final = re.compile(r"""\\(?:[bfnrt"'\\/]|u[0-9A-Fa-f]{4})""")
_QUOTED: Final = {quote: re.compile(rf"(?:[^\\{quote}]++|{_ESCAPE.pattern})*+") for quote in "\"'"}
"""The content of a string, by the quotes around it."""
_FENCE: Final = re.compile(r"```[\w+-]*\s(?P<inside>.*)```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query, the filters to add to the caller's, phrasings of the query, and what was dropped.

    `phrasings` say the same in other words, or are names that the code is likely to use. `dropped` are the names of
    scope or access, sorted. `unusable` says of each other part without effect why it has none.
    """

    query: str
    filter: NodeFilter = field(default_factory=NodeFilter)
    dropped: tuple[str, ...] = ()
    unusable: tuple[str, ...] = ()
    phrasings: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The query and its phrasings, for calls that take one text."""
        return "\n".join((self.query, *self.phrasings))


def parse_jsonish(text: str) -> ParsedQuery:
    """Parses `{"query": "...", "phrasings": ["..."], "filters": {"data_type": "db_code"}}` and variants of it.

    Any other text is the query itself, also one that only begins like an object. A code fence around either is removed.
    `phrasings` are a text or a list of texts. Filters may also be next to `query`; a filter of `null`, `""` or `[]` is
    none. Names of scope and access (`repository`, `acl_tags`, ...) are dropped, because the caller's values apply. So
    is a filter with an unknown name or a value of the wrong type. The query is stripped, and may be empty.
    """
    payload = unfenced(text.strip())
    if not payload.startswith("{"):
        return ParsedQuery(_unquoted(payload))
    try:
        members = read_object(payload)
    except MalformedError:
        return ParsedQuery(payload)
    query = members.pop("query", None)
    if query is not None and not isinstance(query, str):
        return ParsedQuery(payload)
    filters = _Filters()
    phrasings = _texts(members.pop("phrasings", members.pop("phrasing", None)))
    nested = members.pop("filters", None)
    for name, value in [*members.items(), *(nested.items() if isinstance(nested, dict) else ())]:
        filters.add(name, value)
    if nested is not None and not isinstance(nested, dict):
        filters.unusable.append("filters must be an object, not a list or text")
    if phrasings is None:
        filters.unusable.append("phrasings must be text or a list of texts")
    query = (query or "").strip()
    return ParsedQuery(
        query,
        filters.narrowing(),
        tuple(sorted(filters.dropped)),
        (*filters.unusable,),
        fitting_phrasings(query, phrasings or ()),
    )


def fitting_phrasings(query: str, phrasings: Iterable[str]) -> tuple[str, ...]:
    """The phrasings that can be searched for together with a query: each once, no more and no longer than allowed."""
    left = MAX_QUERY_CHARACTERS - len(query)
    kept: dict[str, None] = {query: None}
    for phrasing in map(str.strip, phrasings):
        left_then = left - len(phrasing) - 1
        if phrasing and phrasing not in kept and left_then >= 0 and len(kept) <= MAX_PHRASINGS:
            kept[phrasing], left = None, left_then
    return tuple(kept)[1:]


def query_problem(text: str) -> str:
    """Why the query in a text cannot be searched for; "" if it can."""
    query = parse_jsonish(text).query
    if not query:
        return "the query in it is empty"
    if len(query) > MAX_QUERY_CHARACTERS:
        return f"the query in it has {len(query)} characters, and at most {MAX_QUERY_CHARACTERS} can be searched for"
    return ""


def unfenced(text: str) -> str:
    """A text without the code fence around it."""
    fenced = _FENCE.fullmatch(text)
    return fenced["inside"].strip() if fenced else text


def _unquoted(text: str) -> str:
    """A query that is one quoted string, without its quotes."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" and text.count(text[0]) == 2:
        return text[1:-1].strip()
    return text


class _Filters:
    """The filters of one query, as far as they can be used."""

    def __init__(self) -> None:
        self.dropped: set[str] = set()
        self.unusable: list[str] = []
        self._values: dict[str, tuple[str, ...]] = {}

    def add(self, name: str, value: Tolerated) -> None:
        """Takes a filter, or notes why it is left out."""
        key = name.strip().lower()
        if key in CALLER_NAMES:
            self.dropped.add(key)
            return
        field = FILTER_NAMES.get(key, "")
        texts = _texts(value)
        if problem := self._problem(field, texts):
            self.unusable.append(f"the filter {shown(name)} {problem}")
        else:
            self._values[field] = texts or ()

    def narrowing(self) -> NodeFilter:
        """The filter of those that were taken."""
        flags = {name: texts[0].lower() == "true" for name in FLAG_FIELDS if (texts := self._values.get(name))}
        return node_filter({**self._values, **dict.fromkeys(FLAG_FIELDS), **flags})

    def _problem(self, field: str, texts: tuple[str, ...] | None) -> str:
        if not field:
            return f"is unknown; those of a query are {', '.join(dict.fromkeys(FILTER_NAMES.values()))}"
        if field in self._values:
            return "is given twice"
        if texts is None:
            return "must be text or a list of texts"
        if field in FLAG_FIELDS and (len(texts) > 1 or any(text.lower() not in ("true", "false") for text in texts)):
            return "must be true or false"
        return ""


def _texts(value: Tolerated) -> tuple[str, ...] | None:
    """The texts of a value; None if it is neither text nor a list of texts."""
    entries = value if isinstance(value, list) else [value]
    if not all(entry is None or isinstance(entry, str) for entry in entries):
        return None
    return tuple(entry for entry in entries if isinstance(entry, str) and entry)


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
