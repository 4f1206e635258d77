"""`groundwire explore`: serves the page on this machine until it is stopped."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from groundwire_client import AsyncGroundwireClient
from groundwire_client.cli import AccessOptions, ConnectionOptions, with_options

_DEFAULT_PORT = 8422
_DEFAULT_TIMEOUT = 30.0
_LOOPBACK = "127.0.0.1"


def register(app: typer.Typer) -> None:
    """Adds the command to `app`."""
    app.command()(explore)


@with_options(AccessOptions, ConnectionOptions)
def explore(
    caller: AccessOptions,
    connection: ConnectionOptions,
    repository: Annotated[
        str, typer.Option("--repository", "-r", help="Offer this repository alone.", show_default="all")
    ] = "",
    branch: Annotated[str, typer.Option("--branch", "-b", help="Offer this branch alone.", show_default="all")] = "",
    trace: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="A file of `groundwire run --trace`, to show its steps."),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="The port of the page on this machine; 0 takes a free one.")
    ] = _DEFAULT_PORT,
    timeout: Annotated[float, typer.Option(help="Seconds until a call gives up.")] = _DEFAULT_TIMEOUT,
) -> None:
    """Show in a browser what a server answers, and why.

    The page is served on this machine alone, and only to who has the address that is printed. It reads with the token
    and access given here, and changes nothing.
    """
    try:
        from groundwire_client.http_server import limited_server, log_to_stderr
        from groundwire_explore.app import Settings, make_app
        from groundwire_explore.guard import new_key
    except ModuleNotFoundError as error:
        typer.echo(f'error: {error.name} is not installed; pip install "groundwire[explore]"', err=True)
        raise typer.Exit(2) from error
    connect = partial(connection.async_client, connection.token, access=caller.access, timeout=timeout)
    try:
        asyncio.run(_close(connect))
    except (ValueError, OSError) as error:
        raise typer.BadParameter(str(error)) from error
    with _listening(port) as listener:
        host, key = f"{_LOOPBACK}:{listener.getsockname()[1]}", new_key()
        app = make_app(Settings(connect, key, host, repository, branch, trace))
        # Only what the terminal shows has the key: a browser started from here would show it to every user of the
        # machine, who can list the arguments of processes.
        typer.echo(f"open http://{host}/#key={key}\nstop with Ctrl+C")
        log_to_stderr()
        with suppress(KeyboardInterrupt):
            limited_server(app).run(sockets=[listener])


async def _close(connect: Callable[[], AsyncGroundwireClient]) -> None:
    """Raises what is wrong with the arguments of a client before the page is served with them."""
    await connect().close()


def _listening(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((_LOOPBACK, port))
        listener.listen()  # before the address is printed
    except OSError as error:
        listener.close()
        raise typer.BadParameter(
            f"{port} cannot be used ({error.strerror}): give another one, or 0 for a free one", param_hint="--port"
        ) from error
    return listener
