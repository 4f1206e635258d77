"""All commands of `groundwire` under one roof.

A bare install has only client and pipelines, and an install for serving has no ingestion. Therefore nothing here
imports the libraries of a command before it runs. A command whose libraries are missing says what to install.
"""

from importlib import metadata
from typing import Annotated

import typer

from groundwire_cli.diff_command import diff
from groundwire_cli.folder_server import serve_folder
from groundwire_cli.index_commands import export, index
from groundwire_cli.serve_command import serve
from groundwire_cli.verify_command import verify

_OWN = {command.__name__: command for command in (index, serve, diff, verify, export)}


def commands(name: str) -> typer.Typer:
    """All commands, or without those whose libraries the one asked for does not need.

    To load the client takes as long as a small index, to load the pipelines longer than a search.
    """
    app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
    app.callback()(_options)
    if name in _OWN:
        app.command()(_OWN[name])
        return app
    from groundwire_cli.version_commands import activate, delete, indexes

    versions = {command.__name__: command for command in (indexes, activate, delete)}
    if name in versions:
        app.command()(versions[name])
        return app
    from groundwire_cli.object_storage_commands import follow, publish, published, withdraw

    of_object_storage = {command.__name__: command for command in (publish, published, withdraw, follow)}
    if name in of_object_storage:
        app.command()(of_object_storage[name])
        return app
    from groundwire_client.cli import register as register_client

    for command in (index, serve):
        app.command()(command)
    register_client(app)
    if name in {command.callback.__name__ for command in app.registered_commands if command.callback}:
        return app
    from groundwire_explore.cli import register as register_explore
    from groundwire_mcp.cli import register as register_mcp
    from groundwire_pipelines.cli import register as register_pipelines

    register_explore(app)
    register_pipelines(app)
    register_mcp(app, serve_folder)
    for command in (indexes, activate, delete, diff, verify, export, *of_object_storage.values()):
        app.command()(command)
    return app


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        print(f"groundwire {metadata.version('groundwire')}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Evidence about a codebase: search it, follow its dependencies, read the texts that fit a budget."""
