"""Copies of the source texts of versions on the disk of the server, which exact search reads."""

import logging
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Condition, Thread

from groundwire_index.nodes.source_texts import SOURCE_FILES, SourceRuns, open_source_texts
from groundwire_index.store.manifest import FileEntry
from groundwire_milvus.schema import VersionCollections
from groundwire_milvus.serving.refusals import damage_raised, refusals_raised
from groundwire_milvus.serving.version import OpenVersion
from groundwire_milvus.storage_errors import StorageUnavailableError
from groundwire_milvus.whole_files import copy_file
from groundwire_server.domain.errors import PreconditionError, Reason

_LOG = logging.getLogger(__name__)
_MADE_AT_A_TIME = 2


@dataclass(frozen=True, slots=True, eq=False)
class _Copy:
    """The copy of a version, which may be under way, and its size in bytes."""

    size: int
    runs: Future[SourceRuns] = field(default_factory=Future)


class SourceCopies:
    """The copies of the versions that were searched last. Thread-safe.

    A complete copy has no name in the file system: its bytes are freed when it is dropped and no call reads it any
    more, also when the process is killed. A copy that is not complete is not dropped to make room, so calls that ask
    for several versions in turn begin no copy twice.
    """

    def __init__(self, most_bytes: int) -> None:
        """`most_bytes` is the size of all copies together, besides dropped ones that calls still read."""
        self._most_bytes = most_bytes
        # By the name of the collection of facts, which each build of each version has for itself.
        self._copies: OrderedDict[str, _Copy] = OrderedDict()
        self._being_made: list[_Copy] = []
        self._known_too_large: set[str] = set()
        self._changed = Condition()

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
            raise self._too_large(version, size)
        key = version.collections.facts
        with self._changed:
            copy = self._copies.get(key)
            if copy is not None:
                self._copies.move_to_end(key)
                return copy.runs
            copy = self._copies[key] = _Copy(size)
        # A daemon, since a server that ends must not wait for a copy.
        Thread(target=self._make, args=(version, entries, copy), name="groundwire-copy", daemon=True).start()
        return copy.runs

    def drop(self, collections: VersionCollections) -> None:
        """Lets the copy of a version go, if there is one."""
        with self._changed:
            self._copies.pop(collections.facts, None)

    def _make(self, version: OpenVersion, entries: list[FileEntry], copy: _Copy) -> None:
        with self._room_for(copy):
            try:
                with refusals_raised(version.scope):
                    runs = _copied(version, entries)
            except BaseException as error:  # noqa: BLE001 - raised where a call awaits the copy
                with self._changed:
                    if self._copies.get(version.collections.facts) is copy:
                        del self._copies[version.collections.facts]
                copy.runs.set_exception(error)
            else:
                copy.runs.set_result(runs)

    @contextmanager
    def _room_for(self, copy: _Copy) -> Iterator[None]:
        """Waits for copies that are made until this one has room beside them, and drops complete ones for it."""
        with self._changed:
            self._changed.wait_for(lambda: self._may_begin(copy))
            self._being_made.append(copy)
            complete = [key for key, each in self._copies.items() if each.runs.done()]
            size = _size_of(self._being_made) + _size_of(map(self._copies.__getitem__, complete))
            for key in complete:
                if size <= self._most_bytes:
                    break
                size -= self._copies.pop(key).size
        try:
            yield
        finally:
            with self._changed:
                self._being_made.remove(copy)
                self._changed.notify_all()

    def _too_large(self, version: OpenVersion, size: int) -> PreconditionError:
        """The refusal of a version. The log has its size once; the message has it not, since it counts hidden texts."""
        scope, key = version.scope, version.collections.facts
        with self._changed:
            is_new = key not in self._known_too_large
            self._known_too_large.add(key)
        if is_new:
            names = scope.active_index, scope.repository, scope.branch
            rule = "source texts of index %s of %s %s have %d bytes; milvus_source_bytes is %d"
            _LOG.warning(rule, *names, size, self._most_bytes)
        message = (
            f"the source texts of index {scope.active_index!r} are larger than milvus_source_bytes, which limits what "
            "this server copies; let its operator raise it, or search by words (BM25)"
        )
        return PreconditionError(Reason.SOURCES_MISSING, message, {"active_index": scope.active_index})

    def _may_begin(self, copy: _Copy) -> bool:
        has_room = _size_of(self._being_made) + copy.size <= self._most_bytes
        return has_room and len(self._being_made) < _MADE_AT_A_TIME


def _size_of(copies: Iterable[_Copy]) -> int:
    return sum(copy.size for copy in copies)


def _copied(version: OpenVersion, entries: list[FileEntry]) -> SourceRuns:
    """Copies the source texts of a version, and maps them. The mapping keeps them when their folder is removed."""
    try:
        with damage_raised(version.scope), TemporaryDirectory(prefix="groundwire-") as folder:
            for entry in entries:
                copy_file(version.store, version.collections.facts, entry, Path(folder))
            return open_source_texts(Path(folder))
    except OSError as error:
        raise StorageUnavailableError(f"source texts cannot be copied to the temporary folder: {error}") from error
