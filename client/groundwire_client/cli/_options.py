"""The options that commands share: which scope, seen with which access, on which server."""

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NoReturn, Protocol, TypeVar

import typer

from groundwire.printable_text import printable
from groundwire.v1.evidence_pb2 import GatherEvidenceResponse
from groundwire.v1.query_pb2 import QueryResponse
from groundwire.v1.retrieval_pb2 import (
    ExpandDependencyTreeResponse,
    FetchNodeTextsResponse,
    FindPathsResponse,
    SearchNodesResponse,
    SearchTextResponse,
)
from groundwire.v1.scope_pb2 import AccessContext, Bound, IndexScope, NodeFilter
from groundwire_client._async_client import AsyncGroundwireClient
from groundwire_client._channel import DEFAULT_SERVER, SERVER_VARIABLE, TLS
from groundwire_client._client import GroundwireClient
from groundwire_client._defaults import TIMEOUT
from groundwire_client._errors import GroundwireError, InvalidRequestError, UnavailableError
from groundwire_client._helpers import Scopes, pinned
from groundwire_client._reading import Reading
from groundwire_client._resolution import NameResolutionError
from groundwire_client._several import left_out_note
from groundwire_client._token import TOKEN_FILE_VARIABLE, TokenFile
from groundwire_client.cli._choices import in_panel
from groundwire_client.cli._names import print_notes, unknown_names
from groundwire_client.cli._option_names import CURES, option_of
from groundwire_client.cli._rendering import print_ids, print_json, print_reading
from groundwire_client.cli._scopes import BRANCH_VARIABLE, REPOSITORY_VARIABLE, found_scopes, only, visible_scopes

_Result = TypeVar("_Result")
_Response = TypeVar(
    "_Response",
    SearchNodesResponse,
    SearchTextResponse,
    ExpandDependencyTreeResponse,
    FindPathsResponse,
    FetchNodeTextsResponse,
    QueryResponse,
    GatherEvidenceResponse,
)

_Noted = TypeVar("_Noted", bound="_Indexed")
_access, _connection = in_panel("Access"), in_panel("Connection")
_BOUNDS = tuple(field.name for field in AccessContext.DESCRIPTOR.fields if field.message_type is Bound.DESCRIPTOR)


class _Indexed(Protocol):
    """The result of a call about one index version, or several."""

    @property
    def index(self) -> str:
        """The index version that answered; empty for several."""
        ...


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
                    _fail(error, self.server, visible)
        except NameResolutionError as error:
            typer.echo(f"error: {printable(str(error))}", err=True)
            raise typer.Exit(1) from error
        except (ValueError, OSError) as error:
            raise typer.BadParameter(str(error)) from error


@dataclass(frozen=True, kw_only=True)
class CallOptions(AccessOptions, ConnectionOptions):
    """The options that every command of the client shares as typer parses them, and the call that they describe."""

    repository: Annotated[
        list[str] | None,
        typer.Option(
            "--repository",
            "-r",
            envvar=REPOSITORY_VARIABLE,
            help="The repository of the scope; repeatable, or a pattern: 'team-*'.",
            show_default="the only one",
        ),
    ] = None
    branch: Annotated[
        list[str] | None,
        typer.Option(
            "--branch",
            "-b",
            envvar=BRANCH_VARIABLE,
            help="The branch of the scope; one for all repositories, or one each.",
            show_default="the only one",
        ),
    ] = None
    index: Annotated[str, typer.Option(help="The index version to read.", show_default="the active one")] = ""
    as_json: Annotated[bool, typer.Option("--json", help="Print the response as one JSON object.")] = False
    as_ids: Annotated[bool, typer.Option("--ids", help="Print the ids of the nodes alone, one a line.")] = False
    timeout: Annotated[float, _connection(help="Seconds until a call gives up.")] = TIMEOUT

    def scope_of(self, client: GroundwireClient) -> IndexScope:
        """The scope of a command that reads one. Raises typer.BadParameter for several (exit code 2)."""
        repositories, branches = self.repository or [], self.branch or []
        only("--repository", repositories)
        only("--branch", branches)
        scope = found_scopes(client, repositories, branches, self.index)
        if not isinstance(scope, IndexScope):
            raise typer.BadParameter("give one name, as this command reads one repository and branch")
        return scope

    def answer(
        self,
        call: Callable[[GroundwireClient, Scopes], _Response],
        show: Callable[[IndexScope, _Response], None],
        narrowing: NodeFilter,
        edge_types: Sequence[str] = (),
    ) -> None:
        """Makes a call about the scopes and prints its response: as JSON or ids if asked for, else by `show`.

        Prints on standard error names of the filter and edge types that the one answering index does not have, and
        which of several were searched without embeddings. Raises as `called` does.
        """
        scopes, response, notes = self._noted(call, narrowing, edge_types)
        if not self._printed(response):
            show(scopes if isinstance(scopes, IndexScope) else IndexScope(), response)
        print_notes(notes)

    def answer_programs(
        self, call: Callable[[GroundwireClient, Scopes], FetchNodeTextsResponse], narrowing: NodeFilter
    ) -> None:
        """As `answer`, for a command that people get something else of: as JSON or ids."""
        _, response, notes = self._noted(call, narrowing, ())
        self._printed(response)
        print_notes(notes)

    @property
    def is_for_programs(self) -> bool:
        """True if the response is asked for as JSON or ids."""
        return self.as_json or self.as_ids

    def _printed(self, response: _Response) -> bool:
        """Prints a response as JSON or ids if asked for; False if not."""
        if self.as_json:
            print_json(response)
        elif self.as_ids:
            print_ids(response)
        return self.is_for_programs

    def read(self, call: Callable[[GroundwireClient, Scopes], Reading], narrowing: NodeFilter) -> None:
        """Makes a call about the scopes and prints the texts that it reads; notes as `answer` does.

        Raises as `called` does, and typer.Exit if a name means no node or several that differ (exit code 1).
        """
        _, reading, notes = self._noted(call, narrowing, ())
        print_reading(reading)
        print_notes(notes)
        if reading.unread:
            typer.echo(printable("error: " + "\n".join(reading.unread_rows())), err=True)
            raise typer.Exit(1)

    def _noted(
        self, call: Callable[[GroundwireClient, Scopes], _Noted], narrowing: NodeFilter, edge_types: Sequence[str]
    ) -> tuple[Scopes, _Noted, list[str]]:
        """The scopes, the result of a call about them, and the notes on names and indexes that `answer` prints."""

        def answered(client: GroundwireClient) -> tuple[Scopes, _Noted, list[str]]:
            scopes = found_scopes(client, self.repository or [], self.branch or [], self.index)
            response = call(client, scopes)
            notes: list[str] = []
            if isinstance(scopes, IndexScope):
                notes = unknown_names(client, pinned(scopes, response.index), narrowing, edge_types)
            # Of several indexes, none says alone what there is.
            elif isinstance(response, SearchNodesResponse | QueryResponse | GatherEvidenceResponse) and (
                note := left_out_note(response)
            ):
                notes = [note]
            return scopes, response, notes

        return self.called(answered, timeout=self.timeout, access=self.access)


def with_options(*groups: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Makes a command of a function whose first parameters are dataclasses of options, by adding those to its own.

    typer reads options off a function's signature, so the command gets the signature that it would have if it listed
    all options itself.
    """
    shared = [inspect.signature(group).parameters for group in groups]

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        own_parameters = list(inspect.signature(command).parameters.values())[len(groups) :]

        @functools.wraps(command)
        def run(**values: object) -> None:
            made = [
                group(**{name: values.pop(name) for name in names}) for group, names in zip(groups, shared, strict=True)
            ]
            command(*made, **values)

        listed = (*own_parameters, *(parameter for names in shared for parameter in names.values()))
        merged = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in listed]
        vars(run)["__signature__"] = inspect.Signature(merged)
        return run

    return decorated


def _fail(error: GroundwireError, server: str, visible: str) -> NoReturn:
    """One line for each broken rule of a request, or one for any other error. `visible` are the scopes there are.

    UNAVAILABLE without a reason comes from gRPC itself: no server answers at the address.
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
