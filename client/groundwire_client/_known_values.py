"""Values of filters and edge types that an index does not have, and those that it has."""

import difflib
from collections.abc import Iterator, Sequence

from groundwire.printable_text import one_line
from groundwire.v1.index_pb2 import GetIndexResponse
from groundwire.v1.scope_pb2 import NodeFilter


class UnknownValueWarning(UserWarning):
    """A call found nothing, and its filter or edge types have a value that the index does not have for the caller."""


def has_values(narrowing: NodeFilter, edge_types: Sequence[str]) -> bool:
    """True if there is a value that can be compared with those of an index."""
    return bool(narrowing.kinds or narrowing.languages or set(edge_types) - {"*"})


def value_notes(index: GetIndexResponse, narrowing: NodeFilter, edge_types: Sequence[str]) -> list[str]:
    """A line for each kind, language and edge type that an index version does not have for the caller."""
    # The contract compares edge types without regard to case, and "*" means all.
    types = [name for name in edge_types if name != "*" and name.casefold() not in map(str.casefold, index.edge_types)]
    return [
        *_notes("active node has the kind", narrowing.kinds, index.kinds),
        *_notes("active node has the language", narrowing.languages, index.languages),
        *_notes("edge between active nodes has the type", types, index.edge_types),
    ]


def unread_note(error: Exception) -> str:
    """The line for values that cannot be compared: a caller may search and not be allowed to ask what there is."""
    return f"the kinds, languages and edge types of the index cannot be read: {error}"


def _notes(what: str, asked: Sequence[str], known: Sequence[str]) -> Iterator[str]:
    """Nothing where the server names none: an older one, or one that has too many."""
    by_folded = {name.casefold(): name for name in known}
    for name in dict.fromkeys(asked):
        if known and name not in known:
            near = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.5)
            hint = f"; did you mean {by_folded[near[0]]!r}?" if near else "."
            yield f"no {what} {name!r}{hint} There are: {one_line(', '.join(known))}"
