"""The versions in a data folder or in Milvus: `groundwire verify`, and what `indexes`, `activate` and `delete` do."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from groundwire_index.commands.options import Branch, Repository, checked_scope, fail, reporting_failures
from groundwire_index.commands.storage import Storage, with_storage
from groundwire_index.scope import Scope
from groundwire_index.store.version_entry import VersionEntry

if TYPE_CHECKING:
    from groundwire_index.milvus.address import MilvusAddress
    from groundwire_index.milvus.catalogue import Catalogue
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
