"""What a command prints of a call that failed."""

from typing import NoReturn

import typer

from groundwire.printable_text import printable
from groundwire_client._errors import GroundwireError, InvalidRequestError, UnavailableError
from groundwire_client.cli._option_names import CURES, option_of


def fail(error: GroundwireError, server: str, visible: str) -> NoReturn:
    """Prints one line for each broken rule of a request, or one for any other error, and ends with exit code 1.

    `visible` are the scopes there are. UNAVAILABLE without a reason comes from gRPC itself: no server answers at the
    address.
    """
    reason = error.reason or error.code.name
    if isinstance(error, InvalidRequestError) and error.violations:
        lines = [
            f"{broken.reason or reason}: {option_of(broken.field)}: {broken.description}" for broken in error.violations
        ]
    else:
        lines = [f"{reason}: {error.message}"]
    named = " ".join(error.metadata[key] for key in ("repository", "branch") if key in error.metadata)
    if reason == "SCOPE_NOT_FOUND" and named not in error.message:  # a message about a pattern names it
        lines = [f"{lines[0]}: {named}"]
    if reason in CURES:
        # After the fact the server's message has advice for programs.
        lines = [f"{lines[0].partition('; ')[0]}; {CURES[reason]}"]
    if visible:
        lines = [f"{lines[0]}; there are: {visible}"]
    if isinstance(error, UnavailableError) and not error.reason:
        lines = [f"{lines[0]}; is `groundwire serve` running at {server}?"]
    for line in lines:
        typer.echo(f"error: {printable(' '.join(line.split()))}", err=True)
    raise typer.Exit(1)
