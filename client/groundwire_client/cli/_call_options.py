"""The options that all commands which ask an index share, and the call that they describe."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Protocol, TypeVar

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
from groundwire.v1.scope_pb2 import IndexScope, NodeFilter
from groundwire_client._client import GroundwireClient
from groundwire_client._defaults import TIMEOUT
from groundwire_client._helpers import Scopes, pinned
from groundwire_client._reading import Reading
from groundwire_client._several import left_out_note
from groundwire_client.cli._choices import in_panel
from groundwire_client.cli._connection_options import AccessOptions, ConnectionOptions
from groundwire_client.cli._names import print_notes, unknown_names
from groundwire_client.cli._rendering import print_ids, print_json, print_reading
from groundwire_client.cli._scopes import BRANCH_VARIABLE, REPOSITORY_VARIABLE, found_scopes, only

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
_connection = in_panel("Connection")


class _Indexed(Protocol):
    """The result of a call about one index version, or several."""

    @property
    def index(self) -> str:
        """The index version that answered; empty for several."""
        ...


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
