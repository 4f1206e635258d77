"""Names in a filter or of edge types that an index does not have, reported with those that it has."""

from collections.abc import Iterable, Sequence

import typer

from groundwire.printable_text import printable
from groundwire.v1.scope_pb2 import IndexScope, NodeFilter
from groundwire_client._client import GroundwireClient
from groundwire_client._errors import GroundwireError
from groundwire_client._known_values import has_values, unread_note, value_notes


def unknown_names(
    client: GroundwireClient, scope: IndexScope, narrowing: NodeFilter, edge_types: Sequence[str]
) -> list[str]:
    """A line for each kind, language and edge type that a pinned index version does not have for the caller.

    Asks the server once, and only where there is a name.
    """
    if not has_values(narrowing, edge_types):
        return []
    try:
        return value_notes(client.get_index(scope), narrowing, edge_types)
    except GroundwireError as error:
        return [unread_note(error)]


def print_notes(notes: Iterable[str]) -> None:
    """Prints notes about an answer on standard error."""
    for note in notes:
        typer.echo(f"note: {printable(note)}", err=True)
