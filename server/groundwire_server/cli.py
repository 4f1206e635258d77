"""The `groundwire` command: the commands of client, pipelines and server, under one roof.

A bare install has client and pipelines only: nothing here imports the server's libraries before a command needs them.
"""

import typer

from groundwire_client.cli import register as register_client
from groundwire_pipelines.cli import register as register_pipelines
from groundwire_server.commands.build import export, index
from groundwire_server.commands.serve import serve
from groundwire_server.commands.versions import activate, delete, indexes, verify

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Evidence about a codebase: search it, follow its dependencies, read the texts that fit a budget.",
)
app.command()(index)
app.command()(serve)
register_client(app)
register_pipelines(app)
app.command()(indexes)
app.command()(activate)
app.command()(delete)
app.command()(verify)
app.command()(export)


def main() -> None:
    """Runs the command line."""
    app()
