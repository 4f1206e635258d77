"""One index version as one caller sees it: the Snapshot of the embedded backend."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.link_template import LinkTemplate
from groundwire_index.nodes.node import CONTAINS, Node
from groundwire_index.nodes.source_texts import SourceRuns
from groundwire_index.repository_edges.ends import ENDS_FILE
from groundwire_index.repository_edges.stored_ends import SeenEnds
from groundwire_index.scope import Scope
from groundwire_index.store.manifest import VectorSpace
from groundwire_index.text.code_tokenizer import tokenize
from groundwire_server.backends.embedded.pool import View
from groundwire_server.backends.embedded.retrievers.bm25 import matched_tokens
from groundwire_server.backends.embedded.retrievers.retrieval import Retrievers, columns_of, words_of
from groundwire_server.backends.embedded.visibility.row_selection import RowSelection
from groundwire_server.backends.interface import PathSearch, Result, Walk
from groundwire_server.backends.selected_graph import SelectedGraph
from groundwire_server.backends.shared.candidates import candidates_of, retrievers_of
from groundwire_server.backends.shared.graph.expansion import expand
from groundwire_server.backends.shared.graph.paths import find_paths
from groundwire_server.backends.shared.graph.related_nodes import EdgesOfServices, neighbourhood_of, service_contexts
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.errors import PreconditionError, Reason
from groundwire_server.domain.graph.expansion import Expansion
from groundwire_server.domain.graph.paths import Paths
from groundwire_server.domain.query.neighbourhood import Neighbourhood
from groundwire_server.domain.query.query_result import ServiceContext
from groundwire_server.domain.response_size import of_link_to
from groundwire_server.domain.search.candidates import Candidates, Positions, Retrieval, WordStatistics
from groundwire_server.domain.search.search import Declaration, NodeLabel, Retriever
from groundwire_server.domain.texts.texts import StoredText, TextSize
from groundwire_server.execution.call import Checkpoint

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EmbeddedSnapshot:
    """A Snapshot over one view, for one lifecycle, and what of it is in selection."""

    view: View
    lifecycle: Lifecycle
    selection: RowSelection

    @property
    def scope(self) -> Scope:
        return self.view.index.scope

    @property
    def parts(self) -> "tuple[EmbeddedSnapshot]":
        return (self,)

    @property
    def index(self) -> str:
        return self.view.index.manifest.version

    @property
    def vector_space(self) -> VectorSpace | None:
        return self.view.index.manifest.vector_space

    @property
    def retrievers(self) -> frozenset[Retriever]:
        return retrievers_of(self.view.index.manifest)

    @property
    def node_count(self) -> int:
        return (
            self.selection.visibility.count
            if self.selection.filter is None
            else int(np.count_nonzero(self.selection.mask))
        )

    def all_source_runs(self) -> Future[SourceRuns]:
        """They are mapped when a version is opened."""
        mapped: Future[SourceRuns] = Future()
        mapped.set_result(self.view.index.source_runs)
        return mapped

    def selected_source_runs(self, all_runs: SourceRuns, checkpoint: Checkpoint) -> SourceRuns:
        return all_runs.selected(self.selection.mask)

    def paths(self, rows: Positions) -> list[str]:
        self.selection.visibility.check(rows)
        return self.view.index.nodes.categories["path"].of_rows(rows)

    @property
    def links(self) -> LinkTemplate | None:
        return self.view.index.nodes.links

    @property
    def has_graph(self) -> bool:
        return self.view.graph.is_loaded

    def wait_for_graph(self) -> None:
        self.view.graph.loaded()

    def retrieve(self, search: Retrieval, checkpoint: Checkpoint) -> Candidates:
        retrievers = Retrievers(self.view.index, search, checkpoint)
        lists = retrievers.lists(self.selection.visibility, self.selection.mask)
        return candidates_of(lists, partial(columns_of, self.view.index) if search.with_columns else None)

    def together(self, parts: Sequence[Callable[[], Result]]) -> list[Result]:
        """One after the other: nothing here waits."""
        return [part() for part in parts]

    def word_statistics(self, query: str, retrievers: Iterable[Retriever]) -> Mapping[Retriever, WordStatistics]:
        index, visibility = self.view.index, self.selection.visibility
        words_by_retriever = {retriever: words_of(index, retriever, query) for retriever in retrievers}
        return {
            retriever: visibility.words(table, postings)
            for retriever, (table, _, postings) in words_by_retriever.items()
        }

    def with_deleted(self) -> "EmbeddedSnapshot | None":
        whole = self.view.caller.of(Lifecycle.ALL)
        if self.lifecycle is not Lifecycle.ACTIVE or whole is self.selection.visibility:
            return None
        selection = replace(self.selection, visibility=whole)
        if not (selection.mask & self.view.index.nodes.flags["deleted"]).any():
            return None
        return replace(self, lifecycle=Lifecycle.ALL, selection=selection)

    def matched_tokens(self, query: str, rows: Positions) -> list[tuple[str, ...]]:
        lexical = self.view.index.lexical
        return [()] * len(rows) if lexical is None else matched_tokens(lexical, tokenize(query), rows)

    def rows(self, ids: Sequence[str]) -> Mapping[str, int]:
        visible_rows = self.selection.visibility.rows_of(dict.fromkeys(ids))
        held = self.selection.holds(np.fromiter(visible_rows.values(), dtype=np.int32, count=len(visible_rows)))
        return {id_: row for (id_, row), holds in zip(visible_rows.items(), held.tolist(), strict=True) if holds}

    def ids(self, rows: Positions) -> list[str]:
        return self.selection.visibility.ids_of(rows.tolist())

    def labels(self, rows: Positions) -> list[NodeLabel]:
        nodes = self.view.index.nodes
        return [
            NodeLabel(id_, nodes.symbols[row], nodes.location(row), **nodes.origin_flags(row))
            for row, id_ in zip(rows.tolist(), self.ids(rows), strict=True)
        ]

    def declarations(self, rows: Positions) -> list[Declaration]:
        self.selection.visibility.check(rows)
        nodes = self.view.index.nodes
        return [Declaration(nodes.categories["kind"][row], nodes.signatures[row]) for row in rows.tolist()]

    def nodes(self, rows: Positions) -> list[Node]:
        self.selection.visibility.check(rows)
        index = self.view.index
        return [index.nodes.node(row, index.policies.of(row)) for row in rows.tolist()]

    def texts(self, rows: Positions) -> list[StoredText]:
        self.selection.visibility.check(rows)
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
        """Read from counts made at ingestion."""
        nodes = self.view.index.nodes
        tokens, chars, paths = nodes.numbers["token_count"], nodes.numbers["char_count"], nodes.categories["path"]
        strings = nodes.texts, nodes.symbols
        return [
            TextSize(
                tokens=int(tokens[row]),
                chars=int(chars[row]),
                bytes=sum(column.byte_length(row) for column in strings)
                + 2 * len(paths[row].encode())
                + of_link_to(paths[row], nodes.links),
            )
            for row in rows.tolist()
        ]

    def vectors(self, rows: Positions) -> NDArray[np.float64]:
        vectors = self.view.index.vectors
        if vectors is None:
            raise AssertionError("bug: vectors asked of an index without vectors")
        return np.where(vectors.present[rows][:, np.newaxis], vectors.rows[rows], 0.0).astype(np.float64)

    def neighbourhood(self, rows: Positions) -> Neighbourhood:
        """Costs what the rows' edges do."""
        graph, mask = self.selection.graph, self.selection.visibility.mask
        read = [(side, *side.of(rows)) for side in (graph.outgoing, graph.incoming)]
        places = np.concatenate([places for _, places, _ in read])
        far = np.concatenate([side.ends.take(positions) for side, _, positions in read])
        confidences = np.concatenate([side.edges.confidences.take(positions) for side, _, positions in read])
        seen = np.flatnonzero(mask.take(far))
        return neighbourhood_of(rows, places.take(seen), far.take(seen), confidences.take(seen), len(mask))

    def parents(self, rows: Positions) -> list[Positions]:
        edges, edge_types = self.view.index.edges, self.selection.edge_types
        if CONTAINS not in edge_types:
            return [np.empty(0, dtype=np.int64)] * len(rows)
        contains, incoming = edge_types.index(CONTAINS), self.view.graph.incoming

        def containers(row: int) -> Positions:
            positions = incoming.positions(row)
            first, last = np.searchsorted(edges.types.take(positions), (contains, contains + 1))
            return self._held(edges.from_rows.take(positions[first:last]))

        return list(map(containers, rows.tolist()))

    def adjacent(self, rows: Positions) -> list[Positions]:
        """The nearest selected row before each in its document, and the nearest after it."""
        reading = self.view.index.reading_order
        return [
            np.concatenate((self._held(reading.before(row))[:1], self._held(reading.after(row))[:1]))
            for row in rows.tolist()
        ]

    def _held(self, rows: NDArray[np.int32]) -> Positions:
        return rows[self.selection.holds(rows)].astype(np.int64)

    def service_contexts(self, service_names: Sequence[str]) -> tuple[ServiceContext, ...]:
        services, edges = self.view.index.nodes.categories["service_name"], self.view.index.service_edges
        service_positions = map(services.values.find, sorted(set(service_names)))
        touching = edges.touching([position for position in service_positions if position is not None])
        from_rows, to_rows = edges.from_rows.take(touching), edges.to_rows.take(touching)
        held = np.flatnonzero(self.selection.holds(from_rows) & self.selection.holds(to_rows))
        service_edges = EdgesOfServices(
            services.codes.take(from_rows.take(held)),
            services.codes.take(to_rows.take(held)),
            edges.types.take(touching.take(held)),
        )
        return service_contexts(service_names, services.values, self.selection.edge_types, service_edges)

    @property
    def graph(self) -> SelectedGraph:
        return self.selection

    @property
    def ends(self) -> SeenEnds:
        try:
            stored = self.view.index.ends
        except IndexDamagedError as error:
            _LOG.error("index %s of %s %s: %s", self.index, self.scope.repository, self.scope.branch, error)
            message = f"{ENDS_FILE} of this index is damaged; build the index anew"
            raise PreconditionError(Reason.INDEX_DAMAGED, message, self.scope.names) from error
        return SeenEnds(stored, self.selection.visibility.mask.take(stored.rows))

    def holds(self, rows: Positions) -> NDArray[np.bool_]:
        return self.selection.holds(rows)

    def expand(self, walk: Walk, checkpoint: Checkpoint) -> Expansion:
        return expand(self, self.selection, walk, checkpoint)

    def find_paths(self, search: PathSearch, checkpoint: Checkpoint) -> Paths:
        return find_paths(self, self.selection, search, checkpoint)
