"""Builds index versions for Milvus: in a local folder first, then published, verified and made ready."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from groundwire_index.milvus.catalogue import Catalogue
from groundwire_index.milvus.dense_index import DenseIndex
from groundwire_index.milvus.upkeep import SECONDS_BETWEEN_BEATS
from groundwire_index.milvus.verification import check_contents
from groundwire_index.scope import Scope
from groundwire_index.store.loaded import verify
from groundwire_index.store.manifest import Manifest
from groundwire_index.store.store import IndexStore
from groundwire_ingest.build.progress import Progress
from groundwire_ingest.milvus.claim import check_held, claimed
from groundwire_ingest.milvus.publish import publish


class MilvusDestination:
    """Implements `build.build.Destination`; every method raises StorageUnavailableError as well."""

    def __init__(
        self,
        data: Path,
        catalogue: Catalogue,
        progress: Progress,
        seconds_between_beats: float = SECONDS_BETWEEN_BEATS,
        dense_index: DenseIndex | None = None,
    ) -> None:
        """`data` is the local folder in which indexes are built before they are published.

        `dense_index` is that of their vectors, FLAT unless given.
        """
        self._staging = IndexStore(data)
        self._catalogue = catalogue
        self._progress = progress
        self._seconds_between_beats = seconds_between_beats
        self._dense_index = dense_index

    def check_free(self, scope: Scope) -> None:
        """See `Destination.check_free`."""
        self._catalogue.check_free(scope)

    @contextmanager
    def build(self, scope: Scope) -> Iterator[Path]:
        """See `Destination.build`; what lies in the directory is published."""
        catalogue, store = self._catalogue, self._catalogue.store
        with (
            self._staging.staging(scope) as directory,
            claimed(catalogue, scope, self._seconds_between_beats) as build,
        ):
            yield directory
            document = publish(verify(directory), store, build.collections, self._progress, self._dense_index)
            with self._progress.stage("Verifying") as report:
                check_contents(store, build.collections, document, report)
            check_held(catalogue, build)
            catalogue.make_ready(build, document)

    def activate(self, scope: Scope) -> str:
        """See `Destination.activate`."""
        return self._catalogue.activate(scope)

    def active(self, scope: Scope) -> str:
        """See `Destination.active`."""
        return self._catalogue.active_now(scope)

    def versions(self, scope: Scope) -> list[str]:
        """See `Destination.versions`."""
        return [entry.scope.active_index for entry in self._catalogue.versions(scope)]

    def manifest(self, scope: Scope) -> Manifest:
        """See `Destination.manifest`; of the files it has none."""
        return self._catalogue.document(self._catalogue.require(scope)).manifest

    def delete(self, scope: Scope) -> None:
        """See `Destination.delete`."""
        self._catalogue.delete(scope)
