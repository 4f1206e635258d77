"""Keeps a data folder up to date with what is published: a bounded cache for servers without state.

A version is downloaded beside its place, compared with its checksums, moved there in one step and activated. Servers
over the data folder follow with their next call. When anything fails, the version before stays active.
"""

import hashlib
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from groundwire_index.embedding.int8.record import (
    RECORD_FILE,
    EncoderDamagedError,
    EncoderRecord,
    parsed_record,
    read_record,
)
from groundwire_index.embedding.int8.store import EncoderStore
from groundwire_index.files.durable_files import make_durable, replace_durably
from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.operator_errors import OperatorError
from groundwire_index.scope import Scope
from groundwire_index.store.loaded import open_version
from groundwire_index.store.manifest import CHECKSUM_FILE, MANIFEST_FILE, FileEntry, Manifest
from groundwire_index.store.store import IndexStore
from groundwire_object_storage.object_folder import ObjectFolder, ObjectStorageError
from groundwire_object_storage.published_versions import PublishedVersions, encoder_path, scope_name, version_path
from groundwire_object_storage.publishing import TRANSFERS

_MARK = ".taken-from"
"""A file of the data folder with the address that its versions were taken from."""
_MOST_RECORD_BYTES = 1 << 20
_MOST_ENCODER_BYTES = 1 << 29
"""Of the files of an encoder together, which are in memory until all are there."""
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")


@dataclass(frozen=True, slots=True)
class CacheBounds:
    """What the data folder may hold.

    Attributes:
        most_bytes: The size of all versions together. The active version stays until the next one is there, so this
            must hold both.
        kept: How many versions of a scope are kept besides the active one, the newest first.
    """

    most_bytes: int
    kept: int


@dataclass(frozen=True, slots=True)
class ActivatedVersion:
    """A version that became active. `bytes` is what was downloaded, 0 when the version was there already."""

    scope: Scope
    bytes: int


@dataclass(slots=True)
class CacheUpdate:
    """What one look at the storage has changed; `failures` are messages, each of one scope."""

    scope_count: int = 0
    activated: list[ActivatedVersion] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


class IndexCache:
    """The data folder of servers without state. One process updates it."""

    def __init__(
        self,
        published: PublishedVersions,
        data: Path,
        bounds: CacheBounds,
        is_wanted: Callable[[str], bool] = lambda repository: True,
    ) -> None:
        self._published, self._data, self._bounds, self._is_wanted = published, data, bounds, is_wanted
        self._store, self._encoders = IndexStore(data), EncoderStore(data)

    def claim(self) -> None:
        """Makes the data folder, and marks where its versions come from.

        Raises ObjectStorageError where it holds versions that were not taken from this address: those that are no
        longer needed are removed here, and such a version could not be had again.
        """
        self._data.mkdir(parents=True, exist_ok=True)
        mark, place = self._data / _MARK, self._published.place
        origin = mark.read_text(encoding="utf-8") if mark.exists() else ""
        if origin != place and any(True for _ in self._store.scopes()):
            holds = f"versions that were taken from {origin}" if origin else "indexes that were built there"
            raise ObjectStorageError(f"{self._data}: holds {holds}; name another folder by --data")
        replace_durably(mark, place.encode())

    def update(self) -> CacheUpdate:
        """Takes and activates what is published, and deletes what was withdrawn.

        A failure in one scope changes nothing in the others. Raises ObjectStorageError where the scopes cannot be
        listed.
        """
        update = CacheUpdate()
        for scope in self._published.scopes(self._is_wanted):
            update.scope_count += 1
            try:
                self._follow(scope, update)
            except (OperatorError, OSError) as error:
                update.failures.append(f"{scope_name(scope)}: {error}")
        return update

    def _follow(self, scope: Scope, update: CacheUpdate) -> None:
        withdrawn = set(self._published.withdrawn(scope))
        # Before the rest, which may fail: what was withdrawn must go even if nothing can be taken.
        self._delete(scope, withdrawn - {self._store.active(scope)})
        version = self._published.active(scope)
        if version in withdrawn:
            # Somebody withdrew it while another one activated it, or wrote the pointer by other means.
            raise ObjectStorageError(f"the active version {version!r} was withdrawn; publish another")
        if version and version != self._store.active(scope):
            pinned = replace(scope, active_index=version)
            downloaded = 0 if self._store.holds(pinned) else self._take(pinned)
            self._store.activate(pinned)
            update.activated.append(ActivatedVersion(pinned, downloaded))
        self._delete(scope, withdrawn)
        for inactive in self._inactive(scope)[self._bounds.kept :]:
            self._store.evict(inactive)

    def _delete(self, scope: Scope, versions: set[str]) -> None:
        for version in sorted(versions):
            pinned = replace(scope, active_index=version)
            if self._store.holds(pinned):
                self._store.delete(pinned)

    def _take(self, scope: Scope) -> int:
        """Downloads a version; returns its size in bytes."""
        published_manifest = self._published.manifest(scope)
        manifest = published_manifest.manifest
        _check_names(manifest)
        size = sum(entry.bytes for entry in manifest.files) + len(published_manifest.content)
        self._make_room(scope, size)
        self._take_encoder(manifest)
        with self._store.build(scope) as directory:
            download = _Download(self._published.folder, version_path(scope), directory)
            with ThreadPoolExecutor(TRANSFERS) as threads:
                list(threads.map(download, manifest.files))
            for name, content in (
                (MANIFEST_FILE, published_manifest.content),
                (CHECKSUM_FILE, published_manifest.checksum),
            ):
                (directory / name).write_bytes(content)
                make_durable(directory / name)
            make_durable(directory)
            open_version(directory, scope)
        return size

    def _make_room(self, scope: Scope, size: int) -> None:
        """Evicts inactive versions, the oldest first, until one of `size` bytes fits.

        Raises ObjectStorageError, and evicts none, where it does not fit beside the active versions.
        """
        pinned_scopes = [
            replace(each, active_index=version)
            for each in self._store.scopes()
            for version in self._store.versions(each)
        ]
        sizes = {pinned: _bytes_in(self._store.directory(pinned)) for pinned in pinned_scopes}
        inactive = [pinned for pinned in pinned_scopes if pinned.active_index != self._store.active(pinned)]
        excess = sum(sizes.values()) + size - self._bounds.most_bytes
        too_many = excess - sum(sizes[pinned] for pinned in inactive)
        if too_many > 0:
            raise ObjectStorageError(
                f"version {scope.active_index!r} has {size} bytes, {too_many} more than fit beside the active "
                f"versions; raise --max-bytes, which is {self._bounds.most_bytes}"
            )
        for pinned in sorted(inactive, key=lambda pinned: self._store.directory(pinned).stat().st_mtime_ns):
            if excess <= 0:
                return
            self._store.evict(pinned)
            excess -= sizes[pinned]

    def _inactive(self, scope: Scope) -> list[Scope]:
        """The versions of a scope that are not active, the newest first."""
        active = self._store.active(scope)
        pinned_scopes = [
            replace(scope, active_index=version) for version in self._store.versions(scope) if version != active
        ]
        return sorted(pinned_scopes, key=lambda pinned: self._store.directory(pinned).stat().st_mtime_ns, reverse=True)

    def _take_encoder(self, manifest: Manifest) -> None:
        """Downloads the encoder that a version names, unless it is there."""
        space = manifest.vector_space
        if space is None or space.query_encoder is None:
            return
        fingerprint = space.query_encoder.fingerprint
        try:
            read_record(self._encoders.directory(fingerprint))
        except EncoderDamagedError:
            record, files = _downloaded_encoder(self._published.folder, fingerprint)
            self._encoders.put(record, files)


@dataclass(frozen=True, slots=True)
class _Download:
    """Downloads files of a version into a directory."""

    folder: ObjectFolder
    path: str
    directory: Path

    def __call__(self, entry: FileEntry) -> None:
        self.folder.download(f"{self.path}/{entry.name}", self.directory / entry.name, entry.bytes, entry.sha256)


def _downloaded_encoder(folder: ObjectFolder, fingerprint: str) -> tuple[EncoderRecord, dict[str, bytes]]:
    """A published encoder, compared with its checksums. Raises ObjectStorageError."""
    path = encoder_path(fingerprint)
    content = folder.content(f"{path}/{RECORD_FILE}", _MOST_RECORD_BYTES)
    if content is None:
        raise ObjectStorageError(f"{folder.place}/{path}: is missing; publish the version again")
    try:
        record = parsed_record(content, fingerprint, f"{folder.place}/{path}/{RECORD_FILE}")
    except EncoderDamagedError as error:
        raise ObjectStorageError(f"{error}; remove that folder, and publish the version again") from error
    files: dict[str, bytes] = {}
    room = _MOST_ENCODER_BYTES
    for name, checksum in record.files:
        file_content = folder.content(f"{path}/{name}", room) if _FILE_NAME.fullmatch(name) else None
        if file_content is None or hashlib.sha256(file_content).hexdigest() != checksum:
            raise ObjectStorageError(
                f"{folder.place}/{path}/{name!r}: is missing, or does not match its checksum in {RECORD_FILE}; remove "
                "that folder, and publish the version again"
            )
        files[name] = file_content
        room -= len(file_content)
    return record, files


def _check_names(manifest: Manifest) -> None:
    """Raises IndexDamagedError for names that could lead out of their folder, or to one file twice."""
    space = manifest.vector_space
    encoder = None if space is None else space.query_encoder
    if encoder is not None and not _FILE_NAME.fullmatch(encoder.fingerprint):
        raise IndexDamagedError(
            f"{MANIFEST_FILE}: {encoder.fingerprint!r} is no name of an encoder; build the index anew"
        )
    names = {MANIFEST_FILE, CHECKSUM_FILE}
    for entry in manifest.files:
        if not _FILE_NAME.fullmatch(entry.name) or entry.name in names:
            raise IndexDamagedError(
                f"{MANIFEST_FILE}: {entry.name!r} is no name of an index's file; build the index anew"
            )
        names.add(entry.name)


def _bytes_in(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.iterdir())
