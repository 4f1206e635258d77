"""Publishes a version: copies its files to object storage, and names it as the active one."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from groundwire_index.embedding.int8.record import RECORD_FILE, EncoderDamagedError, read_record
from groundwire_index.embedding.int8.store import EncoderStore
from groundwire_index.scope import Scope
from groundwire_index.store.manifest import CHECKSUM_FILE, MANIFEST_FILE, Manifest
from groundwire_index.store.store import IndexStore
from groundwire_object_storage.object_folder import ObjectStorageError
from groundwire_object_storage.published_versions import PublishedVersions, encoder_path, scope_name, version_path

TRANSFERS = 8
"""Files that are copied at the same time."""


@dataclass(frozen=True, slots=True)
class Upload:
    """What was copied: no file where the version was published already."""

    files: int
    bytes: int


def publish(store: IndexStore, encoders: EncoderStore, published: PublishedVersions, scope: Scope) -> Upload:
    """Copies the version that `scope` pins, with the encoder of its queries; it is not yet active.

    A version that is published already is not copied again.

    Raises:
        ObjectStorageError: The storage cannot be reached, or has another content by this name or had one.
        VersionNotFoundError: The version is in neither place.
        IndexDamagedError: The version does not match its checksums.
    """
    if scope.active_index in published.withdrawn(scope):
        raise ObjectStorageError(_name_is_taken(published, scope, "was withdrawn"))
    published_checksum = published.checksum(scope)
    if published_checksum is not None and not store.holds(scope):
        return Upload(0, 0)
    store.verify(scope)
    directory = store.directory(scope)
    if published_checksum is not None:
        if published_checksum != (directory / CHECKSUM_FILE).read_bytes():
            raise ObjectStorageError(_name_is_taken(published, scope, "is published with another content"))
        return Upload(0, 0)
    manifest = store.manifest(scope)
    paths = [directory / entry.name for entry in manifest.files]
    _publish_encoder(encoders, published, manifest)
    _upload_all(published, paths, version_path(scope))
    # In this order: the checksum says that everything else is there.
    for name in (MANIFEST_FILE, CHECKSUM_FILE):
        published.folder.write(f"{version_path(scope)}/{name}", (directory / name).read_bytes())
    return Upload(len(paths), sum(entry.bytes for entry in manifest.files))


def _publish_encoder(encoders: EncoderStore, published: PublishedVersions, manifest: Manifest) -> None:
    """Copies the encoder that the version names, unless it is there; its record is written last."""
    space = manifest.vector_space
    if space is None or space.query_encoder is None:
        return
    fingerprint = space.query_encoder.fingerprint
    folder = encoder_path(fingerprint)
    if RECORD_FILE in published.folder.names(folder):
        return
    directory = encoders.directory(fingerprint)
    try:
        record = read_record(directory)
        paths = [record.check(directory, name) for name, _ in record.files]
    except EncoderDamagedError as error:
        raise ObjectStorageError(f"{error}; build the version again in this data folder") from error
    _upload_all(published, paths, folder)
    published.folder.write(f"{folder}/{RECORD_FILE}", (directory / RECORD_FILE).read_bytes())


def _upload_all(published: PublishedVersions, paths: list[Path], folder: str) -> None:
    with ThreadPoolExecutor(TRANSFERS) as threads:
        list(threads.map(published.folder.upload, paths, [f"{folder}/{path.name}" for path in paths]))


def _name_is_taken(published: PublishedVersions, scope: Scope, state: str) -> str:
    return (
        f"{published.place}: version {scope.active_index!r} of {scope_name(scope)} {state}; names are not used twice: "
        "build it with another --version"
    )
