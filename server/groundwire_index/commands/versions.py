"""`groundwire indexes`, `activate`, `delete`, `verify`: the versions in a data folder or in Milvus."""

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from groundwire_index.commands.options import Branch, Repository, checked_scope, fail, reporting_failures
from groundwire_index.commands.storage import Storage, with_storage

if TYPE_CHECKING:
    from groundwire_index.milvus.address import MilvusAddress
    from groundwire_index.milvus.catalogue import Catalogue
    from groundwire_index.store.listing import VersionEntry
    from groundwire_index.store.store import IndexStore

Version = Annotated[str, typer.Argument(help="The index version, as `groundwire indexes` lists it.")]


@with_storage
def indexes(
    storage: Storage,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list of objects.")] = False,
) -> None:
    """List the index versions of a data folder, or of Milvus, with their full counts, whatever their access."""
    with reporting_failures():
        if storage.milvus is None:
            from groundwire_index.store.listing import list_versions

            entries = list_versions(storage.data)
        else:
            from groundwire_index.milvus.upkeep import list_versions as list_versions_of_milvus

            entries = list_versions_of_milvus(catalogue_at(storage.milvus))
    if as_json:
        print(json.dumps([asdict(entry) for entry in entries], indent=1, ensure_ascii=False))
    else:
        _print_table(entries)


@with_storage
def activate(version: Version, repository: Repository, branch: Branch, storage: Storage) -> None:
    """Let VERSION answer calls that pin none. It is checked first: its files, or in Milvus its counts of rows."""
    scope = checked_scope(repository, branch, version)
    with reporting_failures():
        previous = _versions(storage).activate(scope)
    print(f"{version} is active" + (f"; before it was {previous}" if previous not in ("", version) else ""))


@with_storage
def delete(version: Version, repository: Repository, branch: Branch, storage: Storage) -> None:
    """Delete VERSION, which must not be active. Its name is not used again."""
    scope = checked_scope(repository, branch, version)
    with reporting_failures():
        if storage.milvus is None:
            from groundwire_index.store.store import IndexStore

            IndexStore(storage.data).delete(scope)
        else:
            from groundwire_index.milvus.upkeep import delete_version

            delete_version(catalogue_at(storage.milvus), scope)
    print(f"{version} is deleted")


@with_storage
def verify(
    repository: Repository,
    branch: Branch,
    storage: Storage,
    version: Annotated[str, typer.Option(help="The version; the active one unless given.")] = "",
) -> None:
    """Read everything of a version, every file or every row, and compare its checksum."""
    with reporting_failures():
        versions = _versions(storage)
        scope = checked_scope(repository, branch, version)
        pinned = replace(scope, active_index=version or versions.active(scope))
        if not pinned.active_index:
            where = storage.data if storage.milvus is None else storage.milvus.uri
            fail(f"{repository} {branch} has no active version in {where}; name one with --version")
        versions.verify(pinned)
    print(f"{pinned.active_index} is sound")


def catalogue_at(address: "MilvusAddress") -> "Catalogue":
    """The catalogue of a Milvus, which is not asked yet."""
    from groundwire_index.milvus.catalogue import Catalogue
    from groundwire_index.milvus.store import MilvusStore

    return Catalogue(MilvusStore(address))


def _versions(storage: Storage) -> "IndexStore | Catalogue":
    if storage.milvus is not None:
        return catalogue_at(storage.milvus)
    from groundwire_index.store.store import IndexStore

    return IndexStore(storage.data)


def _print_table(entries: "list[VersionEntry]") -> None:
    table = Table()
    for heading in ("repository", "branch", "version", "active", "nodes", "edges", "created"):
        table.add_column(heading, justify="right" if heading in ("nodes", "edges") else "left", overflow="fold")
    for entry in entries:
        names = (entry.repository, entry.branch, entry.version, "yes" if entry.active else "")
        counts = ("", "") if entry.damage else (f"{entry.node_count:,}", f"{entry.edge_count:,}")
        table.add_row(*names, *counts, f"damaged: {entry.damage}" if entry.damage else entry.created[:16])
    Console().print(table, markup=False)
