"""The embedded backend: every interface of `backends.interface` over indexes in a data directory."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

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
from groundwire_index.text.code_tokenizer import tokenize
from groundwire_server.backends.embedded.graph.expansion import expand
from groundwire_server.backends.embedded.graph.neighbourhood import neighbourhood_of
from groundwire_server.backends.embedded.graph.paths import find_paths
from groundwire_server.backends.embedded.graph.services import service_contexts
from groundwire_server.backends.embedded.graph.surroundings import adjacent_to, parents_of
from groundwire_server.backends.embedded.pool import IndexPool, View
from groundwire_server.backends.embedded.retrievers.bm25 import matched_tokens
from groundwire_server.backends.embedded.retrievers.retrieval import Retrievers, candidates_of, union
from groundwire_server.backends.embedded.visibility.narrowing import RowFilter
from groundwire_server.backends.embedded.visibility.sight import Sight
from groundwire_server.backends.interface import PathSearch, Walk
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.grants import Scopes
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.errors import NotFoundError, PreconditionError, Reason
from groundwire_server.domain.graph.expansion import Expansion
from groundwire_server.domain.graph.paths import Paths
from groundwire_server.domain.indexes import IndexSummary
from groundwire_server.domain.query.neighbourhood import Neighbourhood
from groundwire_server.domain.query.query_result import ServiceContext
from groundwire_server.domain.search.candidates import Candidates, Positions, Retrieval
from groundwire_server.domain.search.search import Filter, NodeLabel, Retriever
from groundwire_server.domain.texts.texts import StoredText, TextSize
from groundwire_server.execution.checkpoint import Checkpoint
from groundwire_server.execution.observation import observer

_NO_FILTER = Filter()


@dataclass(frozen=True, slots=True)
class EmbeddedSnapshot:
    """A Snapshot over one view and what of it is in sight."""

    view: View
    sight: Sight

    @property
    def index(self) -> str:
        """See `Snapshot.index`."""
        return self.view.index.manifest.version

    @property
    def vector_space(self) -> VectorSpace | None:
        """See `Snapshot.vector_space`."""
        return self.view.index.manifest.vector_space

    @property
    def retrievers(self) -> frozenset[Retriever]:
        """See `Snapshot.retrievers`."""
        index = self.view.index
        held = {
            Retriever.DENSE: index.vectors is not None,
            Retriever.BM25_CODE: index.lexical is not None,
            Retriever.BM25_PROSE: index.prose is not None,
            Retriever.TRIGRAM: True,
        }
        return frozenset(retriever for retriever, is_held in held.items() if is_held)

    @property
    def node_count(self) -> int:
        """See `Snapshot.node_count`."""
        return self.sight.visibility.count if self.sight.filter is None else int(np.count_nonzero(self.sight.mask))

    @property
    def has_graph(self) -> bool:
        """See `Snapshot.has_graph`."""
        return self.view.graph.is_loaded

    def wait_for_graph(self) -> None:
        """See `Snapshot.wait_for_graph`."""
        self.view.graph.wait()

    def retrieve(self, search: Retrieval, checkpoint: Checkpoint) -> Candidates:
        """See `Snapshot.retrieve`."""
        retrievers = Retrievers(self.view.index, search, checkpoint)
        lists = retrievers.lists(self.sight.visibility, self.sight.mask)
        return candidates_of(self.view.index, lists, with_columns=search.with_columns)

    def count_deleted(self, search: Retrieval, checkpoint: Checkpoint) -> int:
        """See `Snapshot.count_deleted`."""
        index, whole = self.view.index, self.view.caller.of(Lifecycle.ALL)
        if self.view.lifecycle is not Lifecycle.ACTIVE or whole is self.sight.visibility:
            return 0
        deleted, allowed = index.nodes.flags["deleted"], replace(self.sight, visibility=whole).mask
        if not (allowed & deleted).any():
            return 0
        lists = Retrievers(index, search, checkpoint).lists(whole, allowed)
        return int(np.count_nonzero(deleted[union(lists)]))

    def matched_tokens(self, query: str, rows: Positions) -> list[tuple[str, ...]]:
        """See `Snapshot.matched_tokens`."""
        lexical = self.view.index.lexical
        return [()] * len(rows) if lexical is None else matched_tokens(lexical, tokenize(query), rows)

    def rows(self, ids: Sequence[str]) -> Mapping[str, int]:
        """See `Snapshot.rows`."""
        return self.sight.rows_of(dict.fromkeys(ids))

    def ids(self, rows: Positions) -> list[str]:
        """See `Snapshot.ids`."""
        return self.sight.ids_of(rows.tolist())

    def labels(self, rows: Positions) -> list[NodeLabel]:
        """See `Snapshot.labels`."""
        nodes = self.view.index.nodes
        return [
            NodeLabel(id_, nodes.symbols[row], nodes.location(row), **nodes.origin_flags(row))
            for row, id_ in zip(rows.tolist(), self.ids(rows), strict=True)
        ]

    def nodes(self, rows: Positions) -> list[Node]:
        """See `Snapshot.nodes`."""
        self.sight.visibility.check(rows)
        index = self.view.index
        return [index.nodes.node(row, index.policies.of(row)) for row in rows.tolist()]

    def texts(self, rows: Positions) -> list[StoredText]:
        """See `Snapshot.texts`."""
        self.sight.visibility.check(rows)
        nodes = self.view.index.nodes
        return [
            StoredText(
                text=nodes.texts[row],
                token_count=int(nodes.numbers["token_count"][row]),
                location=nodes.location(row),
                symbol=nodes.symbols[row],
                **nodes.origin_flags(row),
            )
            for row in rows.tolist()
        ]

    def text_sizes(self, rows: Positions) -> list[TextSize]:
        """See `Snapshot.text_sizes`; read from counts made at ingestion."""
        nodes = self.view.index.nodes
        tokens, chars, paths = nodes.numbers["token_count"], nodes.numbers["char_count"], nodes.categories["path"]
        strings = nodes.texts, nodes.symbols
        return [
            TextSize(
                tokens=int(tokens[row]),
                chars=int(chars[row]),
                bytes=sum(column.byte_length(row) for column in strings) + len(paths[row].encode()),
            )
            for row in rows.tolist()
        ]

    def vectors(self, rows: Positions) -> NDArray[np.float64]:
        """See `Snapshot.vectors`."""
        vectors = self.view.index.vectors
        if vectors is None:
            raise AssertionError("the engine asks for vectors where there are some")
        return np.where(vectors.present[rows][:, np.newaxis], vectors.rows[rows], 0.0).astype(np.float64)

    def neighbourhood(self, rows: Positions) -> Neighbourhood:
        """See `Snapshot.neighbourhood`."""
        return neighbourhood_of(self.view.graph, self.sight.visibility, rows)

    def parents(self, rows: Positions) -> list[Positions]:
        """See `Snapshot.parents`."""
        return parents_of(self.sight, rows)

    def adjacent(self, rows: Positions) -> list[Positions]:
        """See `Snapshot.adjacent`."""
        return adjacent_to(self.sight, rows)

    def service_contexts(self, service_names: Sequence[str]) -> tuple[ServiceContext, ...]:
        """See `Snapshot.service_contexts`."""
        return service_contexts(self.sight, service_names)

    def expand(self, walk: Walk, checkpoint: Checkpoint) -> Expansion:
        """See `Snapshot.expand`."""
        return expand(self.sight, walk, checkpoint)

    def find_paths(self, search: PathSearch, checkpoint: Checkpoint) -> Paths:
        """See `Snapshot.find_paths`."""
        return find_paths(self.sight, search, checkpoint)


class EmbeddedBackend:
    """A Backend and IndexDirectory over a data directory. Thread-safe."""

    def __init__(self, data: Path) -> None:
        self._store = IndexStore(data)
        self._pool = IndexPool(self._store)

    def is_open(self, scope: Scope) -> bool:
        """See `Backend.is_open`."""
        return self._pool.is_open(scope)

    def open(
        self,
        scope: Scope,
        access: AccessContext,
        lifecycle: Lifecycle = Lifecycle.ACTIVE,
        filter_: Filter = _NO_FILTER,
    ) -> EmbeddedSnapshot:
        """See `Backend.open`."""
        view = self._pool.view(scope, access, lifecycle)
        view.graph.begin()
        observer().saw_nodes(view.visibility.count)
        narrows = RowFilter(view.index, filter_) if filter_.narrows else None
        return EmbeddedSnapshot(view, Sight(view.index, view.graph, view.visibility, narrows))

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
