"""`groundwire mcp`: offer a Groundwire server, or a folder, to coding agents."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from groundwire.printable_text import one_line
from groundwire_client import GroundwireError
from groundwire_client.cli import AccessOptions, ConnectionOptions, host_and_port, in_panel, with_options

if TYPE_CHECKING:  # what these import is in the extra
    from groundwire_mcp.http import HttpOptions
    from groundwire_mcp.serving import ServeFolder

_EXIT_FAILED, _EXIT_USAGE, _EXIT_INTERRUPTED = 1, 2, 130
_http, _local = in_panel("HTTP"), in_panel("A folder")


@dataclass(frozen=True, kw_only=True)
class _HttpOptions:
    """The options of the transport, as typer parses them."""

    http: Annotated[str, _http(metavar="HOST:PORT", help="Serve streamable HTTP there instead of stdio.")] = ""
    caller_tokens: Annotated[
        bool, _http("--caller-tokens", help="Demand a bearer token of every request, and call the server with it.")
    ] = False
    expose: Annotated[
        bool, _http("--expose", help="Let other machines connect without tokens; they get the access given here.")
    ] = False
    allowed_host: Annotated[
        list[str] | None,
        _http(metavar="HOST[:PORT]", help="Another name that callers use, such as a proxy's; repeatable."),
    ] = None

    def parsed(self) -> "HttpOptions | None":
        """None for stdio; an IPv6 address is in brackets. Raises ValueError."""
        from groundwire_mcp.http import HttpOptions

        if not self.http and (self.caller_tokens or self.expose or self.allowed_host):
            raise ValueError("--caller-tokens, --expose and --allowed-host: have no use without --http HOST:PORT")
        if not self.http:
            return None
        host, port = host_and_port(self.http, "--http")
        return HttpOptions(host, port, self.caller_tokens, self.expose, self.allowed_host or ())


@dataclass(frozen=True, kw_only=True)
class _LocalOptions:
    """The options of a folder, as typer parses them."""

    local: Annotated[
        Path | None, _local(exists=True, file_okay=False, help="Index this folder and serve it; needs no other server.")
    ] = None
    cache: Annotated[
        Path | None, _local(file_okay=False, help="Where its index is kept.", show_default="the user's cache")
    ] = None
    embedder: Annotated[
        str,
        _local(
            help="As for `groundwire index`: a model's name or path, a service's URL, or none.",
            show_default="the default model",
        ),
    ] = ""


def register(app: typer.Typer, serve_folder: "ServeFolder") -> None:
    """Adds the command to `app`; `serve_folder` is what `--local` starts."""

    @app.command()
    @with_options(_LocalOptions, _HttpOptions, AccessOptions, ConnectionOptions)
    def mcp(
        local: _LocalOptions,
        http: _HttpOptions,
        access: AccessOptions,
        connection: ConnectionOptions,
        scope: Annotated[
            list[str] | None,
            typer.Option(
                metavar="REPOSITORY::BRANCH[::VERSION]",
                help="A repository that agents may ask about; repeatable.",
                show_default="all that the server lists",
            ),
        ] = None,
    ) -> None:
        """Serve tools for coding agents over the Model Context Protocol: of a server, or of a folder."""
        try:
            if local.local is None:
                running = _of_server(connection, access, http, local, scope or [])
            elif scope or access.access or http.caller_tokens:
                raise ValueError("--local: serves one folder, all of it: leave out --scope, --caller-tokens and access")
            else:
                running = _of_folder(local.local, local, http, serve_folder)
        except ModuleNotFoundError as error:
            _fail(f'{error.name} is not installed; pip install "groundwire[mcp]"', _EXIT_USAGE)
        except ValueError as error:
            _fail(str(error), _EXIT_USAGE)
        try:
            asyncio.run(running)
        except (GroundwireError, ValueError, OSError) as error:
            _fail(" ".join(str(error).split()), _EXIT_FAILED)
        except KeyboardInterrupt:
            raise typer.Exit(_EXIT_INTERRUPTED) from None


def _of_server(
    connection: ConnectionOptions, access: AccessOptions, http: _HttpOptions, local: _LocalOptions, scopes: list[str]
) -> Coroutine[Any, Any, None]:
    """Raises ValueError for options that do not fit together."""
    from groundwire_client.http_server import log_to_stderr
    from groundwire_mcp.scopes import AllowedScope, AllowedScopes
    from groundwire_mcp.serving import serve_scopes

    if local.cache or local.embedder:
        raise ValueError("--cache and --embedder: have no use without --local FOLDER")
    if http.expose and not scopes:
        raise ValueError("--expose: needs --scope: name what other machines may ask about")
    if http.caller_tokens and connection.token:
        raise ValueError(
            "--caller-tokens, --token-file: give one; with both, the server could not know which token to use"
        )
    try:
        allowed = AllowedScopes(map(AllowedScope.parse, scopes)) if scopes else None
    except ValueError as error:
        raise ValueError(f"--scope: {error}") from None
    options = http.parsed()
    log_to_stderr()
    return serve_scopes(connection, access.access, allowed, options)


def _of_folder(
    folder: Path, local: _LocalOptions, http: _HttpOptions, serve_folder: "ServeFolder"
) -> Coroutine[Any, Any, None]:
    """Raises ValueError for options that do not fit together."""
    from groundwire_client.http_server import log_to_stderr
    from groundwire_mcp.serving import serve_local

    options = http.parsed()
    log_to_stderr()
    return serve_local(serve_folder(folder, local.cache, local.embedder), options)


def _fail(message: str, code: int) -> NoReturn:
    typer.echo(f"error: {one_line(message)}", err=True)
    raise typer.Exit(code)
