"""`groundwire explore`: serves the page on this machine, or to callers with tokens, until it is stopped."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from groundwire.printable_text import one_line
from groundwire_client import AsyncGroundwireClient, GroundwireError
from groundwire_client.cli import AccessOptions, ConnectionOptions, host_and_port, with_options

if TYPE_CHECKING:  # what it imports is in the extra
    from groundwire_explore.pages import Settings

_DEFAULT_PORT = 8422
_DEFAULT_TIMEOUT = 30.0
_LOOPBACK = "127.0.0.1"
_EXIT_FAILED = 1


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
        int | None,
        typer.Option(
            min=0,
            max=65_535,
            help="The port of the page on this machine; 0 takes a free one.",
            show_default=str(_DEFAULT_PORT),
        ),
    ] = None,
    listen: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", help="Serve a team behind a proxy, each by the bearer token of a request."),
    ] = "",
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST[:PORT]", help="With --listen, a name that callers use, as of a proxy; repeatable."),
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds until a call gives up.")] = _DEFAULT_TIMEOUT,
) -> None:
    """Show in a browser what a server answers, and why.

    The page is served on this machine alone, and only to who has the address that is printed. It reads with the token
    and access given here, and changes nothing. With --listen it is served to a team: each request needs a token of its
    own, and reads with that.
    """
    try:
        from groundwire_client.caller_tokens import request_token
        from groundwire_client.http_server import allowed_hosts, in_url, listening_at, log_to_stderr
        from groundwire_explore.app import Settings
        from groundwire_explore.guard import new_key
    except ModuleNotFoundError as error:
        typer.echo(f'error: {error.name} is not installed; pip install "groundwire[explore]"', err=True)
        raise typer.Exit(2) from error
    token = request_token if listen else connection.token
    connect = partial(connection.async_client, token, access=caller.access, timeout=timeout)
    try:
        host, at = _address(listen, port)
        if listen:
            _check_alone(connection, trace, port)
        elif allowed_host:
            raise ValueError("--allowed-host: has no use without --listen HOST:PORT")
        asyncio.run(_check(connect, connection if listen else None))
        listener = listening_at(host, at) if listen else _listening(at)
    except GroundwireError as error:
        typer.echo(f"error: {one_line(str(error))}", err=True)
        raise typer.Exit(_EXIT_FAILED) from error
    except (ValueError, OSError) as error:
        raise typer.BadParameter(str(error)) from error
    with listener:
        at = listener.getsockname()[1]
        if listen:
            hosts = allowed_hosts(host, at, allowed_host or ())
            settings = Settings(connect, "", hosts, repository, branch, caller_tokens=True)
            typer.echo(f"serving the page at http://{in_url(host)}:{at} to callers with tokens\nstop with Ctrl+C")
        else:
            key = new_key()
            settings = Settings(connect, key, [f"{host}:{at}"], repository, branch, trace)
            # Only what the terminal shows has the key: a browser started from here would show it to every user of the
            # machine, who can list the arguments of processes.
            typer.echo(f"open http://{host}:{at}/#key={key}\nstop with Ctrl+C")
        log_to_stderr()
        _serve(settings, listener)


def _serve(settings: "Settings", listener: socket.socket) -> None:
    from groundwire_client.http_server import limited_server
    from groundwire_explore.app import make_app

    with suppress(KeyboardInterrupt):
        limited_server(make_app(settings)).run(sockets=[listener])


def _address(listen: str, port: int | None) -> tuple[str, int]:
    """Raises ValueError."""
    return host_and_port(listen, "--listen") if listen else (_LOOPBACK, _DEFAULT_PORT if port is None else port)


def _check_alone(connection: ConnectionOptions, trace: Path | None, port: int | None) -> None:
    """Raises ValueError for options that do not go with callers who bring their tokens."""
    if connection.token:
        raise ValueError("--listen, --token-file: give one; with both, the server could not know which token to use")
    if trace is not None:
        raise ValueError("--listen, --trace: give one; a run is its user's, and every caller would see it")
    if port is not None:
        raise ValueError("--listen, --port: give one; --listen HOST:PORT has the port")


async def _check(connect: Callable[[], AsyncGroundwireClient], of_callers: ConnectionOptions | None) -> None:
    """Raises what is wrong with the arguments of a client before the page is served with them.

    Where callers bring their own tokens, the server must check them.
    """
    from groundwire_client.caller_tokens import check_that_tokens_are_demanded

    await connect().close()
    if of_callers is not None:
        async with of_callers.async_client(None) as client:
            await check_that_tokens_are_demanded(client, of_callers.server, "--listen")


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
