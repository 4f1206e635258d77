"""The engine: the actions and the query over indexes. Thread-safe; knows no transport."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from groundwire_index.limits import RESPONSE_BYTES
from groundwire_server.backends.interface import PathSearch, Walk
from groundwire_server.domain.checkpoint import Checkpoint
from groundwire_server.domain.graph.expansion import ExpandRequest, Expansion
from groundwire_server.domain.graph.expansion_validation import check_expand
from groundwire_server.domain.graph.paths import Paths, PathsRequest
from groundwire_server.domain.graph.paths_validation import check_paths
from groundwire_server.domain.interpreter import holding_interpreter
from groundwire_server.domain.limits import Limits
from groundwire_server.domain.observation import stage
from groundwire_server.domain.query.query import QueryRequest
from groundwire_server.domain.query.query_result import QueryResult
from groundwire_server.domain.search.candidates import Positions
from groundwire_server.domain.search.search import SearchRequest, SearchResult
from groundwire_server.domain.texts.packing import HEADROOM_BYTES, Budget, pack
from groundwire_server.domain.texts.prioritization import prioritize
from groundwire_server.domain.texts.texts import FetchedText, FetchRequest, FetchResult
from groundwire_server.domain.texts.texts_validation import check_fetch
from groundwire_server.engine.indexes import Indexes
from groundwire_server.engine.query import QuerySettings, run_query
from groundwire_server.engine.rerankers.rerank import Rerankers
from groundwire_server.engine.search import search_nodes
from groundwire_server.query_embedding.query_vectors import QueryVectors


@dataclass(frozen=True, slots=True)
class RetrievalEngine:
    """The actions and the query. Each validates, opens its own snapshot for the caller and asks only that.

    Every method raises InvalidRequestError, PermissionDeniedError, NotFoundError, PreconditionError, or what the
    checkpoint raises; those that rerank also RerankerUnavailableError.
    """

    indexes: Indexes
    query_vectors: QueryVectors
    rerankers: Rerankers
    query_settings: QuerySettings
    limits: Limits

    @holding_interpreter()
    def search(self, request: SearchRequest, checkpoint: Checkpoint) -> SearchResult:
        """Selects nodes by ids and scores; never returns text."""
        return search_nodes(request, self.indexes, self.query_vectors, self.rerankers, self.limits, checkpoint)

    @holding_interpreter()
    def expand(self, request: ExpandRequest, checkpoint: Checkpoint) -> Expansion:
        """Walks the dependency graph from seeds; never returns text."""
        max_depth = check_expand(request, self.limits)
        walk = Walk(
            seed_ids=request.seed_ids,
            max_depth=max_depth,
            max_nodes=request.max_nodes,
            edge_types=_edge_types(request.edge_allowlist),
            direction=request.direction,
            max_bytes=RESPONSE_BYTES - HEADROOM_BYTES,
            min_confidence=request.min_confidence,
        )
        snapshot = self.indexes.open(request)
        with stage("walk"):
            return snapshot.expand(walk, checkpoint)

    @holding_interpreter()
    def find_paths(self, request: PathsRequest, checkpoint: Checkpoint) -> Paths:
        """Finds the shortest paths from some nodes to others; never returns text."""
        check_paths(request, self.limits)
        search = PathSearch(
            from_ids=request.from_ids,
            to_ids=request.to_ids,
            max_hops=request.max_hops,
            max_paths=request.max_paths,
            max_nodes=request.max_nodes,
            edge_types=_edge_types(request.edge_allowlist),
            direction=request.direction,
            max_bytes=RESPONSE_BYTES - HEADROOM_BYTES,
            min_confidence=request.min_confidence,
        )
        snapshot = self.indexes.open(request)
        with stage("paths"):
            return snapshot.find_paths(search, checkpoint)

    @holding_interpreter()
    def fetch(self, request: FetchRequest, checkpoint: Checkpoint) -> FetchResult:
        """Returns whole texts in priority order, as many as fit the budget."""
        check_fetch(request)
        snapshot = self.indexes.open(request)
        with stage("pack"):
            requested = prioritize(request.seed_ids, request.nodes, request.mode)
            rows = snapshot.rows([one.id for one in requested])
            sizes = dict(zip(rows, snapshot.text_sizes(_positions(rows.values())), strict=True))
            checkpoint()
            budget = Budget(request.budget_tokens, request.max_chars, RESPONSE_BYTES - HEADROOM_BYTES)
            packing = pack(requested, sizes, budget)
        with stage("texts"):
            texts = snapshot.texts(_positions([rows[chosen.id] for chosen in packing.chosen]))
        checkpoint()
        fetched = tuple(
            FetchedText(chosen.id, chosen.is_seed, chosen.depth, chosen.parent_id, text)
            for chosen, text in zip(packing.chosen, texts, strict=True)
        )
        return FetchResult(fetched, packing.skipped, packing.used_tokens, packing.used_chars, snapshot.index)

    @holding_interpreter()
    def query(self, request: QueryRequest, checkpoint: Checkpoint) -> QueryResult:
        """Runs the whole flow and returns matches with texts."""
        return run_query(
            request,
            self.indexes,
            self.query_vectors,
            self.rerankers.codebert,
            self.query_settings,
            self.limits,
            checkpoint,
        )


def _positions(rows: Collection[int]) -> Positions:
    return np.fromiter(rows, dtype=np.int64, count=len(rows))


def _edge_types(allowlist: tuple[str, ...]) -> frozenset[str] | None:
    """The types to follow in the case that they are compared in; None for all."""
    return None if allowlist == ("*",) else frozenset(edge_type.casefold() for edge_type in allowlist)
