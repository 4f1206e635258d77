"""Errors as the commands print them, in one shape."""

from typing import NoReturn

import typer

from groundwire_client.cli import printable
from groundwire_pipelines.errors import DefinitionError, PipelineError, StepError


def fail(error: PipelineError) -> NoReturn:
    """Prints an error, each problem of a definition in a line of its own.

    Raises:
        typer.Exit: Always, with exit code 1.
    """
    if isinstance(error, DefinitionError):
        lines = list(map(str, error.problems))
    elif isinstance(error, StepError):
        lines = [f"{error.rule}: {error}"]
    else:
        lines = [str(error)]
    for line in lines:
        typer.echo(f"error: {printable(' '.join(line.split()))}", err=True)
    raise typer.Exit(1)
