"""Parses what a model writes for a search: plain text, or an object with a query, phrasings of it, and filters.

`tolerant_json` reads the object. Anything else that begins like an object is a query like any other text.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from groundwire_client import NodeFilter, node_filter
from groundwire_pipelines.parsing.filters import CALLER_NAMES, FILTER_NAMES, FLAG_FIELDS
from groundwire_pipelines.parsing.tolerant_json import MalformedError, Tolerated, read_object, unfenced
from groundwire_pipelines.wording import shown

MAX_QUERY_CHARACTERS: Final = 8_192
"""The longest query that a server searches for."""
MAX_PHRASINGS: Final = 8


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
