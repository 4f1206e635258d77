"""The index versions in object storage: in the same folders as in a data folder.

The checksum of a manifest is written after everything else of a version. So a version without it is not published yet.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

from groundwire_index.embedding.int8.store import ENCODERS_FOLDER
from groundwire_index.nodes.policies import POLICIES_FILE
from groundwire_index.scope import Scope, escaped, unescaped, version_problem
from groundwire_index.store.manifest import CHECKSUM_FILE, MANIFEST_FILE, Manifest
from groundwire_index.store.store import ACTIVE_FILE, TOMBSTONES_FOLDER
from groundwire_index.store.version_entry import VersionEntry
from groundwire_object_storage.object_folder import ObjectFolder, ObjectStorageError

_LOG = logging.getLogger(__name__)
_MOST_POINTER_BYTES = 1_024
_MOST_MANIFEST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class PublishedManifest:
    """A manifest, and the two files that hold it."""

    manifest: Manifest
    content: bytes
    checksum: bytes


class PublishedVersions:
    """The versions of all scopes at an address. Methods raise ObjectStorageError where it cannot be reached."""

    def __init__(self, folder: ObjectFolder) -> None:
        self.folder = folder
        self.place = folder.place

    def scopes(self, is_wanted: Callable[[str], bool] = lambda repository: True) -> list[Scope]:
        """The branches of the repositories that are wanted, sorted; names that no scope can have are left out."""
        return sorted(
            (
                Scope(repository, branch)
                for repository in _scope_names(self.folder.names())
                if is_wanted(repository)
                for branch in _scope_names(self.folder.names(escaped(repository)))
            ),
            key=lambda scope: (scope.repository, scope.branch),
        )

    def versions(self, scope: Scope) -> list[str]:
        """The names of the versions of a scope, sorted; one of them may still be on its way."""
        return [name for name in self.folder.names(branch_path(scope)) if not version_problem(name)]

    def active(self, scope: Scope) -> str:
        """The version that servers are to take, "" where none is named."""
        content = self.folder.content(f"{branch_path(scope)}/{ACTIVE_FILE}", _MOST_POINTER_BYTES)
        version = (content or b"").decode("ascii", "replace")
        if version and version_problem(version):
            _LOG.error("%s/%s/%s names no version: activate one", self.place, branch_path(scope), ACTIVE_FILE)
            return ""
        return version

    def activate(self, scope: Scope) -> str:
        """Names the version that servers are to take; returns the one before, or "".

        Raises ObjectStorageError where it is not published, or was withdrawn: a withdrawal that was interrupted leaves
        files behind.
        """
        if scope.active_index in self.withdrawn(scope):
            raise ObjectStorageError(
                f"{self.place}: version {scope.active_index!r} of {scope_name(scope)} was withdrawn; publish another"
            )
        self.manifest(scope)
        previous = self.active(scope)
        self.folder.write(f"{branch_path(scope)}/{ACTIVE_FILE}", scope.active_index.encode())
        return previous

    def checksum(self, scope: Scope) -> bytes | None:
        """The content of the version's CHECKSUM_FILE, None unless it is published."""
        return self.folder.content(f"{version_path(scope)}/{CHECKSUM_FILE}", _MOST_POINTER_BYTES)

    def manifest(self, scope: Scope) -> PublishedManifest:
        """The manifest of a version.

        Raises:
            ObjectStorageError: It is not published.
            IndexDamagedError: It does not match its checksum, or has another format.
        """
        checksum = self.checksum(scope)
        content = self.folder.content(f"{version_path(scope)}/{MANIFEST_FILE}", _MOST_MANIFEST_BYTES)
        if checksum is None or content is None:
            raise ObjectStorageError(f"{self.place}: {scope_name(scope)} has no version {scope.active_index!r}")
        manifest = Manifest.parsed(content, checksum.decode("ascii", "replace"))
        if Scope(manifest.repository, manifest.branch, manifest.version) != scope:
            raise ObjectStorageError(
                f"{self.place}/{version_path(scope)}: holds version {manifest.version!r} of {manifest.repository} "
                f"{manifest.branch}; publish what belongs here"
            )
        return PublishedManifest(manifest, content, checksum)

    def withdrawn(self, scope: Scope) -> list[str]:
        """The versions of a scope that were withdrawn, sorted."""
        names = self.folder.names(f"{branch_path(scope)}/{TOMBSTONES_FOLDER}")
        return [name for name in names if not version_problem(name)]

    def withdraw(self, scope: Scope) -> None:
        """Removes a version, and lets all servers delete it. Its name is not used again.

        Raises ObjectStorageError where it is not published, or active.
        """
        if self.active(scope) == scope.active_index:
            raise ObjectStorageError(
                f"{self.place}: version {scope.active_index!r} of {scope_name(scope)} is active; publish another first"
            )
        names = self.folder.names(version_path(scope))
        if not names:
            raise ObjectStorageError(f"{self.place}: {scope_name(scope)} has no version {scope.active_index!r}")
        tombstone = f"{branch_path(scope)}/{TOMBSTONES_FOLDER}/{scope.active_index}/{POLICIES_FILE}"
        # First what lets servers delete it. When this is interrupted, the command can be given again.
        self.folder.write(tombstone, b"[]")
        for name in sorted(names, key=lambda name: name != CHECKSUM_FILE):
            self.folder.remove(f"{version_path(scope)}/{name}")

    def listed(self) -> list[VersionEntry]:
        """Every published version, damaged ones included, ordered by repository, branch and version."""
        entries: list[VersionEntry] = []
        for scope in self.scopes():
            active = self.active(scope)
            pinned_scopes = [replace(scope, active_index=version) for version in self.versions(scope)]
            entries += [
                VersionEntry.of(pinned, pinned.active_index == active, _ManifestReader(self, pinned))
                for pinned in pinned_scopes
                if self.checksum(pinned) is not None
            ]
        return entries


@dataclass(frozen=True, slots=True)
class _ManifestReader:
    """Reads the manifest of a version."""

    published: PublishedVersions
    scope: Scope

    def __call__(self) -> Manifest:
        return self.published.manifest(self.scope).manifest


def scope_name(scope: Scope) -> str:
    """The scope as messages name it."""
    return f"{scope.repository} {scope.branch}"


def branch_path(scope: Scope) -> str:
    """The path of a scope's folder."""
    return f"{escaped(scope.repository)}/{escaped(scope.branch)}"


def version_path(scope: Scope) -> str:
    """The path of the folder of the version that `scope.active_index` names."""
    return f"{branch_path(scope)}/{scope.active_index}"


def encoder_path(fingerprint: str) -> str:
    """The path of the folder of a converted model."""
    return f"{ENCODERS_FOLDER}/{fingerprint}"


def _scope_names(folder_names: list[str]) -> list[str]:
    names = map(unescaped, folder_names)
    return sorted(name for name in names if name is not None)
