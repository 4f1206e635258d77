"""Parses what a model writes for a search: plain text, or an object with a query and filters."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from groundwire_client import NodeFilter, node_filter
from groundwire_pipelines.definition.wording import shown
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.parsing.filters import CALLER_NAMES, FILTER_NAMES, FLAG_FIELDS
from groundwire_pipelines.parsing.tolerant_json import MalformedError, Tolerated, read_object

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
