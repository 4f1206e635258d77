"""Names in a filter or of edge types that an index does not have, reported with those that it has."""

import difflib
from collections.abc import Iterable, Iterator, Sequence

import typer

from groundwire.v1.scope_pb2 import IndexScope, NodeFilter
from groundwire_client._client import GroundwireClient
from groundwire_client._errors import GroundwireError
from groundwire_client.cli._text import printable


def unknown_names(
    client: GroundwireClient, scope: IndexScope, narrowing: NodeFilter, edge_types: Sequence[str]
) -> list[str]:
    """A line for each kind, language and edge type that a pinned index version does not have for the caller.

    Asks the server once, and only where there is a name. A caller may search and not be allowed to ask that.
    """
    if not (narrowing.kinds or narrowing.languages or edge_types):
        return []
    try:
        index = client.get_index(scope)
    except GroundwireError as error:
        return [f"the kinds, languages and edge types of the index cannot be read: {error}"]
    # The contract compares edge types without regard to case, and "*" means all.
    types = [name for name in edge_types if name != "*" and name.casefold() not in map(str.casefold, index.edge_types)]
    return [
        *_notes("active node has the kind", narrowing.kinds, index.kinds),
        *_notes("active node has the language", narrowing.languages, index.languages),
        *_notes("edge between active nodes has the type", types, index.edge_types),
    ]


def print_notes(notes: Iterable[str]) -> None:
    """Prints notes about an answer on standard error."""
    for note in notes:
        typer.echo(f"note: {printable(note)}", err=True)


def _notes(what: str, asked: Sequence[str], known: Sequence[str]) -> Iterator[str]:
    """Nothing where the server names none: an older one, or one that has too many."""
    by_folded = {name.casefold(): name for name in known}
    for name in dict.fromkeys(asked):
        if known and name not in known:
            near = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.5)
            hint = f"; did you mean {by_folded[near[0]]!r}?" if near else "."
            yield f"no {what} {name!r}{hint} There are: {', '.join(known)}"
