"""The versions in a data folder, for its operator: each with its full counts, damaged ones included."""

from dataclasses import replace
from pathlib import Path

from groundwire_index.scope import Scope
from groundwire_index.store.errors import IndexDamagedError
from groundwire_index.store.manifest import Manifest, check_sizes
from groundwire_index.store.store import IndexStore
from groundwire_index.store.version_entry import VersionEntry


def list_versions(data: Path) -> list[VersionEntry]:
    """Every version below a data folder, ordered by repository, branch and version."""
    store = IndexStore(data)
    return [
        _entry(store, replace(scope, active_index=version), version == store.active(scope))
        for scope in store.scopes()
        for version in store.versions(scope)
    ]


def _entry(store: IndexStore, scope: Scope, active: bool) -> VersionEntry:
    bare = VersionEntry(scope.repository, scope.branch, scope.active_index, active)
    directory = store.directory(scope)
    try:
        manifest = Manifest.read(directory)
        check_sizes(directory, manifest)
    except IndexDamagedError as error:
        return replace(bare, damage=str(error))
    return described(bare, manifest)


def described(entry: VersionEntry, manifest: Manifest) -> VersionEntry:
    """An entry with the facts of a manifest."""
    space = manifest.vector_space
    return replace(
        entry,
        node_count=manifest.node_count,
        edge_count=manifest.edge_count,
        embedder=space.embedder if space else "",
        dimension=space.dimension if space else 0,
        lexical=manifest.code is not None,
        created=manifest.created.isoformat(),
        source=manifest.source,
    )
