"""`groundwire indexes`, `activate`, `delete`: in a data folder or in Milvus, or with --server at a running server."""

import json
from dataclasses import asdict, dataclass, fields
from datetime import UTC
from typing import Annotated

import typer

from groundwire.v1.index_pb2 import IndexVersion
from groundwire.v1.scope_pb2 import IndexScope
from groundwire_cli.options import Branch, Repository, checked_scope, reporting_failures
from groundwire_cli.storage_options import STORAGE_OPTIONS, Place, with_storage
from groundwire_cli.version_table import print_version_table
from groundwire_client.cli import AccessOptions, ConnectionOptions, with_options
from groundwire_index.backends import DEFAULT_BACKEND
from groundwire_index.scope import Scope
from groundwire_index.store.version_entry import VersionEntry

_AT_A_SERVER = tuple(
    field.name for group in (AccessOptions, ConnectionOptions) for field in fields(group) if field.name != "server"
)


@dataclass(frozen=True, kw_only=True)
class ServerOptions(ConnectionOptions):
    """The options of a running server, which is named on the command line alone.

    The variable that names the server to ask questions would otherwise decide what is deleted.
    """

    server: Annotated[
        str,
        typer.Option(
            help="The address of a running server to ask, instead of the data folder or Milvus.",
            rich_help_panel="Connection",
        ),
    ] = ""
    # A server gives up after as long unless configured otherwise; activation may read a whole version.
    timeout: Annotated[float, typer.Option(help="Seconds until a call gives up.", rich_help_panel="Connection")] = 120.0

    def are_given(self, context: typer.Context) -> bool:
        """True if a server is asked.

        Raises typer.BadParameter for options on the command line without an effect, and for a server without a name. An
        unset variable of the shell must not turn a command for a server into one for the data folder.
        """
        if not self.server and _is_typed(context, "server"):
            raise typer.BadParameter("is empty: give HOST:PORT, or leave it out", param_hint="--server")
        idle = STORAGE_OPTIONS if self.server else _AT_A_SERVER
        typed_options = [f"--{name.replace('_', '-')}" for name in idle if _is_typed(context, name)]
        if typed_options:
            rule = "is of a data folder or of Milvus: leave it or --server out" if self.server else "needs --server"
            raise typer.BadParameter(rule, param_hint=", ".join(typed_options))
        return bool(self.server)


@dataclass(frozen=True, kw_only=True)
class _VersionOptions(ServerOptions):
    """One version, and where it is: what commands that change a version take."""

    version: Annotated[str, typer.Argument(help="The index version, as `groundwire indexes` lists it.")]
    repository: Repository
    branch: Branch

    @property
    def scope(self) -> Scope:
        """The version's scope. Ends the command for a name that is none."""
        return checked_scope(self.repository, self.branch, self.version)


@with_storage
@with_options(AccessOptions, ServerOptions)
def indexes(
    caller: AccessOptions,
    at: ServerOptions,
    context: typer.Context,
    place: Place,
    repository: Annotated[str, typer.Option("--repository", "-r", help="List those of this repository alone.")] = "",
    branch: Annotated[str, typer.Option("--branch", "-b", help="List those of this branch alone.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list of objects.")] = False,
) -> None:
    """List the index versions of a data folder or of Milvus, whatever their access; with --server those you may see."""
    if at.are_given(context):
        listing = at.called(
            lambda client: client.list_indexes(repository, branch), timeout=at.timeout, access=caller.access
        )
        entries = [_entry(index) for index in listing.indexes]
    else:
        with reporting_failures():
            entries = [
                entry
                for entry in place.open().listed()
                if repository in ("", entry.repository) and branch in ("", entry.branch)
            ]
    if not entries:
        typer.echo(f"note: {_where_none_is(at, place, repository, branch)}", err=True)
    if as_json:
        print(json.dumps([asdict(entry) for entry in entries], indent=1, ensure_ascii=False))
    else:
        print_version_table(entries)


@with_storage
@with_options(_VersionOptions)
def activate(of: _VersionOptions, context: typer.Context, place: Place) -> None:
    """Let VERSION answer calls that pin none. It is checked first: its files, or in Milvus its counts of rows.

    A server must allow it (`allow_admin`), and grant it to your identity if it asks for one.
    """
    scope = of.scope
    if of.are_given(context):
        response = of.called(lambda client: client.activate_index(IndexScope(**scope.names)), timeout=of.timeout)
        previous = response.previous_version
    else:
        with reporting_failures():
            previous = place.open().activate(scope)
    print(f"{of.version} is active" + (f"; before it was {previous}" if previous not in ("", of.version) else ""))


@with_storage
@with_options(_VersionOptions)
def delete(of: _VersionOptions, context: typer.Context, place: Place) -> None:
    """Delete VERSION, which must not be active. Its name is not used again.

    A server must allow it (`allow_admin`), and grant it to your identity if it asks for one.
    """
    scope = of.scope
    if of.are_given(context):
        of.called(lambda client: client.delete_index(IndexScope(**scope.names)), timeout=of.timeout)
    else:
        with reporting_failures():
            place.open().delete(scope)
    print(f"{of.version} is deleted")


def _is_typed(context: typer.Context, name: str) -> bool:
    """True if an option is given on the command line, and does not come from a variable or a default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _entry(index: IndexVersion) -> VersionEntry:
    """A version as a server tells it; a damaged one it leaves out."""
    values = {field.name: getattr(index, field.name) for field in fields(VersionEntry) if hasattr(index, field.name)}
    return VersionEntry(**values, created=index.create_time.ToDatetime(UTC).isoformat())


def _where_none_is(at: ServerOptions, place: Place, repository: str, branch: str) -> str:
    """That there is no index, and what to do."""
    narrowed = " of that repository and branch" if repository or branch else ""
    if at.server:
        return f"the server {at.server} has no index{narrowed} that you may see"
    cure = "build one by `groundwire index SOURCE --repository NAME --branch NAME`, or name another place"
    if place.backend == DEFAULT_BACKEND and not place.data.is_dir():
        return f"there is no data folder {str(place.data)!r}: {cure} by --data"
    return f"there is no index{narrowed}: {cure}"
