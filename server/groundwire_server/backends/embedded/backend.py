"""The embedded backend: every interface of `backends.interface` over indexes in a data directory."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from groundwire_index.scope import Scope
from groundwire_index.storage import OptionError, Values
from groundwire_index.store.store import IndexStore
from groundwire_server.backends.embedded.pool import IndexPool, View
from groundwire_server.backends.embedded.snapshot import EmbeddedSnapshot
from groundwire_server.backends.embedded.visibility.row_selection import RowFilter, RowSelection
from groundwire_server.backends.shared.refusals import refusals_of, storage_errors_raised
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.grants import Scopes
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.errors import PreconditionError
from groundwire_server.domain.indexes import IndexNames, IndexSummary
from groundwire_server.domain.search.search import NO_FILTER, Filter
from groundwire_server.execution.call import Checkpoint
from groundwire_server.execution.observation import observer


class EmbeddedBackend:
    """A Backend and IndexDirectory over a data directory. Thread-safe."""

    def __init__(self, data: Path) -> None:
        self._store = IndexStore(data)
        self._pool = IndexPool(self._store)

    def open(
        self, scope: Scope, access: AccessContext, lifecycle: Lifecycle = Lifecycle.ACTIVE, filter_: Filter = NO_FILTER
    ) -> EmbeddedSnapshot:
        with storage_errors_raised():
            return _snapshot(self._pool.view(scope, access), lifecycle, filter_)

    def open_at_once(
        self, scope: Scope, access: AccessContext, lifecycle: Lifecycle, filter_: Filter
    ) -> EmbeddedSnapshot | None:
        with storage_errors_raised():
            view = self._pool.open_view(scope, access, lifecycle)
            return None if view is None else _snapshot(view, lifecycle, filter_)

    def scopes(self, meant: Scopes, granted: Scopes) -> list[Scope]:
        def is_wanted(repository: str) -> bool:
            return meant.names_repository(repository) and granted.names_repository(repository)

        with storage_errors_raised():
            return [
                scope
                for scope in self._store.scopes(is_wanted)
                if meant.includes(scope.repository, scope.branch)
                and granted.includes(scope.repository, scope.branch)
                and self._store.active(scope)
            ]

    def check_readable(self) -> None:
        self._store.check_readable()

    def list_indexes(
        self, repository: str, branch: str, access: AccessContext, scopes: Scopes, checkpoint: Checkpoint
    ) -> tuple[IndexSummary, ...]:
        """A damaged version is left out; the log names it."""
        with storage_errors_raised():
            return self._listed(repository, branch, access, scopes, checkpoint)

    def _listed(
        self, repository: str, branch: str, access: AccessContext, scopes: Scopes, checkpoint: Checkpoint
    ) -> tuple[IndexSummary, ...]:
        summaries: list[IndexSummary] = []
        for scope in self._store.scopes(scopes.names_repository):
            checkpoint()
            if repository not in ("", scope.repository) or branch not in ("", scope.branch):
                continue
            if not scopes.includes(scope.repository, scope.branch):
                continue
            for version in self._store.versions(scope):
                checkpoint()
                pinned = replace(scope, active_index=version)
                with suppress(PreconditionError):
                    view = self._pool.visible(pinned, access)
                    if view is not None:
                        summaries.append(self._summary(view))
        return tuple(summaries)

    def get_index(self, scope: Scope, access: AccessContext) -> tuple[IndexSummary, IndexNames]:
        with storage_errors_raised():
            view = self._pool.view(scope, access)
        return self._summary(view), view.caller.of(Lifecycle.ACTIVE).names

    def _summary(self, view: View) -> IndexSummary:
        manifest, visibility = view.index.manifest, view.caller.of(Lifecycle.ACTIVE)
        return IndexSummary.of(
            manifest,
            active=self._store.active(view.index.scope) == manifest.version,
            node_count=visibility.count,
            edge_count=visibility.edge_count,
        )

    def activate(self, scope: Scope) -> str:
        with storage_errors_raised(), refusals_of(scope):
            return self._store.activate(scope)

    def delete(self, scope: Scope) -> None:
        with storage_errors_raised(), refusals_of(scope):
            self._store.delete(scope)


def open_backend(data: Path, values: Values) -> EmbeddedBackend:
    """Opens the backend for a server. Raises OptionError."""
    if not data.is_dir():
        raise OptionError(f"data: {data}: is no folder; build an index into it with `groundwire index`")
    return EmbeddedBackend(data)


def _snapshot(view: View, lifecycle: Lifecycle, filter_: Filter) -> EmbeddedSnapshot:
    view.graph.begin()
    visibility = view.caller.of(lifecycle)
    observer().saw_nodes(visibility.count)
    narrows = RowFilter(view.index, filter_) if filter_.narrows else None
    return EmbeddedSnapshot(view, lifecycle, RowSelection(view.index, view.graph, visibility, narrows))
