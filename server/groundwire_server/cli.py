"""The `groundwire` command: the client's commands and the server's, under one roof.

A bare install has the client only, so nothing here imports the server's libraries before a command needs them.
"""

import typer

from groundwire_client.cli import register
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
register(app)
app.command()(indexes)
app.command()(activate)
app.command()(delete)
app.command()(verify)
app.command()(export)


def main() -> None:
    """Runs the command line."""
    app()
