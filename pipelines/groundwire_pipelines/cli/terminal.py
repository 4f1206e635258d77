"""Prints the errors of pipelines for all commands."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from groundwire_client.cli import printable
from groundwire_pipelines.errors import DefinitionError, PipelineError, StepError


@contextmanager
def reported() -> Iterator[None]:
    """Prints an error of a pipeline, each problem of its files on a line of its own.

    Raises:
        typer.Exit: After an error, with exit code 1.
    """
    try:
        yield
    except PipelineError as error:
        if isinstance(error, DefinitionError):
            lines = list(map(str, error.problems))
        else:
            lines = [f"{error.rule}: {error}" if isinstance(error, StepError) else str(error)]
        for line in lines:
            typer.echo(f"error: {printable(' '.join(line.split()))}", err=True)
        raise typer.Exit(1) from None
