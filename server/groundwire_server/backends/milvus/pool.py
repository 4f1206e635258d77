"""Open versions, and which version answers a scope for a caller.

As in the embedded backend, a scope or version without a node visible to the caller does not exist for that caller.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Lock

from groundwire_index.milvus.catalogue import SECONDS_REMEMBERED, Catalogue
from groundwire_index.milvus.entries import Entry, State
from groundwire_index.milvus.errors import CollectionMissingError
from groundwire_index.scope import Scope
from groundwire_index.store.errors import IndexDamagedError
from groundwire_server.backends.milvus.version import OpenVersion
from groundwire_server.backends.milvus.visibility import CallerVisibility, VisibilityCache
from groundwire_server.backends.shared.refusals import absence, damaged
from groundwire_server.domain.access.access import AccessContext, may_see
from groundwire_server.domain.errors import GroundwireError
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

    Its methods but `open_view` wait for Milvus and raise StorageUnavailableError.
    """

    def __init__(self, catalogue: Catalogue, clock: Callable[[], float]) -> None:
        """`clock` gives seconds."""
        self._catalogue = catalogue
        self._clock = clock
        self._open: OrderedDict[Scope, _Open] = OrderedDict()
        self._lock = Lock()

    def open_view(self, scope: Scope, access: AccessContext) -> View | None:
        """The pinned or the active version, if known without asking Milvus; else None, and `view` decides."""
        active = scope.active_index or self._catalogue.remembered_active(scope)
        found = self._opened(replace(scope, active_index=active)) if active else None
        if found is None or not self._is_fresh(found):
            return None
        caller = found.visibilities.get(access)
        return View(found.version, caller) if caller.is_known and caller.sees_any else None

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
            found = self._load(pinned)
        except IndexDamagedError as error:
            entry = self._catalogue.entry(pinned)
            if entry is None or entry.state is not State.READY:
                return None  # it was deleted while it was read
            _LOG.error("index %s of %s %s is damaged: %s", pinned.active_index, pinned.repository, pinned.branch, error)
            if not self._surely_sees(entry, access):
                return None
            raise damaged(pinned) from error
        if found is None:
            return None
        caller = found.visibilities.get(access)
        try:
            return View(found.version, caller) if caller.sees_any else None
        except CollectionMissingError:
            return None  # it was deleted since it was found

    def forget(self, pinned: Scope) -> None:
        """Lets what is known of a version go."""
        with self._lock:
            self._open.pop(pinned, None)

    def _load(self, pinned: Scope) -> _Open | None:
        found = self._opened(pinned)
        if found is not None and self._still_there(found):
            return found
        self.forget(pinned)
        asked = self._clock()
        entry = self._catalogue.entry(pinned)
        if entry is None or entry.state is not State.READY:
            return None
        version = OpenVersion(self._catalogue.store, entry.collections, self._catalogue.document(entry))
        with self._lock:
            # Of two who opened it at a time both use what the first has put here.
            kept = self._open.setdefault(pinned, _Open(version, asked))
            if len(self._open) > MAX_OPEN_INDEXES:
                self._open.popitem(last=False)
        return kept

    def _still_there(self, found: _Open) -> bool:
        """True if Milvus has the version; asked at most every SECONDS_REMEMBERED."""
        if self._is_fresh(found):
            return True
        asked = self._clock()
        if not self._catalogue.store.has(found.version.collections.nodes):
            return False
        found.seen = asked
        return True

    def _is_fresh(self, found: _Open) -> bool:
        return self._clock() - found.seen < SECONDS_REMEMBERED

    def _opened(self, pinned: Scope) -> _Open | None:
        with self._lock:
            found = self._open.get(pinned)
            if found is not None:
                self._open.move_to_end(pinned)
            observer().opened_indexes(len(self._open))
            return found

    def _absence(self, asked: Scope, active: str, access: AccessContext) -> GroundwireError:
        pins = bool(asked.active_index and active)
        sees_active = pins and self.visible(replace(asked, active_index=active), access) is not None
        entry = self._catalogue.entry(asked) if sees_active else None
        saw_it = entry is not None and entry.state is State.DELETED and self._surely_sees(entry, access)
        return absence(asked, sees_active=sees_active, saw_it=saw_it)

    def _surely_sees(self, entry: Entry, access: AccessContext) -> bool:
        """True if the policies alone show that the caller may see a node, or saw one: every policy class has one."""
        return not access.bounds.bind and any(may_see(demand, access) for demand in self._catalogue.policies(entry))
