"""The options of a connection: which server, and as whom it is called."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from groundwire.printable_text import printable
from groundwire.v1.scope_pb2 import AccessContext, Bound
from groundwire_client._async_client import AsyncGroundwireClient
from groundwire_client._channel import DEFAULT_SERVER, SERVER_VARIABLE, TLS
from groundwire_client._client import GroundwireClient
from groundwire_client._defaults import TIMEOUT
from groundwire_client._errors import GroundwireError
from groundwire_client._resolution import NameResolutionError
from groundwire_client._token import TOKEN_FILE_VARIABLE, TokenFile
from groundwire_client.cli._choices import in_panel
from groundwire_client.cli._failures import fail
from groundwire_client.cli._scopes import visible_scopes

_Result = TypeVar("_Result")
_access, _connection = in_panel("Access"), in_panel("Connection")
_BOUNDS = tuple(field.name for field in AccessContext.DESCRIPTOR.fields if field.message_type is Bound.DESCRIPTOR)


@dataclass(frozen=True, kw_only=True)
class AccessOptions:
    """The options of what a caller may see, as typer parses them."""

    tenant: Annotated[str, _access(help="The caller's tenant.")] = ""
    acl_tag: Annotated[list[str] | None, _access(help="An ACL tag of the caller; repeatable.")] = None
    label: Annotated[list[str] | None, _access(help="A classification label of the caller; repeatable.")] = None
    clearance: Annotated[int, _access(help="The caller's clearance level.")] = 0
    bind: Annotated[
        list[str] | None,
        _access(metavar="BOUND=VALUE", help=f"A bound of the caller ({', '.join(_BOUNDS)}), and a value; repeatable."),
    ] = None

    @property
    def access(self) -> AccessContext | None:
        """None without any of the options, which narrows nothing where a token or certificate identifies the caller.

        Raises:
            typer.BadParameter: A `--bind` is none (exit code 2).
        """
        if not (self.tenant or self.acl_tag or self.label or self.clearance or self.bind):
            return None
        access = AccessContext(
            tenant_id=self.tenant,
            acl_tags_any=self.acl_tag or (),
            classification_labels_all=self.label or (),
            clearance_level=self.clearance,
        )
        for pair in self.bind or ():
            bound, separator, value = pair.partition("=")
            if bound not in _BOUNDS or not separator:
                raise typer.BadParameter(
                    f"{pair!r}: give one of {', '.join(_BOUNDS)}, then = and a value", param_hint="--bind"
                )
            getattr(access, bound).values.append(value)
        return access


@dataclass(frozen=True, kw_only=True)
class ConnectionOptions:
    """The options of the connection to a server, as typer parses them."""

    server: Annotated[str, _connection(envvar=SERVER_VARIABLE, help="The server's address.")] = DEFAULT_SERVER
    tls_ca: Annotated[Path | None, _connection(exists=True, dir_okay=False, help="Authorities to trust (PEM).")] = None
    tls_cert: Annotated[
        Path | None, _connection(exists=True, dir_okay=False, help="The client's certificate (PEM).")
    ] = None
    tls_key: Annotated[Path | None, _connection(exists=True, dir_okay=False, help="Its private key (PEM).")] = None
    token_file: Annotated[
        Path | None,
        _connection(
            envvar=TOKEN_FILE_VARIABLE,
            exists=True,
            dir_okay=False,
            help="File of the bearer token that says who calls.",
        ),
    ] = None
    plaintext_token: Annotated[
        bool,
        _connection(
            "--plaintext-token", help="Send the token without TLS to another machine: a mesh encrypts the connection."
        ),
    ] = False

    @property
    def credentials(self) -> TLS | None:
        """TLS when any of its files is given."""
        if self.tls_ca is None and self.tls_cert is None and self.tls_key is None:
            return None
        return TLS(self.tls_ca, self.tls_cert, self.tls_key)

    @property
    def token(self) -> TokenFile | None:
        """The token when its file is given."""
        return TokenFile(self.token_file) if self.token_file else None

    def async_client(
        self, token: Callable[[], str] | None, *, access: AccessContext | None = None, timeout: float = TIMEOUT
    ) -> AsyncGroundwireClient:
        """An asyncio client that calls with a token; `timeout` is seconds. Raises ValueError and OSError."""
        return AsyncGroundwireClient(
            self.server,
            credentials=self.credentials,
            token=token,
            plaintext_token=self.plaintext_token,
            access=access,
            timeout=timeout,
            check_values=False,
        )

    def called(
        self,
        call: Callable[[GroundwireClient], _Result],
        *,
        timeout: float = TIMEOUT,
        access: AccessContext | None = None,
    ) -> _Result:
        """The result of `call` with a connected client; `timeout` is seconds, for each of its calls.

        Raises:
            typer.Exit: A call failed, or a name means no node or for several; standard error says so (exit code
                1).
            typer.BadParameter: An argument cannot be sent (exit code 2).
        """
        try:
            with GroundwireClient(
                self.server,
                credentials=self.credentials,
                timeout=timeout,
                token=self.token,
                plaintext_token=self.plaintext_token,
                access=access,
                check_values=False,
            ) as client:
                try:
                    return call(client)
                except GroundwireError as error:
                    # A server that is asked for an index that it does not have is there to be asked for its list.
                    visible = visible_scopes(client) if error.reason == "SCOPE_NOT_FOUND" else ""
                    fail(error, self.server, visible)
        except NameResolutionError as error:
            typer.echo(f"error: {printable(str(error))}", err=True)
            raise typer.Exit(1) from error
        except (ValueError, OSError) as error:
            raise typer.BadParameter(str(error)) from error
