"""Parses what a model writes for a search: plain text, or an object with a query and filters.

The object is JSON with small deviations: trailing commas, single quotes, line breaks inside strings, and unquoted words
as keys and values. Anything else is refused, with the place of the problem.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from groundwire_client import NodeFilter, node_filter
from groundwire_pipelines.definition.wording import shown
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.parsing.filters import CALLER_NAMES, FILTER_NAMES, FLAG_FIELDS

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


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query, the filters to add to the caller's, and the names of scope or access that were dropped, sorted."""

    query: str
    filter: NodeFilter = field(default_factory=NodeFilter)
    dropped: tuple[str, ...] = ()


def parse_jsonish(text: str) -> ParsedQuery:
    """Parses `{"query": "...", "filters": {"data_type": "db_code", "path": ["src/"]}}` and variants of it.

    Text that does not begin with `{` is the query itself. A code fence around either is removed. Filters may also be
    next to `query`; a filter of `null`, `""` or `[]` is none. Names of scope and access (`repository`, `acl_tags`, ...)
    are dropped, because the caller's values apply. The query is stripped, and may be empty.

    Raises:
        StepError: `query-malformed` for an object that cannot be read, `filter-unknown` for a name that is no filter,
            `filter-malformed` for a value that is neither text nor a list of texts.
    """
    payload = unfenced(text.strip())
    if not payload.startswith("{"):
        return ParsedQuery(_unquoted(payload))
    try:
        members = read_object(payload)
    except MalformedError as error:
        raise StepError("query-malformed", f"the query begins like an object, but {error}") from error
    query = members.pop("query", None)
    if query is not None and not isinstance(query, str):
        raise StepError("query-malformed", "query must be text, not a list or an object")
    narrowing, dropped = _filters(_flattened(members))
    return ParsedQuery((query or "").strip(), narrowing, dropped)


def unfenced(text: str) -> str:
    """A text without the code fence around it."""
    fenced = _FENCE.fullmatch(text)
    return fenced["inside"].strip() if fenced else text


def _unquoted(text: str) -> str:
    """A query that is one quoted string, without its quotes."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" and text.count(text[0]) == 2:
        return text[1:-1].strip()
    return text


def _flattened(members: dict[str, Tolerated]) -> list[tuple[str, Tolerated]]:
    """The filters, both those next to the query and those under `filters`."""
    nested = members.pop("filters", None)
    if nested is not None and not isinstance(nested, dict):
        raise StepError("filter-malformed", "filters must be an object, not a list or text")
    return [*members.items(), *(nested or {}).items()]


def _filters(members: list[tuple[str, Tolerated]]) -> tuple[NodeFilter, tuple[str, ...]]:
    values: dict[str, tuple[str, ...]] = {}
    dropped: set[str] = set()
    for name, value in members:
        key = name.strip().lower()
        if key in CALLER_NAMES:
            dropped.add(key)
            continue
        if key not in FILTER_NAMES:
            raise StepError("filter-unknown", f"{shown(name)} is no filter: use one of {', '.join(FILTER_NAMES)}")
        field = FILTER_NAMES[key]
        if field in values:
            raise StepError("filter-malformed", f"the filter {shown(name)} is given twice")
        values[field] = _texts(name, value)
    flags = {name: _flag(name, values.pop(name, ())) for name in FLAG_FIELDS}
    return node_filter({**values, **flags}), tuple(sorted(dropped))


def _flag(name: str, texts: Sequence[str]) -> bool | None:
    """A boolean from its word, because unquoted values are texts as well."""
    if len(texts) > 1:
        raise StepError("filter-malformed", f"the filter {shown(name)} must be one value, not a list of several")
    for text in texts:
        if text.lower() not in ("true", "false"):
            raise StepError("filter-malformed", f"the filter {shown(name)} must be true or false, not {shown(text)}")
        return text.lower() == "true"
    return None


def _texts(name: str, value: Tolerated) -> tuple[str, ...]:
    entries = value if isinstance(value, list) else [value]
    texts: list[str] = []
    for entry in entries:
        if entry is not None and not isinstance(entry, str):
            raise StepError("filter-malformed", f"the filter {shown(name)} must be text or a list of texts")
        texts += [entry] if entry else []
    return tuple(texts)


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
        found = self.text[self.position : self.position + 12]
        return MalformedError(f"expected {expected} at character {self.position + 1}, found {found!r}")

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
