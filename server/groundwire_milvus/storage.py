"""Index versions in Milvus: built in a local folder first, then published, verified and made ready."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from groundwire_index.index_errors import BuildRefusedError
from groundwire_index.progress import Progress
from groundwire_index.scope import Scope
from groundwire_index.store.loaded import LoadedIndex, verify
from groundwire_index.store.manifest import Manifest
from groundwire_index.store.store import SEGMENTS_FOLDER, IndexStore
from groundwire_index.store.version_entry import VersionEntry
from groundwire_milvus.catalogue import Catalogue
from groundwire_milvus.dense_index import EXACT, DenseIndex
from groundwire_milvus.entries import Entry, State
from groundwire_milvus.local_copy import local_copy
from groundwire_milvus.publishing.claim import SECONDS_BETWEEN_BEATS, check_held, claimed, remove_leftovers
from groundwire_milvus.publishing.publish import publish
from groundwire_milvus.verification import check_contents, check_counts

PAGES_VERIFIED = 8
"""How many pages of each collection are read again after publication, drawn at random.

Damage to a share s of the pages is missed with the probability (1 - s) ** 8. `groundwire verify` reads all pages.
"""


class MilvusStorage:
    """Implements `storage.Storage`; every method raises StorageUnavailableError as well."""

    keeps_collections = False

    def __init__(
        self,
        data: Path,
        catalogue: Catalogue,
        dense_index: DenseIndex = EXACT,
        seconds_between_beats: float = SECONDS_BETWEEN_BEATS,
    ) -> None:
        """`data` is the local folder in which indexes are built first; `dense_index` is that of their vectors."""
        self._staging = IndexStore(data)
        self._catalogue = catalogue
        self._dense_index = dense_index
        self._seconds_between_beats = seconds_between_beats
        self.place = catalogue.store.address.uri
        self.build_parameters = str(self._dense_index)
        self.check_free = catalogue.check_free
        self.activate = catalogue.activate
        self.active = catalogue.active_now
        self.verify = catalogue.verify

    @contextmanager
    def build(self, scope: Scope, progress: Progress) -> Iterator[Path]:
        """What lies in the directory in the end is published."""
        catalogue, store = self._catalogue, self._catalogue.store
        with self._staging.staging(scope) as directory, claimed(catalogue, scope, self._seconds_between_beats) as build:
            try:
                yield directory
            finally:  # a deletion in Milvus would not reach them
                shutil.rmtree(directory.parent / SEGMENTS_FOLDER, ignore_errors=True)
            document = publish(verify(directory), store, build.collections, progress, self._dense_index)
            with progress.stage("Verifying", "rows") as report:
                check_contents(store, build.collections, document, report, PAGES_VERIFIED)
            check_held(catalogue, build)
            catalogue.make_ready(build, document)

    def listed(self) -> list[VersionEntry]:
        catalogue = self._catalogue
        return [
            VersionEntry.of(
                entry.scope, catalogue.active(entry.scope) == entry.scope.active_index, partial(self._sound, entry)
            )
            for entry in catalogue.versions()
        ]

    def _sound(self, entry: Entry) -> Manifest:
        """The manifest of a version whose rows are there. Raises IndexDamagedError."""
        document = self._catalogue.document(entry)
        check_counts(self._catalogue.store, entry.collections, document)
        return document.manifest

    def versions(self, scope: Scope) -> list[str]:
        return [entry.scope.active_index for entry in self._catalogue.versions(scope)]

    def manifest(self, scope: Scope) -> Manifest:
        """The manifest has no files."""
        return self._catalogue.document(self._catalogue.require(scope)).manifest

    @contextmanager
    def opened(self, scope: Scope) -> Iterator[LoadedIndex]:
        """Yields a copy in a temporary folder, as `local_copy` says."""
        with TemporaryDirectory(prefix="groundwire-") as folder:
            yield local_copy(self._catalogue, scope, Path(folder))

    def skipped_file(self, scope: Scope) -> None:
        """There is no such file in Milvus."""

    def delete(self, scope: Scope) -> None:
        """Removes also what a build of the version has left that died.

        Raises BuildRefusedError for a version that is being built.
        """
        catalogue = self._catalogue
        is_there = catalogue.entry(scope) is not None
        if is_there or scope not in [build.scope for build in catalogue.others(scope, State.BUILDING)]:
            catalogue.delete(scope)
        elif scope in [build.scope for build in remove_leftovers(catalogue, scope, self._seconds_between_beats)]:
            raise BuildRefusedError(f"version {scope.active_index!r} is being built; end that build first")
