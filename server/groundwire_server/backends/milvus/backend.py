"""The Milvus backend: every interface of `backends.interface` over the versions in one database of a Milvus."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from groundwire_index.milvus.address import MilvusAddress
from groundwire_index.milvus.backend import address_of
from groundwire_index.milvus.catalogue import Catalogue
from groundwire_index.milvus.errors import CollectionMissingError, StorageUnavailableError
from groundwire_index.milvus.store import MilvusStore
from groundwire_index.scope import Scope
from groundwire_index.storage import OptionError, Values
from groundwire_server.backends.milvus.pool import VersionPool, View
from groundwire_server.backends.milvus.refusals import outages_told
from groundwire_server.backends.milvus.snapshot import MilvusSnapshot
from groundwire_server.backends.shared.refusals import gone, refusals_of
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.grants import Scopes
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.errors import PreconditionError
from groundwire_server.domain.indexes import IndexNames, IndexSummary
from groundwire_server.domain.search.search import NO_FILTER, Filter
from groundwire_server.execution.call import Checkpoint
from groundwire_server.execution.observation import observer


class MilvusBackend:
    """A Backend and IndexDirectory over a database of a Milvus. Thread-safe.

    Its methods raise BackendUnavailableError when Milvus does not answer.
    """

    def __init__(self, address: MilvusAddress, clock: Callable[[], float] = time.monotonic) -> None:
        """Connects to nothing yet. `clock` gives seconds."""
        self._catalogue = Catalogue(MilvusStore(address), clock)
        self._pool = VersionPool(self._catalogue, clock)

    def open(
        self, scope: Scope, access: AccessContext, lifecycle: Lifecycle = Lifecycle.ACTIVE, filter_: Filter = NO_FILTER
    ) -> MilvusSnapshot:
        """See `Backend.open`."""
        with outages_told():
            return _snapshot(self._pool.view(scope, access), lifecycle, filter_)

    def open_at_once(
        self, scope: Scope, access: AccessContext, lifecycle: Lifecycle, filter_: Filter
    ) -> MilvusSnapshot | None:
        """See `Backend.open_at_once`."""
        view = self._pool.open_view(scope, access)
        return None if view is None else _snapshot(view, lifecycle, filter_)

    def scopes(self, repositories: Scopes) -> list[Scope]:
        """See `Backend.scopes`. Which versions are active is asked when they are opened."""
        with outages_told():
            found = {replace(entry.scope, active_index="") for entry in self._catalogue.versions()}
        return [scope for scope in found if repositories.includes(scope.repository, scope.branch)]

    def check_readable(self) -> None:
        """See `IndexDirectory.check_readable`."""
        try:
            self._catalogue.store.check()
        except StorageUnavailableError as error:
            raise OSError(str(error)) from error

    def list_indexes(
        self, repository: str, branch: str, access: AccessContext, scopes: Scopes, checkpoint: Checkpoint
    ) -> tuple[IndexSummary, ...]:
        """See `IndexDirectory.list_indexes`. A damaged version is left out; the log names it."""
        summaries: list[IndexSummary] = []
        with outages_told():
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
        """See `IndexDirectory.get_index`."""
        with outages_told():
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
        """See `IndexDirectory.activate`."""
        with outages_told(), refusals_of(scope):
            return self._catalogue.activate(scope)

    def delete(self, scope: Scope) -> None:
        """See `IndexDirectory.delete`."""
        with outages_told(), refusals_of(scope):
            self._catalogue.delete(scope)
        self._pool.forget(scope)


def open_backend(data: Path, values: Values) -> MilvusBackend:
    """See `Backend.serving`."""
    if find_spec("pymilvus") is None:
        raise OptionError("backend: milvus: needs pymilvus, which is not installed: pip install groundwire[milvus]")
    return MilvusBackend(address_of(values))


def _snapshot(view: View, lifecycle: Lifecycle, filter_: Filter) -> MilvusSnapshot:
    snapshot = MilvusSnapshot(view.version, view.caller, lifecycle, filter_)
    observer().saw_nodes(view.caller.of(lifecycle).count)
    return snapshot
