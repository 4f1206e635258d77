"""The `groundwire` command: the commands of client, explore, pipelines, server, index and ingestion, under one roof.

A bare install has client and pipelines only, and one for serving has no ingestion: nothing here imports the libraries
of a command before it runs, and a command whose libraries are missing says what to install.
"""

import sys

import typer

from groundwire_index.commands.versions import activate, delete, indexes, verify
from groundwire_ingest.commands.build import export, index
from groundwire_server.serve_command import serve

_MAIN = (index, serve)
_UPKEEP = (indexes, activate, delete, verify, export)


def main() -> None:
    """Runs the command line."""
    own = {command.__name__ for command in (*_MAIN, *_UPKEEP)}
    _commands(others=own.isdisjoint(sys.argv[1:2]))()


def _commands(*, others: bool) -> typer.Typer:
    """The server's own commands; those of client and pipelines with them only where they may be asked for.

    Loading those two takes as long as a small index.
    """
    app = typer.Typer(
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        help="Evidence about a codebase: search it, follow its dependencies, read the texts that fit a budget.",
    )
    for command in _MAIN:
        app.command()(command)
    if others:
        from groundwire_client.cli import register as register_client
        from groundwire_explore.cli import register as register_explore
        from groundwire_pipelines.cli import register as register_pipelines

        register_client(app)
        register_explore(app)
        register_pipelines(app)
    for upkeep in _UPKEEP:
        app.command()(upkeep)
    return app
