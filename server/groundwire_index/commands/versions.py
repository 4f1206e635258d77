"""The versions in a data folder or in Milvus: `groundwire verify`, and what the other commands for versions do."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from groundwire_index.commands.options import Branch, Repository, checked_scope, fail, reporting_failures
from groundwire_index.commands.storage import Storage, with_storage
from groundwire_index.scope import Scope
from groundwire_index.store.version_entry import VersionEntry

if TYPE_CHECKING:
    from groundwire_index.milvus.address import MilvusAddress
    from groundwire_index.milvus.catalogue import Catalogue
    from groundwire_index.store.loaded import LoadedIndex
    from groundwire_index.store.store import IndexStore


def listed(storage: Storage) -> list[VersionEntry]:
    """The versions in a data folder or in Milvus. Raises OperatorError and OSError."""
    if storage.milvus is not None:
        from groundwire_index.milvus.upkeep import list_versions as list_versions_of_milvus

        return list_versions_of_milvus(catalogue_at(storage.milvus))
    from groundwire_index.store.listing import list_versions

    return list_versions(storage.data)


def activated(storage: Storage, scope: Scope) -> str:
    """Makes a version the active one; the one before, or "". Raises OperatorError and OSError."""
    return _versions(storage).activate(scope)


def delete_version(storage: Storage, scope: Scope) -> None:
    """Deletes a version. Raises OperatorError and OSError."""
    if storage.milvus is not None:
        from groundwire_index.milvus.upkeep import delete_version as delete_version_of_milvus

        delete_version_of_milvus(catalogue_at(storage.milvus), scope)
    else:
        from groundwire_index.store.store import IndexStore

        IndexStore(storage.data).delete(scope)


@with_storage
def verify(
    repository: Repository,
    branch: Branch,
    storage: Storage,
    version: Annotated[str, typer.Option(help="The version; the active one unless given.")] = "",
) -> None:
    """Read everything of a version, every file or every row, and compare its checksum."""
    with reporting_failures():
        pinned = pinned_scope(storage, checked_scope(repository, branch, version))
        _versions(storage).verify(pinned)
    print(f"{pinned.active_index} is sound")


@contextmanager
def opened(storage: Storage, pinned: Scope) -> "Iterator[LoadedIndex]":
    """The version that a scope pins, with its nodes and edges.

    Of a version in Milvus it is a copy in a temporary folder, as `milvus.local_copy` says. Raises OperatorError and
    OSError.
    """
    if storage.milvus is not None:
        from groundwire_index.milvus.local_copy import local_copy

        with TemporaryDirectory(prefix="groundwire-") as folder:
            yield local_copy(catalogue_at(storage.milvus), pinned, Path(folder))
    else:
        from groundwire_index.store.loaded import open_version
        from groundwire_index.store.store import IndexStore

        yield open_version(IndexStore(storage.data).require(pinned), pinned)


def pinned_scope(storage: Storage, scope: Scope) -> Scope:
    """The scope with its active version unless it pins one; ends the command where it has none. Raises as `opened`."""
    pinned = replace(scope, active_index=scope.active_index or _versions(storage).active(scope))
    if not pinned.active_index:
        where = storage.data if storage.milvus is None else storage.milvus.uri
        fail(f"{scope.repository} {scope.branch} has no active version in {where}; name a version")
    return pinned


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
