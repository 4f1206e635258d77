"""Errors as the commands print them, in one shape."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from groundwire_client.cli import printable
from groundwire_pipelines.errors import DefinitionError, PipelineError, StepError


@contextmanager
def reported() -> Iterator[None]:
    """Prints an error of a pipeline, each problem of a definition in a line of its own.

    Raises:
        typer.Exit: There was one: exit code 1.
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
