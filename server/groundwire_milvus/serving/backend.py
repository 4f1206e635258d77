"""The Milvus backend: every interface of `backends.interface` over the versions in one database of a Milvus."""

import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from threading import Lock

from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.scope import Scope
from groundwire_index.storage import OptionError, Values
from groundwire_milvus.address import MOST_SOURCE_BYTES, MilvusAddress
from groundwire_milvus.catalogue import SECONDS_REMEMBERED, Catalogue
from groundwire_milvus.entries import Entry, State
from groundwire_milvus.record import address_of
from groundwire_milvus.serving.refusals import outages_raised
from groundwire_milvus.serving.snapshot import MilvusSnapshot
from groundwire_milvus.serving.source_copies import SourceCopies
from groundwire_milvus.serving.version import OpenVersion
from groundwire_milvus.serving.visibility import CallerVisibility, VisibilityCache
from groundwire_milvus.storage_errors import CollectionMissingError, StorageUnavailableError
from groundwire_milvus.store import MilvusStore
from groundwire_server.backends.shared.refusals import absence, damaged, gone, refusals_of
from groundwire_server.domain.access.access import AccessContext, may_see
from groundwire_server.domain.access.grants import Scopes
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.errors import GroundwireError, PreconditionError
from groundwire_server.domain.indexes import IndexNames, IndexSummary
from groundwire_server.domain.search.search import NO_FILTER, Filter
from groundwire_server.execution.call import Checkpoint
from groundwire_server.execution.observation import observer

_LOG = logging.getLogger(__name__)
MAX_OPEN_INDEXES = 256


@dataclass(frozen=True, slots=True)
class View:
    """A version, and what of it a caller sees; the caller sees a node of some lifecycle."""

    version: OpenVersion
    caller: CallerVisibility


@dataclass(slots=True)
class _Open:
    """A version in the pool, what is known of who sees what of it, and when Milvus was last seen to have it."""

    version: OpenVersion
    seen: float
    visibilities: VisibilityCache = field(init=False)

    def __post_init__(self) -> None:
        self.visibilities = VisibilityCache(self.version)


class VersionPool:
    """Opens versions once and keeps the most recently used.

    As in the embedded backend, a scope or version without a node visible to the caller does not exist for that caller.
    Its methods but `open_view` wait for Milvus and raise StorageUnavailableError.
    """

    def __init__(self, catalogue: Catalogue, sources: SourceCopies, clock: Callable[[], float]) -> None:
        """`clock` gives seconds."""
        self._sources = sources
        self._catalogue = catalogue
        self._clock = clock
        self._open: OrderedDict[Scope, _Open] = OrderedDict()
        self._lock = Lock()

    def open_view(self, scope: Scope, access: AccessContext) -> View | None:
        """The pinned or the active version, if it is known without asking Milvus, as is what the caller sees of it.

        None otherwise, and where the caller sees no node of it: ask `view`.
        """
        active = scope.active_index or self._catalogue.remembered_active(scope)
        opened = self._opened(replace(scope, active_index=active)) if active else None
        if opened is None or not self._is_fresh(opened):
            return None
        caller = opened.visibilities.known(access)
        if caller is None or not (caller.is_known and caller.sees_any):
            return None
        return View(opened.version, caller)

    def view(self, scope: Scope, access: AccessContext) -> View:
        """The pinned or the active version. Raises NotFoundError or PreconditionError as the caller may know."""
        active = self._catalogue.active(scope)
        pinned = replace(scope, active_index=scope.active_index or active)
        visible = self.visible(pinned, access) if pinned.active_index else None
        if visible is not None:
            return visible
        if not scope.active_index and self._catalogue.active_now(scope) != active:
            return self.view(scope, access)  # another was activated, and this one deleted, in between
        raise self._absence(scope, active, access)

    def visible(self, pinned: Scope, access: AccessContext) -> View | None:
        """The pinned version, None where the caller sees no node of it. Raises PreconditionError when it is damaged."""
        try:
            opened = self._load(pinned)
        except IndexDamagedError as error:
            entry = self._catalogue.entry(pinned)
            if entry is None or entry.state is not State.READY:
                return None  # it was deleted while it was read
            _LOG.error("index %s of %s %s is damaged: %s", pinned.active_index, pinned.repository, pinned.branch, error)
            if not self._surely_sees(entry, access):
                return None
            raise damaged(pinned) from error
        if opened is None:
            return None
        caller = opened.visibilities.get(access)
        try:
            return View(opened.version, caller) if caller.sees_any else None
        except CollectionMissingError:
            return None  # it was deleted since it was found

    def forget(self, pinned: Scope) -> None:
        """Lets what is known of a version go, and the copy of its source texts."""
        with self._lock:
            self._open.pop(pinned, None)
        self._sources.drop(pinned)

    def _load(self, pinned: Scope) -> _Open | None:
        opened = self._opened(pinned)
        if opened is not None and self._still_there(opened):
            return opened
        if opened is not None:
            self.forget(pinned)
        now = self._clock()
        entry = self._catalogue.entry(pinned)
        if entry is None or entry.state is not State.READY:
            self._sources.drop(pinned)
            return None
        version = OpenVersion(self._catalogue.store, entry.collections, self._catalogue.document(entry))
        with self._lock:
            # Of two who opened it at a time both use what the first has put here.
            kept = self._open.setdefault(pinned, _Open(version, now))
            if len(self._open) > MAX_OPEN_INDEXES:
                self._open.popitem(last=False)
        return kept

    def _still_there(self, opened: _Open) -> bool:
        """True if Milvus has the version; asked at most every SECONDS_REMEMBERED."""
        if self._is_fresh(opened):
            return True
        now = self._clock()
        if not self._catalogue.store.has(opened.version.collections.nodes):
            return False
        opened.seen = now
        return True

    def _is_fresh(self, opened: _Open) -> bool:
        return self._clock() - opened.seen < SECONDS_REMEMBERED

    def _opened(self, pinned: Scope) -> _Open | None:
        with self._lock:
            opened = self._open.get(pinned)
            if opened is not None:
                self._open.move_to_end(pinned)
            observer().opened_indexes(len(self._open))
            return opened

    def _absence(self, scope: Scope, active: str, access: AccessContext) -> GroundwireError:
        pins = bool(scope.active_index and active)
        sees_active = pins and self.visible(replace(scope, active_index=active), access) is not None
        entry = self._catalogue.entry(scope) if sees_active else None
        saw_it = entry is not None and entry.state is State.DELETED and self._surely_sees(entry, access)
        return absence(scope, sees_active=sees_active, saw_it=saw_it)

    def _surely_sees(self, entry: Entry, access: AccessContext) -> bool:
        """True if the policies alone show that the caller may see a node, or saw one: every policy class has one."""
        return not access.bounds.bind and any(may_see(demand, access) for demand in self._catalogue.policies(entry))


class MilvusBackend:
    """A Backend and IndexDirectory over a database of a Milvus. Thread-safe.

    Its methods raise BackendUnavailableError when Milvus does not answer.
    """

    def __init__(
        self,
        address: MilvusAddress,
        clock: Callable[[], float] = time.monotonic,
        most_source_bytes: int = MOST_SOURCE_BYTES,
    ) -> None:
        """Connects to nothing yet.

        `clock` gives seconds. `most_source_bytes` is the size of all copies of source texts together.
        """
        self._catalogue = Catalogue(MilvusStore(address), clock)
        self._sources = SourceCopies(most_source_bytes)
        self._pool = VersionPool(self._catalogue, self._sources, clock)

    def open(
        self, scope: Scope, access: AccessContext, lifecycle: Lifecycle = Lifecycle.ACTIVE, filter_: Filter = NO_FILTER
    ) -> MilvusSnapshot:
        with outages_raised():
            return self._snapshot(self._pool.view(scope, access), lifecycle, filter_)

    def open_at_once(
        self, scope: Scope, access: AccessContext, lifecycle: Lifecycle, filter_: Filter
    ) -> MilvusSnapshot | None:
        view = self._pool.open_view(scope, access)
        return None if view is None else self._snapshot(view, lifecycle, filter_)

    def _snapshot(self, view: View, lifecycle: Lifecycle, filter_: Filter) -> MilvusSnapshot:
        snapshot = MilvusSnapshot(view.version, self._sources, view.caller, lifecycle, filter_)
        observer().saw_nodes(view.caller.of(lifecycle).count)
        return snapshot

    def scopes(self, meant: Scopes, granted: Scopes) -> list[Scope]:
        """Which versions are active is asked when they are opened."""
        with outages_raised():
            known_scopes = self._catalogue.scopes()
        return [
            scope
            for scope in known_scopes
            if meant.includes(scope.repository, scope.branch) and granted.includes(scope.repository, scope.branch)
        ]

    def check_readable(self) -> None:
        try:
            self._catalogue.store.check()
        except StorageUnavailableError as error:
            raise OSError(str(error)) from error

    def list_indexes(
        self, repository: str, branch: str, access: AccessContext, scopes: Scopes, checkpoint: Checkpoint
    ) -> tuple[IndexSummary, ...]:
        """A damaged version is left out; the log names it."""
        summaries: list[IndexSummary] = []
        with outages_raised():
            for entry in self._catalogue.versions():
                checkpoint()
                scope = entry.scope
                if repository not in ("", scope.repository) or branch not in ("", scope.branch):
                    continue
                if not scopes.includes(scope.repository, scope.branch):
                    continue
                with suppress(CollectionMissingError, PreconditionError):  # it was deleted in between, or is damaged
                    view = self._pool.visible(scope, access)
                    if view is not None:
                        summaries.append(self._summary(view))
        return tuple(summaries)

    def get_index(self, scope: Scope, access: AccessContext) -> tuple[IndexSummary, IndexNames]:
        with outages_raised():
            view = self._pool.view(scope, access)
            try:
                return self._summary(view), view.caller.of(Lifecycle.ACTIVE).names
            except CollectionMissingError as error:
                raise gone(view.version.scope) from error

    def _summary(self, view: View) -> IndexSummary:
        manifest, visibility = view.version.manifest, view.caller.of(Lifecycle.ACTIVE)
        return IndexSummary.of(
            manifest,
            active=self._catalogue.active(view.version.scope) == manifest.version,
            node_count=visibility.count,
            edge_count=visibility.edge_count,
        )

    def activate(self, scope: Scope) -> str:
        with outages_raised(), refusals_of(scope):
            return self._catalogue.activate(scope)

    def delete(self, scope: Scope) -> None:
        with outages_raised(), refusals_of(scope):
            self._catalogue.delete(scope)
        self._pool.forget(scope)


def open_backend(data: Path, values: Values) -> MilvusBackend:
    """Opens the backend for a server; asks Milvus nothing yet. Raises OptionError."""
    if find_spec("pymilvus") is None:
        raise OptionError("backend: milvus: needs pymilvus, which is not installed: pip install groundwire[milvus]")
    return MilvusBackend(address_of(values), most_source_bytes=values["milvus_source_bytes"])
