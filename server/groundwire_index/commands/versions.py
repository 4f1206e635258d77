"""`groundwire indexes`, `activate`, `delete`, `verify`: the versions in a data folder."""

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from groundwire_index.commands.options import (
    DEFAULT_DATA,
    Branch,
    Data,
    Repository,
    checked_scope,
    fail,
    reporting_failures,
)

if TYPE_CHECKING:
    from groundwire_index.store.listing import VersionEntry

Version = Annotated[str, typer.Argument(help="The index version, as `groundwire indexes` lists it.")]


def indexes(
    data: Data = DEFAULT_DATA,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list of objects.")] = False,
) -> None:
    """List the index versions of a data folder with their full counts, whatever their access."""
    with reporting_failures():
        from groundwire_index.store.listing import list_versions

        entries = list_versions(data)
    if as_json:
        print(json.dumps([asdict(entry) for entry in entries], indent=1, ensure_ascii=False))
    else:
        _print_table(entries)


def activate(version: Version, repository: Repository, branch: Branch, data: Data = DEFAULT_DATA) -> None:
    """Let VERSION answer calls that pin none. Its files are checked first."""
    scope = checked_scope(repository, branch, version)
    with reporting_failures():
        from groundwire_index.store.store import IndexStore

        previous = IndexStore(data).activate(scope)
    print(f"{version} is active" + (f"; before it was {previous}" if previous not in ("", version) else ""))


def delete(version: Version, repository: Repository, branch: Branch, data: Data = DEFAULT_DATA) -> None:
    """Delete VERSION, which must not be active. Its name is not used again."""
    scope = checked_scope(repository, branch, version)
    with reporting_failures():
        from groundwire_index.store.store import IndexStore

        IndexStore(data).delete(scope)
    print(f"{version} is deleted")


def verify(
    repository: Repository,
    branch: Branch,
    version: Annotated[str, typer.Option(help="The version; the active one unless given.")] = "",
    data: Data = DEFAULT_DATA,
) -> None:
    """Read every file of a version and compare its checksum."""
    with reporting_failures():
        from groundwire_index.store.loaded import verify as verify_index
        from groundwire_index.store.store import IndexStore

        store = IndexStore(data)
        scope = checked_scope(repository, branch, version)
        pinned = replace(scope, active_index=version or store.active(scope))
        if not pinned.active_index:
            fail(f"{repository} {branch} has no active version in {data}; name one with --version")
        verify_index(store.require(pinned))
    print(f"{pinned.active_index} is sound")


def _print_table(entries: "list[VersionEntry]") -> None:
    table = Table()
    for heading in ("repository", "branch", "version", "active", "nodes", "edges", "created"):
        table.add_column(heading, justify="right" if heading in ("nodes", "edges") else "left", overflow="fold")
    for entry in entries:
        names = (entry.repository, entry.branch, entry.version, "yes" if entry.active else "")
        counts = ("", "") if entry.damage else (f"{entry.node_count:,}", f"{entry.edge_count:,}")
        table.add_row(*names, *counts, f"damaged: {entry.damage}" if entry.damage else entry.created[:16])
    Console().print(table, markup=False)
