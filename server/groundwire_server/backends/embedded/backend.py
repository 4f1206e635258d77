"""The embedded backend: every interface of `backends.interface` over indexes in a data directory."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from groundwire_index.nodes.node import Node
from groundwire_index.scope import Scope
from groundwire_index.store.errors import (
    IndexDamagedError,
    VersionActiveError,
    VersionDeletedError,
    VersionNotFoundError,
)
from groundwire_index.store.manifest import VectorSpace
from groundwire_index.store.store import IndexStore
from groundwire_server.backends.embedded.candidates import find_candidates
from groundwire_server.backends.embedded.expansion import expand
from groundwire_server.backends.embedded.known_rows import KnownRows
from groundwire_server.backends.embedded.narrowing import RowFilter
from groundwire_server.backends.embedded.neighbourhood import neighbourhood_of
from groundwire_server.backends.embedded.paths import find_paths
from groundwire_server.backends.embedded.pool import IndexPool, View
from groundwire_server.backends.embedded.resemblance import resemblance
from groundwire_server.backends.embedded.search import ViewSearch
from groundwire_server.backends.embedded.services import service_contexts
from groundwire_server.backends.embedded.sight import Sight
from groundwire_server.backends.embedded.surroundings import neighbors_of, parents_of
from groundwire_server.backends.interface import BackendSearch, PathSearch, Resemblance, Walk
from groundwire_server.domain.access import AccessContext
from groundwire_server.domain.candidates import Candidates, CandidateSearch
from groundwire_server.domain.checkpoint import Checkpoint
from groundwire_server.domain.errors import NotFoundError, PreconditionError, Reason
from groundwire_server.domain.expansion import Expansion
from groundwire_server.domain.grants import Scopes
from groundwire_server.domain.indexes import IndexSummary
from groundwire_server.domain.lifecycle import Lifecycle
from groundwire_server.domain.neighbourhood import Neighbourhood
from groundwire_server.domain.observation import observer
from groundwire_server.domain.paths import Paths
from groundwire_server.domain.query_result import ServiceContext
from groundwire_server.domain.search import Filter, SearchResult
from groundwire_server.domain.texts import StoredText, TextSize


@dataclass(frozen=True, slots=True)
class EmbeddedSnapshot:
    """A RetrievalSnapshot and GraphSnapshot over one view."""

    view: View
    sight: Sight
    rows: KnownRows

    @property
    def index(self) -> str:
        """The version's name."""
        return self.view.index.manifest.version

    @property
    def vector_space(self) -> VectorSpace | None:
        """See `RetrievalSnapshot.vector_space`."""
        return self.view.index.manifest.vector_space

    def narrowed(self, filter_: Filter) -> "EmbeddedSnapshot":
        """See `RetrievalSnapshot.narrowed` and `GraphSnapshot.narrowed`."""
        if not filter_.narrows:
            return self
        sight = replace(self.sight, filter=RowFilter(self.view.index, filter_))
        return replace(self, sight=sight, rows=KnownRows(sight))

    def search(self, search: BackendSearch, checkpoint: Checkpoint) -> SearchResult:
        """See `RetrievalSnapshot.search`."""
        return ViewSearch(self.view).run(search, checkpoint)

    def find_candidates(self, search: CandidateSearch, checkpoint: Checkpoint) -> Candidates:
        """See `RetrievalSnapshot.find_candidates`."""
        return find_candidates(self.view, search, self.rows, checkpoint)

    def neighbourhood(self, ids: Sequence[str]) -> Neighbourhood:
        """See `RetrievalSnapshot.neighbourhood`."""
        rows = np.fromiter(self.rows.of(ids).values(), dtype=np.int64, count=len(ids))
        return neighbourhood_of(self.view.graph, self.view.visibility, rows)

    def nodes(self, ids: Sequence[str]) -> Mapping[str, Node]:
        """See `RetrievalSnapshot.nodes`."""
        index = self.view.index
        return {id_: index.nodes.node(row, index.policies.of(row)) for id_, row in self.rows.of(ids).items()}

    def resemblance(self, ids: Sequence[str]) -> Resemblance | None:
        """See `RetrievalSnapshot.resemblance`."""
        vectors = self.view.index.vectors
        return None if vectors is None else resemblance(vectors, self.rows, ids)

    def parents(self, ids: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """See `RetrievalSnapshot.parents`."""
        return parents_of(self.sight, self.rows.of(ids))

    def neighbors(self, ids: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """See `RetrievalSnapshot.neighbors`."""
        return neighbors_of(self.sight, self.rows.of(ids))

    def service_contexts(self, service_names: Sequence[str]) -> tuple[ServiceContext, ...]:
        """See `RetrievalSnapshot.service_contexts`."""
        return service_contexts(self.sight, service_names)

    def text_sizes(self, ids: Sequence[str]) -> Mapping[str, TextSize]:
        """See `RetrievalSnapshot.text_sizes`; read from counts made at ingestion, no text is touched."""
        nodes = self.view.index.nodes
        tokens, chars = nodes.numbers["token_count"], nodes.numbers["char_count"]
        return {
            id_: TextSize(
                tokens=int(tokens[row]),
                chars=int(chars[row]),
                bytes=nodes.texts.byte_length(row)
                + nodes.symbols.byte_length(row)
                + len(nodes.categories["path"][row].encode()),
            )
            for id_, row in self.rows.of(ids).items()
        }

    def fetch_texts(self, ids: Sequence[str]) -> Mapping[str, StoredText]:
        """See `RetrievalSnapshot.fetch_texts`."""
        nodes = self.view.index.nodes
        return {
            id_: StoredText(
                text=nodes.texts[row],
                token_count=int(nodes.numbers["token_count"][row]),
                location=nodes.location(row),
                symbol=nodes.symbols[row],
                **nodes.origin_flags(row),
            )
            for id_, row in self.rows.of(ids).items()
        }

    def expand(self, walk: Walk, checkpoint: Checkpoint) -> Expansion:
        """See `GraphSnapshot.expand`."""
        return expand(self.sight, walk, checkpoint)

    def find_paths(self, search: PathSearch, checkpoint: Checkpoint) -> Paths:
        """See `GraphSnapshot.find_paths`."""
        return find_paths(self.sight, search, checkpoint)


class EmbeddedBackend:
    """A RetrievalBackend, GraphProvider and IndexDirectory over a data directory. Thread-safe."""

    def __init__(self, data: Path) -> None:
        self._store = IndexStore(data)
        self._pool = IndexPool(self._store)

    def open(self, scope: Scope, access: AccessContext, lifecycle: Lifecycle = Lifecycle.ACTIVE) -> EmbeddedSnapshot:
        """See `RetrievalBackend.open`."""
        view = self._pool.view(scope, access, lifecycle)
        view.graph.begin()
        observer().saw_nodes(view.visibility.count)
        sight = Sight(view.index, view.graph, view.visibility)
        return EmbeddedSnapshot(view, sight, KnownRows(sight))

    def open_graph(
        self, scope: Scope, access: AccessContext, lifecycle: Lifecycle = Lifecycle.ACTIVE
    ) -> EmbeddedSnapshot:
        """See `GraphProvider.open_graph`."""
        return self.open(scope, access, lifecycle)

    def check_readable(self) -> None:
        """See `IndexDirectory.check_readable`."""
        self._store.check_readable()

    def list_indexes(
        self, repository: str, branch: str, access: AccessContext, scopes: Scopes, checkpoint: Checkpoint
    ) -> tuple[IndexSummary, ...]:
        """See `IndexDirectory.list_indexes`. A damaged version is left out; the log names it."""
        summaries: list[IndexSummary] = []
        for scope in self._store.scopes(scopes.names_repository):
            checkpoint()
            if repository not in ("", scope.repository) or branch not in ("", scope.branch):
                continue
            if not scopes.admit(scope.repository, scope.branch):
                continue
            for version in self._store.versions(scope):
                checkpoint()
                pinned = replace(scope, active_index=version)
                with suppress(PreconditionError):
                    view = self._pool.visible(pinned, access, Lifecycle.ACTIVE)
                    if view is not None:
                        summaries.append(self._summary(view))
        return tuple(summaries)

    def get_index(self, scope: Scope, access: AccessContext) -> IndexSummary:
        """See `IndexDirectory.get_index`."""
        return self._summary(self._pool.view(scope, access, Lifecycle.ACTIVE))

    def _summary(self, view: View) -> IndexSummary:
        manifest = view.index.manifest
        space = manifest.vector_space
        return IndexSummary(
            repository=manifest.repository,
            branch=manifest.branch,
            version=manifest.version,
            active=self._store.active(view.index.scope) == manifest.version,
            created=manifest.created,
            source=manifest.source,
            node_count=view.visibility.count,
            edge_count=view.visibility.edge_count,
            embedder=space.embedder if space else "",
            embedder_fingerprint=space.fingerprint if space else "",
            dimension=space.dimension if space else 0,
            lexical=manifest.code is not None,
            token_counter=manifest.token_counter,
        )

    def activate(self, scope: Scope) -> str:
        """See `IndexDirectory.activate`."""
        with _refusals_of(scope):
            return self._store.activate(scope)

    def delete(self, scope: Scope) -> None:
        """See `IndexDirectory.delete`."""
        with _refusals_of(scope):
            self._store.delete(scope)


@contextmanager
def _refusals_of(scope: Scope) -> Iterator[None]:
    """Turns what the store raises of a version into what callers get. Only damage has a cause, which is logged."""
    try:
        yield
    except VersionNotFoundError as error:
        raise NotFoundError(Reason.INDEX_NOT_FOUND, str(error), scope.names) from None
    except VersionDeletedError as error:
        raise PreconditionError(Reason.INDEX_GONE, str(error), scope.names) from None
    except VersionActiveError as error:
        raise PreconditionError(Reason.INDEX_ACTIVE, str(error), scope.names) from None
    except IndexDamagedError as error:
        message = f"index {scope.active_index!r} is damaged and stays inactive: {error}"
        raise PreconditionError(Reason.INDEX_DAMAGED, message, scope.names) from error
