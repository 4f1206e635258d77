"""Copies of the source texts of versions on the disk of the server, which exact search reads."""

import logging
from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import BoundedSemaphore, Lock, Thread

from groundwire_index.nodes.source_texts import SOURCE_FILES, SourceRuns, open_source_texts
from groundwire_index.store.manifest import FileEntry
from groundwire_milvus.schema import VersionCollections
from groundwire_milvus.serving.refusals import damage_raised, refusals_raised
from groundwire_milvus.serving.version import OpenVersion
from groundwire_milvus.storage_errors import StorageUnavailableError
from groundwire_milvus.whole_files import copy_file
from groundwire_server.domain.errors import PreconditionError, Reason

_LOG = logging.getLogger(__name__)
_COPIED_AT_A_TIME = 2


@dataclass(slots=True)
class _Copy:
    """The copy of a version, which may be under way, and its size in bytes."""

    size: int
    runs: Future[SourceRuns] = field(default_factory=Future)


class SourceCopies:
    """The copies of the versions that were searched last. Thread-safe.

    A complete copy has no name in the file system: its bytes are freed when it is dropped and no call reads it any
    more, also when the process is killed.
    """

    def __init__(self, most_bytes: int) -> None:
        """`most_bytes` is the size of all copies together, besides dropped ones that calls still read."""
        self._most_bytes = most_bytes
        # By the name of the collection of facts, which each build of each version has for itself.
        self._copies: OrderedDict[str, _Copy] = OrderedDict()
        self._lock = Lock()
        self._permits = BoundedSemaphore(_COPIED_AT_A_TIME)

    def of(self, version: OpenVersion) -> Future[SourceRuns]:
        """All runs of a version, when they are copied; a copy begins unless it is there or under way.

        A failed copy is forgotten, so the next call begins another. The version has source texts.

        Raises:
            PreconditionError: The copy would be larger than all copies together may be. From the future: the version is
                damaged, or was deleted.
            BackendUnavailableError: From the future: Milvus does not answer, or the server's disk cannot be written.
        """
        entries = [entry for entry in version.document.files if entry.name in SOURCE_FILES]
        size = sum(entry.bytes for entry in entries)
        if size > self._most_bytes:
            raise _too_large(version, size, self._most_bytes)
        key = version.collections.facts
        with self._lock:
            copy = self._copies.get(key)
            if copy is not None:
                self._copies.move_to_end(key)
                return copy.runs
            copy = self._copies[key] = _Copy(size)
            while sum(each.size for each in self._copies.values()) > self._most_bytes:
                self._copies.popitem(last=False)
        # A daemon, since a server that ends must not wait for a copy.
        Thread(target=self._make, args=(version, entries, copy), name="groundwire-copy", daemon=True).start()
        return copy.runs

    def drop(self, collections: VersionCollections) -> None:
        """Lets the copy of a version go, if there is one."""
        with self._lock:
            self._copies.pop(collections.facts, None)

    def _make(self, version: OpenVersion, entries: list[FileEntry], copy: _Copy) -> None:
        try:
            with self._permits, refusals_raised(version.scope):
                runs = _copied(version, entries)
        except BaseException as error:  # noqa: BLE001 - raised where a call awaits the copy
            with self._lock:
                if self._copies.get(version.collections.facts) is copy:
                    del self._copies[version.collections.facts]
            copy.runs.set_exception(error)
        else:
            copy.runs.set_result(runs)


def _copied(version: OpenVersion, entries: list[FileEntry]) -> SourceRuns:
    """Copies the source texts of a version, and maps them. The mapping keeps them when their folder is removed."""
    try:
        with damage_raised(version.scope), TemporaryDirectory(prefix="groundwire-") as folder:
            for entry in entries:
                copy_file(version.store, version.collections.facts, entry, Path(folder))
            return open_source_texts(Path(folder))
    except OSError as error:
        raise StorageUnavailableError(f"source texts cannot be copied to the temporary folder: {error}") from error


def _too_large(version: OpenVersion, size: int, most_bytes: int) -> PreconditionError:
    scope = version.scope
    _LOG.warning(
        "source texts of index %s of %s %s have %d bytes; milvus_source_bytes is %d",
        scope.active_index,
        scope.repository,
        scope.branch,
        size,
        most_bytes,
    )
    # Without the size, which counts hidden texts.
    message = (
        f"the source texts of index {scope.active_index!r} are larger than milvus_source_bytes, which limits what "
        "this server copies; let its operator raise it, or search by words (BM25)"
    )
    return PreconditionError(Reason.SOURCES_MISSING, message, {"active_index": scope.active_index})
