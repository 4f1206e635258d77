"""Open indexes, and which version answers a scope for a caller.

If the caller may see no node of a scope or version, the answer is the same NOT_FOUND as for a name that never existed,
so that names leak nothing. Policies are judged first: a version is not opened for a caller who may see none of its
nodes, because opening takes longer than finding that there is no version. They do not cover a caller's bounds: for a
bound caller a damaged or deleted version does not exist.
"""

import logging
from collections import OrderedDict
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import TypeAlias

from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.nodes.node import NodeAccess
from groundwire_index.nodes.policies import POLICIES_FILE, read_policies
from groundwire_index.scope import Scope
from groundwire_index.store.loaded import LoadedIndex, open_version
from groundwire_index.store.store import IndexStore
from groundwire_server.backends.embedded.graph import Graph
from groundwire_server.backends.embedded.visibility.visibility import CallerVisibility, VisibilityCache
from groundwire_server.backends.shared.refusals import absence, damaged
from groundwire_server.domain.access.access import AccessContext, may_see
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.errors import GroundwireError
from groundwire_server.execution.observation import observer

_LOG = logging.getLogger(__name__)
MAX_OPEN_INDEXES = 256

MAX_KEPT_CLASSES = 100_000
"""Of all versions together, a version counting as one more; they take about 50 MiB."""

_State: TypeAlias = tuple[int, int, int]


class KnownPolicies:
    """The policy classes of versions, or of what is left of deleted ones: the most recently asked are kept."""

    def __init__(self, most_classes: int = MAX_KEPT_CLASSES) -> None:
        self._most_classes = most_classes
        self._kept: OrderedDict[Path, tuple[_State, tuple[NodeAccess, ...]]] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def any_visible(self, directory: Path, access: AccessContext) -> bool:
        """True if the caller may see a node of the version that lies there: every policy class has one.

        False where no policies can be read; the log then says why, unless there are none.
        """
        try:
            return any(may_see(demand, access) for demand in self._of(directory))
        except (FileNotFoundError, NotADirectoryError):
            return False
        except (OSError, IndexDamagedError) as error:
            _LOG.error("the policies in %s cannot be read: %s", directory, error)
            return False

    def _of(self, directory: Path) -> tuple[NodeAccess, ...]:
        status = (directory / POLICIES_FILE).stat()
        state = status.st_ino, status.st_size, status.st_mtime_ns
        with self._lock:
            kept = self._kept.get(directory)
            if kept is not None and kept[0] == state:
                self._kept.move_to_end(directory)
                return kept[1]
        classes = read_policies(directory)
        with self._lock:
            self._keep(directory, state, classes)
        return classes

    def _keep(self, directory: Path, state: _State, classes: tuple[NodeAccess, ...]) -> None:
        replaced = self._kept.pop(directory, None)
        self._size += 1 + len(classes) - (1 + len(replaced[1]) if replaced else 0)
        self._kept[directory] = state, classes
        while self._size > self._most_classes:
            _, (_, dropped) = self._kept.popitem(last=False)
            self._size -= 1 + len(dropped)


@dataclass(frozen=True, slots=True)
class View:
    """One index version as one caller sees it; the caller sees a node of some lifecycle."""

    index: LoadedIndex
    graph: Graph
    caller: CallerVisibility


@dataclass(frozen=True, slots=True)
class _Open:
    """A version in the pool, and what is known of who sees what of it."""

    index: LoadedIndex
    graph: Graph
    visibilities: VisibilityCache


class _Opening:
    """A version on its way into the pool: the first to ask opens it, others wait for that version alone."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.opened: _Open | None = None
        """The version, once it is open."""

    def open(self, directory: Path, pinned: Scope) -> _Open:
        """The open version. Raises IndexDamagedError; then the next one to ask tries again."""
        with self._lock:
            if self.opened is None:
                index = open_version(directory, pinned)
                self.opened = _Open(index, Graph(index.edges, index.manifest.node_count), VisibilityCache(index))
            return self.opened


class IndexPool:
    """Opens versions once and keeps the most recently used. A closed one lives on while a call still reads it."""

    def __init__(self, store: IndexStore, max_open: int = MAX_OPEN_INDEXES) -> None:
        self._store = store
        self._max_open = max_open
        self._openings: OrderedDict[Scope, _Opening] = OrderedDict()
        self._policies = KnownPolicies()
        self._lock = Lock()

    def open_view(self, scope: Scope, access: AccessContext, lifecycle: Lifecycle) -> View | None:
        """The pinned or the active version if it is open, and it is known what the caller sees of it.

        None otherwise, and where the caller sees no node of it: ask `view`.
        """
        pinned = replace(scope, active_index=scope.active_index or self._store.active(scope))
        version = self._opened(pinned)
        if version is None or not self._store.holds(pinned):
            return None
        caller = version.visibilities.known(access)
        if caller is None or not (caller.knows(lifecycle) and caller.sees_any):
            return None
        return View(version.index, version.graph, caller)

    def view(self, scope: Scope, access: AccessContext) -> View:
        """The pinned or the active version. Raises NotFoundError or PreconditionError as the caller may know."""
        active = self._store.active(scope)
        pinned = replace(scope, active_index=scope.active_index or active)
        visible = self.visible(pinned, access) if pinned.active_index else None
        if visible is not None:
            return visible
        if not scope.active_index and self._store.active(scope) != active:
            return self.view(scope, access)  # another was activated, and this one deleted, in between
        raise self._absence(scope, active, access)

    def visible(self, pinned: Scope, access: AccessContext) -> View | None:
        """The pinned version, None where the caller sees no node of it. Raises PreconditionError when it is damaged."""
        if not self._store.holds(pinned):
            self._forget(pinned)
            return None
        directory = self._store.directory(pinned)
        if self._opened(pinned) is None and not self._policies.any_visible(directory, access):
            return None
        try:
            version = self._load(pinned, directory)
        except IndexDamagedError as error:
            # It may be deleted, or its policies lost, since they were judged.
            if not self._store.holds(pinned):
                return None
            _LOG.error("index %s of %s %s is damaged: %s", pinned.active_index, pinned.repository, pinned.branch, error)
            if not self._surely_sees(directory, access):
                return None
            raise damaged(pinned) from error
        caller = version.visibilities.get(access)
        return View(version.index, version.graph, caller) if caller.sees_any else None

    def _surely_sees(self, directory: Path, access: AccessContext) -> bool:
        """True if the stored policies alone show that the caller may see a node."""
        return not access.bounds.bind and self._policies.any_visible(directory, access)

    def _load(self, pinned: Scope, directory: Path) -> _Open:
        with self._lock:
            opening = self._openings.setdefault(pinned, _Opening())
            self._openings.move_to_end(pinned)
            if len(self._openings) > self._max_open:
                self._openings.popitem(last=False)
            observer().opened_indexes(len(self._openings))
        try:
            return opening.open(directory, pinned)
        except IndexDamagedError:
            self._forget(pinned)
            raise

    def _opened(self, pinned: Scope) -> _Open | None:
        with self._lock:
            opening = self._openings.get(pinned)
            if opening is None or opening.opened is None:
                return None
            self._openings.move_to_end(pinned)
            observer().opened_indexes(len(self._openings))
            return opening.opened

    def _forget(self, pinned: Scope) -> None:
        with self._lock:
            self._openings.pop(pinned, None)

    def _absence(self, scope: Scope, active: str, access: AccessContext) -> GroundwireError:
        pins = bool(scope.active_index and active)
        sees_active = pins and self.visible(replace(scope, active_index=active), access) is not None
        saw_it = sees_active and self._surely_sees(self._store.tombstone(scope), access)
        return absence(scope, sees_active=sees_active, saw_it=saw_it)
