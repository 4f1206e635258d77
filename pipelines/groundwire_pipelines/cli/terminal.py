"""What the commands print: texts made safe for a terminal, and errors in one shape."""

from typing import NoReturn

import typer

from groundwire_pipelines.errors import DefinitionError, PipelineError, StepError

_CONTROL_PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {127: 0x2421}
_C1_CONTROLS = dict.fromkeys(range(128, 160), 0xFFFD)
_REPLACEMENTS = _CONTROL_PICTURES | _C1_CONTROLS


def printable(text: str) -> str:
    """`text` with control characters as visible signs, so that neither sources nor models steer the terminal.

    Tabs and line feeds stay; a carriage return before a line feed goes.
    """
    return text.replace("\r\n", "\n").translate(_REPLACEMENTS)


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
