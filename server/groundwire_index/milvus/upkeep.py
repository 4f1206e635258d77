"""An operator's work on the versions in Milvus: listing, deleting, and removing the remains of dead builds."""

import time
from dataclasses import replace

from groundwire_index.milvus.catalogue import Catalogue
from groundwire_index.milvus.entries import Entry, State
from groundwire_index.milvus.schema import building_alias
from groundwire_index.milvus.verification import check_counts
from groundwire_index.scope import Scope
from groundwire_index.store.errors import BuildRefusedError, IndexDamagedError
from groundwire_index.store.version_entry import VersionEntry

SECONDS_BETWEEN_BEATS = 5.0
"""How often a living build changes its entry."""
BEATS_MISSED = 6
"""A build that has missed this number of beats has died."""
_SECONDS_BETWEEN_LOOKS = 0.1


def remove_leftovers(catalogue: Catalogue, scope: Scope, seconds_between_beats: float) -> list[Entry]:
    """Removes everything in a scope that is no longer used; returns the entries of builds that live.

    Waits until each build has shown that it lives, or missed BEATS_MISSED beats: clocks of machines are not compared.
    Raises StorageUnavailableError.
    """
    living, dead = _judged(catalogue, scope, BEATS_MISSED * seconds_between_beats)
    for build in dead:
        remove_build(catalogue, build)
    for entry in catalogue.others(scope, State.DELETED):
        catalogue.remove(entry)
    return living


def delete_version(catalogue: Catalogue, scope: Scope, seconds_between_beats: float = SECONDS_BETWEEN_BEATS) -> None:
    """Deletes a version; where there is only what a build of it has left that died, removes that.

    Raises as `Catalogue.delete` does, and BuildRefusedError for a version that is being built.
    """
    if catalogue.entry(scope) is not None or scope not in [
        build.scope for build in catalogue.others(scope, State.BUILDING)
    ]:
        catalogue.delete(scope)
    elif scope in [build.scope for build in remove_leftovers(catalogue, scope, seconds_between_beats)]:
        raise BuildRefusedError(f"version {scope.active_index!r} is being built; end that build first")


def remove_build(catalogue: Catalogue, build: Entry) -> None:
    """Removes the entry of a build, with its collections unless a version that is there has them."""
    alias = building_alias(build.scope)
    if catalogue.store.alias_target(alias) == build.collections.facts:
        catalogue.store.drop_alias(alias)
    version = catalogue.entry(build.scope)
    if version is None or version.build != build.build:
        catalogue.remove(build)
    catalogue.remove_entry(build)


def _judged(catalogue: Catalogue, scope: Scope, patience: float) -> tuple[list[Entry], list[Entry]]:
    """The builds of a scope that live, and those that have died."""
    suspects = {build.key: build for build in catalogue.others(scope, State.BUILDING)}
    living: list[Entry] = []
    deadline = time.monotonic() + patience
    while suspects and time.monotonic() < deadline:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
        now = {build.key: build for build in catalogue.others(scope, State.BUILDING)}
        living += [now[key] for key, build in suspects.items() if key in now and now[key].beat != build.beat]
        suspects = {key: build for key, build in suspects.items() if key in now and now[key].beat == build.beat}
    return living, list(suspects.values())


def list_versions(catalogue: Catalogue) -> list[VersionEntry]:
    """Every version that is ready, ordered by repository, branch and version. Raises StorageUnavailableError."""
    return [_listed(catalogue, entry) for entry in catalogue.versions()]


def _listed(catalogue: Catalogue, entry: Entry) -> VersionEntry:
    scope = entry.scope
    version = scope.active_index
    bare = VersionEntry(scope.repository, scope.branch, version, catalogue.active(scope) == version)
    try:
        document = catalogue.document(entry)
        check_counts(catalogue.store, entry.collections, document)
    except IndexDamagedError as error:
        return replace(bare, damage=str(error))
    return bare.described(document.manifest)
