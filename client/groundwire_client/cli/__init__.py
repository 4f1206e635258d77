"""The commands of `groundwire` that are calls of a client, and what other commands share with them."""

import typer

from groundwire_client._channel import SERVER_VARIABLE, host_and_port, is_loopback_host
from groundwire_client._defaults import BUDGET_TOKENS, END_TOP_K
from groundwire_client._helpers import SEPARATOR, scope_name, scope_named, symbol_beside
from groundwire_client._known_values import value_notes
from groundwire_client._resolution import MOST_NAMES, ids_of, read_at, searched
from groundwire_client._several import is_id_of
from groundwire_client._why_first import why_first, why_first_hit
from groundwire_client.cli._choices import in_panel
from groundwire_client.cli._command_signatures import with_options
from groundwire_client.cli._commands import expand, fetch, paths, search
from groundwire_client.cli._connection_options import AccessOptions, ConnectionOptions
from groundwire_client.cli._evaluate_command import evaluate
from groundwire_client.cli._evidence_command import evidence
from groundwire_client.cli._filter_options import FilterOptions
from groundwire_client.cli._grep_command import grep
from groundwire_client.cli._names import print_notes, unknown_names
from groundwire_client.cli._parts import indexes, place
from groundwire_client.cli._query_command import query
from groundwire_client.cli._query_rendering import query_facts
from groundwire_client.cli._scopes import BRANCH_VARIABLE, REPOSITORY_VARIABLE, found_scopes, given_scopes
from groundwire_client.cli._text import json_or_text

__all__ = [
    "BRANCH_VARIABLE",
    "BUDGET_TOKENS",
    "END_TOP_K",
    "MOST_NAMES",
    "REPOSITORY_VARIABLE",
    "SEPARATOR",
    "SERVER_VARIABLE",
    "AccessOptions",
    "ConnectionOptions",
    "FilterOptions",
    "app",
    "found_scopes",
    "given_scopes",
    "host_and_port",
    "ids_of",
    "in_panel",
    "indexes",
    "is_id_of",
    "is_loopback_host",
    "json_or_text",
    "place",
    "print_notes",
    "query_facts",
    "read_at",
    "register",
    "scope_name",
    "scope_named",
    "searched",
    "symbol_beside",
    "unknown_names",
    "value_notes",
    "why_first",
    "why_first_hit",
    "with_options",
]


def register(app: typer.Typer) -> None:
    """Adds the commands to `app`."""
    for command in (evidence, query, search, grep, expand, paths, fetch, evaluate):
        app.command()(command)


app = typer.Typer(no_args_is_help=True, help="Search code, follow its dependencies, read the texts.")
register(app)
