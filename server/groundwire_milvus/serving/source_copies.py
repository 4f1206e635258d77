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

from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.nodes.source_texts import SOURCE_FILES, SourceRuns, open_source_texts
from groundwire_index.scope import Scope
from groundwire_index.store.manifest import FileEntry
from groundwire_milvus.serving.refusals import damage_raised, refusals_raised
from groundwire_milvus.serving.version import OpenVersion
from groundwire_milvus.storage_errors import StorageUnavailableError
from groundwire_milvus.whole_files import copy_file
from groundwire_server.domain.errors import BackendUnavailableError, PreconditionError, Reason

_LOG = logging.getLogger(__name__)
_MADE_AT_A_TIME = 2


@dataclass(frozen=True, slots=True, eq=False)
class _Copy:
    """The copy of a version, which may be under way: the collection that it is made from, and its size in bytes."""

    facts: str
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
        self._copies: OrderedDict[Scope, _Copy] = OrderedDict()
        self._waiting: list[_Copy] = []
        self._being_made: list[_Copy] = []
        self._changed = Condition()
        self._logged_as_too_large: set[Scope] = set()

    def of(self, version: OpenVersion) -> Future[SourceRuns]:
        """All runs of a version, when they are copied; a copy begins unless it is there or under way.

        A failed copy is forgotten, so the next call begins another. The version has source texts.

        Raises:
            PreconditionError: The copy would be larger than all copies together may be. From the future: the version is
                damaged, or was deleted.
            BackendUnavailableError: The copy cannot begin. From the future: Milvus does not answer, or the server's
                disk cannot be written.
        """
        entries = [entry for entry in version.document.files if entry.name in SOURCE_FILES]
        size = sum(entry.bytes for entry in entries)
        if size > self._most_bytes:
            raise self._too_large(version.scope, size)
        with self._changed:
            copy = self._copies.get(version.scope)
            # Where a Milvus was set up anew, a version of the same name has another collection, and other rows.
            if copy is not None and copy.facts == version.collections.facts:
                self._copies.move_to_end(version.scope)
                return copy.runs
            copy = self._copies[version.scope] = _Copy(version.collections.facts, size)
        try:
            # A daemon, since a server that ends must not wait for a copy.
            Thread(target=self._make, args=(version, entries, copy), name="groundwire-copy", daemon=True).start()
        except RuntimeError as error:  # the process may have no more threads
            outage = BackendUnavailableError(f"no thread for a copy of source texts: {error}")
            self._fail(version.scope, copy, outage)
            raise outage from error
        return copy.runs

    def drop(self, scope: Scope) -> None:
        """Lets the copy of the version that `scope` pins go, if there is one."""
        with self._changed:
            self._copies.pop(scope, None)
            self._logged_as_too_large.discard(scope)

    def _make(self, version: OpenVersion, entries: list[FileEntry], copy: _Copy) -> None:
        try:
            with self._room_for(copy), refusals_raised(version.scope):
                copy.runs.set_result(_copied(version, entries))
        except BaseException as error:  # noqa: BLE001 - raised where a call awaits the copy
            if isinstance(error, BackendUnavailableError):
                # Perhaps no call waits for it any more.
                _LOG.warning("source texts of %s were not copied: %s", version.scope.names, error.cause)
            self._fail(version.scope, copy, error)

    def _fail(self, scope: Scope, copy: _Copy, error: BaseException) -> None:
        with self._changed:
            if self._copies.get(scope) is copy:
                del self._copies[scope]
        copy.runs.set_exception(error)

    @contextmanager
    def _room_for(self, copy: _Copy) -> Iterator[None]:
        """Waits for its turn and for room beside copies that are made, and drops complete ones for it."""
        with self._changed:
            self._waiting.append(copy)
            self._changed.wait_for(lambda: self._may_begin(copy))
            self._waiting.remove(copy)
            self._being_made.append(copy)
            complete = [
                scope for scope, each in self._copies.items() if each.runs.done() and each not in self._being_made
            ]
            size = _size_of(self._being_made) + _size_of(map(self._copies.__getitem__, complete))
            dropped: list[_Copy] = []
            for scope in complete:
                if size <= self._most_bytes:
                    break
                dropped.append(self._copies.pop(scope))
                size -= dropped[-1].size
            self._changed.notify_all()
        # Their mappings end here and not under the lock, for which the event loop may wait.
        dropped.clear()
        try:
            yield
        finally:
            with self._changed:
                self._being_made.remove(copy)
                self._changed.notify_all()

    def _may_begin(self, copy: _Copy) -> bool:
        has_room = _size_of(self._being_made) + copy.size <= self._most_bytes
        return self._waiting[0] is copy and has_room and len(self._being_made) < _MADE_AT_A_TIME

    def _too_large(self, scope: Scope, size: int) -> PreconditionError:
        """The refusal of a version. The log has its size once; the message has it not, since it counts hidden texts."""
        with self._changed:
            is_new = scope not in self._logged_as_too_large
            self._logged_as_too_large.add(scope)
        if is_new:
            rule = "source texts of %s have %d bytes; milvus_source_bytes is %d"
            _LOG.warning(rule, scope.names, size, self._most_bytes)
        message = (
            f"the source texts of index {scope.active_index!r} are larger than milvus_source_bytes, which limits what "
            "this server copies; let its operator raise it, or search by words (BM25)"
        )
        return PreconditionError(Reason.SOURCES_MISSING, message, {"active_index": scope.active_index})


def _size_of(copies: Iterable[_Copy]) -> int:
    return sum(copy.size for copy in copies)


def _copied(version: OpenVersion, entries: list[FileEntry]) -> SourceRuns:
    """Copies the source texts of a version, and maps them. The mapping keeps them when their folder is removed."""
    try:
        with TemporaryDirectory(prefix="groundwire-", ignore_cleanup_errors=True) as folder:
            with damage_raised(version.scope):
                for entry in entries:
                    copy_file(version.store, version.collections.facts, entry, Path(folder))
            return open_source_texts(Path(folder))
    except (IndexDamagedError, OSError) as error:
        # The files have been compared with their checksums, so what cannot be mapped lacks room for it.
        raise StorageUnavailableError(f"source texts cannot be copied to the temporary folder: {error}") from error
