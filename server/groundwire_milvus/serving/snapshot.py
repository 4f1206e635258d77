"""One version in Milvus as one caller sees it: the Snapshot of the Milvus backend."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from groundwire_index.lexical.lexical import CODE
from groundwire_index.link_template import link_template
from groundwire_index.nodes.node import Node
from groundwire_index.nodes.source_texts import SOURCE_FILES, SourceRuns
from groundwire_index.repository_edges.stored_ends import SeenEnds
from groundwire_index.text.code_tokenizer import tokenize
from groundwire_milvus.packing import Label, unhexed, unpacked_declaration, unpacked_label, unpacked_node, unpacked_text
from groundwire_milvus.rows import Rows
from groundwire_milvus.serving.bm25 import tokens_held
from groundwire_milvus.serving.filter_expression import both, class_expression, filter_expression
from groundwire_milvus.serving.graph.adjacency import Adjacency
from groundwire_milvus.serving.graph.reading import GraphReading, Judge
from groundwire_milvus.serving.graph.related_nodes import (
    adjacent_to,
    parents_of,
    selected_service_contexts,
    visible_neighbourhood,
)
from groundwire_milvus.serving.node_rows import VECTOR, NodeRows
from groundwire_milvus.serving.refusals import damage_raised, with_refusals
from groundwire_milvus.serving.retrieval import TABLES, TOKENIZERS, Retrievers, columns_of
from groundwire_milvus.serving.source_copies import SourceCopies
from groundwire_milvus.serving.statistics import read_rows
from groundwire_milvus.serving.version import OpenVersion
from groundwire_milvus.serving.visibility import CallerVisibility
from groundwire_server.backends.interface import PathSearch, Result, Walk
from groundwire_server.backends.selected_graph import SelectedGraph
from groundwire_server.backends.shared.candidates import candidates_of, retrievers_of
from groundwire_server.backends.shared.graph.expansion import expand
from groundwire_server.backends.shared.graph.paths import find_paths
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.graph.expansion import Expansion
from groundwire_server.domain.graph.paths import Paths
from groundwire_server.domain.query.neighbourhood import Neighbourhood
from groundwire_server.domain.query.query_result import ServiceContext
from groundwire_server.domain.response_size import of_link_to
from groundwire_server.domain.search.candidates import Candidates, Positions, Retrieval, WordStatistics
from groundwire_server.domain.search.search import Declaration, Filter, NodeLabel, Retriever
from groundwire_server.domain.texts.texts import StoredText, TextSize
from groundwire_server.execution.call import Checkpoint


class MilvusSnapshot:
    """A Snapshot of one version for one caller, lifecycle and filter.

    Each method that reads waits for Milvus, and raises BackendUnavailableError when it does not answer, and
    PreconditionError when the version was deleted since the snapshot was opened.
    """

    has_graph = True

    def __init__(
        self,
        version: OpenVersion,
        sources: SourceCopies,
        caller: CallerVisibility,
        lifecycle: Lifecycle,
        filter_: Filter,
    ) -> None:
        """Reads nothing; what the caller sees is known."""
        manifest = version.manifest
        self.version = version
        self.scope = version.scope
        self.index = manifest.version
        self.vector_space = manifest.vector_space
        self.retrievers = retrievers_of(manifest)
        self.links = link_template(manifest.link_template)
        self._sources = sources
        self._caller = caller
        self._lifecycle = lifecycle
        self._filter = filter_
        self._visibility = caller.of(lifecycle)
        self._nodes = NodeRows(version, self._visibility.expression)

    @property
    def parts(self) -> "tuple[MilvusSnapshot]":
        return (self,)

    @property
    @with_refusals
    def node_count(self) -> int:
        return self._nodes.count(self._narrowing) if self._filter.narrows else self._visibility.count

    def wait_for_graph(self) -> None:
        """Returns at once: the graph is read as it is asked for."""

    def all_source_runs(self) -> Future[SourceRuns] | None:
        has_source_texts = all(self.version.document.file(name) is not None for name in SOURCE_FILES)
        return self._sources.of(self.version) if has_source_texts else None

    @with_refusals
    def selected_source_runs(self, all_runs: SourceRuns, checkpoint: Checkpoint) -> SourceRuns:
        """Asks Milvus which nodes pass the filter, where the classes and the caller's bounds alone do not decide."""
        with damage_raised(self.scope):
            classes = self.version.classes
        is_selected = (self._visibility.classes & self._of_tenants).take(classes)
        selected_rows: NDArray[np.int64] | None = None
        if filter_expression(self._filter):
            expression = both(self._visibility.expression, self._narrowing)
            selected_rows = read_rows(self.version, expression, checkpoint)
        elif self._visibility.rows is not None:
            selected_rows = self._visibility.rows.rows
        if selected_rows is not None:
            is_known = np.zeros(len(classes), dtype=np.bool_)
            is_known[selected_rows] = True
            is_selected &= is_known
        return all_runs.selected(is_selected)

    def paths(self, rows: Positions) -> list[str]:
        # The labels of rows are kept for the call; the lines that are returned need them as well.
        return [label.location.path for label in self.labels(rows)]

    @with_refusals
    def retrieve(self, search: Retrieval, checkpoint: Checkpoint) -> Candidates:
        retrievers = Retrievers(self.version, self._nodes, search, checkpoint)
        retrievers.read_words()
        lists = retrievers.lists(self._visibility, both(self._visibility.expression, self._narrowing))
        return candidates_of(lists, partial(columns_of, self.version, self._nodes) if search.with_columns else None)

    def together(self, parts: Sequence[Callable[[], Result]]) -> list[Result]:
        return self.version.store.together(parts)

    @with_refusals
    def word_statistics(self, query: str, retrievers: Iterable[Retriever]) -> Mapping[Retriever, WordStatistics]:
        tokens = {TABLES[retriever]: TOKENIZERS[TABLES[retriever]](query) for retriever in retrievers}
        self.version.read_words(tokens, ())
        return {
            retriever: self._visibility.words(TABLES[retriever], tokens[TABLES[retriever]]) for retriever in retrievers
        }

    @with_refusals
    def with_deleted(self) -> "MilvusSnapshot | None":
        if self._lifecycle is not Lifecycle.ACTIVE or not self._caller.sees_deleted:
            return None
        deleted, whole = (
            MilvusSnapshot(self.version, self._sources, self._caller, lifecycle, self._filter)
            for lifecycle in (Lifecycle.DELETED, Lifecycle.ALL)
        )
        return whole if deleted.node_count else None

    @with_refusals
    def matched_tokens(self, query: str, rows: Positions) -> list[tuple[str, ...]]:
        if self.version.manifest.code is None:
            return [()] * len(rows)
        tokens = sorted(set(tokenize(query)))
        self.version.read_words({CODE: tokens}, ())
        facts = [(token, fact) for token in tokens if (fact := self.version.term(CODE, token)) is not None]
        # The labels are asked for next.
        return tokens_held(self._nodes.read(rows, ("code_terms", "label")).strings("code_terms"), facts)

    @with_refusals
    def rows(self, ids: Sequence[str]) -> Mapping[str, int]:
        return self._nodes.rows_of(list(dict.fromkeys(ids)), self._narrowing)

    def ids(self, rows: Positions) -> list[str]:
        return [label.id for label in self.labels(rows)]

    @with_refusals
    def labels(self, rows: Positions) -> list[NodeLabel]:
        return [NodeLabel(*label) for label in self._unpacked_labels(self._nodes.read(rows, ("label",)))]

    @with_refusals
    def declarations(self, rows: Positions) -> list[Declaration]:
        return [Declaration(*unpacked_declaration(rest)) for rest in self._nodes.read(rows, ("rest",)).strings("rest")]

    @with_refusals
    def nodes(self, rows: Positions) -> list[Node]:
        node_rows = self._nodes.read(rows, ("class", "label", "rest", "text"))
        document = self.version.document
        classes = (document.classes[number] for number in node_rows.integers("class").tolist())
        columns = (node_rows.strings(field) for field in ("label", "rest", "text"))
        return [
            unpacked_node(
                label, rest, text, document.policies[node_class.policy], self.links, deleted=node_class.deleted
            )
            for node_class, label, rest, text in zip(classes, *columns, strict=True)
        ]

    @with_refusals
    def texts(self, rows: Positions) -> list[StoredText]:
        node_rows = self._nodes.read(rows, ("label", "text", "token_count"))
        labels, counts = self._unpacked_labels(node_rows), node_rows.integers("token_count").tolist()
        return [
            StoredText(
                unpacked_text(text),
                tokens,
                node_label.location,
                node_label.symbol,
                node_label.is_test,
                node_label.is_generated,
            )
            for node_label, text, tokens in zip(labels, node_rows.strings("text"), counts, strict=True)
        ]

    @with_refusals
    def text_sizes(self, rows: Positions) -> list[TextSize]:
        """Read from counts made at ingestion."""
        counts = "token_count", "char_count", "text_bytes"
        node_rows = self._nodes.read(rows, (*counts, "path"))
        columns = (node_rows.integers(field).tolist() for field in counts)
        # `text_bytes` has the path once.
        paths = map(unhexed, node_rows.strings("path"))
        return [
            TextSize(tokens, chars, text_bytes + len(path.encode()) + of_link_to(path, self.links))
            for tokens, chars, text_bytes, path in zip(*columns, paths, strict=True)
        ]

    @with_refusals
    def vectors(self, rows: Positions) -> NDArray[np.float64]:
        space = self.vector_space
        if space is None:
            raise AssertionError("bug: vectors asked of an index without vectors")
        return self._nodes.read(rows, (VECTOR,)).dense(VECTOR, space.dimension).astype(np.float64)

    @with_refusals
    def neighbourhood(self, rows: Positions) -> Neighbourhood:
        return visible_neighbourhood(self._graph, rows)

    @with_refusals
    def parents(self, rows: Positions) -> list[Positions]:
        return parents_of(self._graph, rows)

    @with_refusals
    def adjacent(self, rows: Positions) -> list[Positions]:
        return adjacent_to(self._graph, rows)

    @with_refusals
    def service_contexts(self, service_names: Sequence[str]) -> tuple[ServiceContext, ...]:
        return selected_service_contexts(self._graph, service_names)

    @property
    def graph(self) -> SelectedGraph:
        return self._graph

    @property
    @with_refusals
    def ends(self) -> SeenEnds:
        with damage_raised(self.scope):
            stored = self.version.ends
            classes = self.version.classes.take(stored.rows) if len(stored.rows) else stored.rows
        return SeenEnds(stored, self._graph.visible.holds(stored.rows, classes))

    @with_refusals
    def holds(self, rows: Positions) -> NDArray[np.bool_]:
        with damage_raised(self.scope):
            classes = self.version.classes.take(rows)
        return self._graph.selected.holds(rows, classes)

    @with_refusals
    def expand(self, walk: Walk, checkpoint: Checkpoint) -> Expansion:
        return expand(self, self._graph, walk, checkpoint)

    @with_refusals
    def find_paths(self, search: PathSearch, checkpoint: Checkpoint) -> Paths:
        return find_paths(self, self._graph, search, checkpoint)

    def _unpacked_labels(self, node_rows: Rows) -> list[Label]:
        return [unpacked_label(packed, self.links) for packed in node_rows.strings("label")]

    @cached_property
    def _narrowing(self) -> str:
        """The expression for nodes that pass the filter, without the caller's access."""
        tenants = class_expression(self._of_tenants.tolist())
        return both(tenants, filter_expression(self._filter))

    @cached_property
    def _of_tenants(self) -> NDArray[np.bool_]:
        """The visibility classes of the tenants that the filter names, a mask [classes]."""
        wanted, document = self._filter.tenant_ids, self.version.document
        policies = [not wanted or policy.tenant_id in wanted for policy in document.policies]
        return np.asarray([policies[node_class.policy] for node_class in document.classes], dtype=np.bool_)

    @cached_property
    def _graph(self) -> GraphReading:
        visibility, version = self._visibility, self.version
        # The remaining condition when the classes are right.
        asks = both(visibility.bounds, filter_expression(self._filter))
        selected = Judge(visibility.classes & self._of_tenants, partial(self._nodes.passing, asks) if asks else None)
        bound = partial(self._nodes.passing, "") if visibility.bounds else None
        return GraphReading(
            scope=version.scope,
            store=version.store,
            collections=version.collections,
            edge_types=version.manifest.edge_types,
            node_count=version.manifest.node_count,
            adjacency=Adjacency(version.store, version.collections.edges),
            selected=selected,
            visible=Judge(visibility.classes, bound),
        )
