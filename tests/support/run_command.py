"""`groundwire run`, in the process of the test."""

from pathlib import Path

import typer
from typer.testing import CliRunner, Result

from groundwire_pipelines.cli import register

SCOPE = ("-r", "shop", "-b", "main")
app = typer.Typer()
register(app)


def run(*arguments: str | Path, address: str | None = None, **environment: str) -> Result:
    """Runs the command; what it raises but exits is the test's failure."""
    server = {} if address is None else {"GROUNDWIRE_SERVER": address}
    result = CliRunner().invoke(app, ["run", *map(str, arguments)], env={**server, **environment})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result
