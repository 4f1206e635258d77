"""Values of filters and edge types that an index does not have, and those that it has."""

import difflib
from collections.abc import Callable, Iterator, Sequence

from groundwire.kind_names import kinds_of, languages_of
from groundwire.printable_text import one_line
from groundwire.v1.index_pb2 import GetIndexResponse
from groundwire.v1.scope_pb2 import NodeFilter

_MOST_NAMED = 40


class UnknownValueWarning(UserWarning):
    """A call found nothing, and its filter or edge types have a value that the index does not have for the caller."""


def has_values(narrowing: NodeFilter, edge_types: Sequence[str]) -> bool:
    """True if there is a value that can be compared with those of an index."""
    return bool(narrowing.kinds or narrowing.languages or narrowing.path_prefixes or set(edge_types) - {"*"})


def value_notes(index: GetIndexResponse, narrowing: NodeFilter, edge_types: Sequence[str]) -> list[str]:
    """A line for each kind, language, path and edge type that an index version does not have for the caller."""
    # The contract compares edge types without regard to case, and "*" means all.
    types = [name for name in edge_types if name != "*" and name.casefold() not in map(str.casefold, index.edge_types)]
    return [
        *_notes("active node has the kind", _absent(narrowing.kinds, index.kinds, kinds_of), index.kinds),
        *_notes(
            "active node has the language", _absent(narrowing.languages, index.languages, languages_of), index.languages
        ),
        *_notes(
            "active node has a path that begins with",
            [prefix for prefix in narrowing.path_prefixes if _leads_nowhere(prefix, index.folders)],
            index.folders,
        ),
        *_notes("edge between active nodes has the type", types, index.edge_types),
    ]


def _absent(
    names: Sequence[str], known: Sequence[str], meanings: Callable[[Sequence[str]], Sequence[str]]
) -> list[str]:
    """The names that mean none of those that an index has."""
    return [name for name in names if not set(meanings([name])) & set(known)]


def _leads_nowhere(prefix: str, folders: Sequence[str]) -> bool:
    """True if no path begins so. A file beside the folders is not known, so a prefix without a slash never does."""
    return "/" in prefix and not any(folder.startswith(prefix) or prefix.startswith(folder) for folder in folders)


def unread_note(error: Exception) -> str:
    """The line for values that cannot be compared: a caller may search and not be allowed to ask what there is."""
    return f"the kinds, languages and edge types of the index cannot be read: {error}"


def _notes(what: str, values: Sequence[str], known: Sequence[str]) -> Iterator[str]:
    """Nothing where the server names none: an older one, or one that has too many."""
    by_folded = {name.casefold(): name for name in known}
    for name in dict.fromkeys(values):
        if known and name not in known:
            near = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.5)
            hint = f"; did you mean {by_folded[near[0]]!r}?" if near else "."
            more = f", and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
            yield f"no {what} {name!r}{hint} There are: {one_line(', '.join(known[:_MOST_NAMED]))}{more}"
