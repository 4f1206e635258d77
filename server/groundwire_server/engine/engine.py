"""The engine: the actions and the query over indexes. Knows no transport."""

from dataclasses import dataclass, field, replace

from groundwire_index.limits import RESPONSE_BYTES
from groundwire_server.backends.interface import PathSearch, Snapshot, Walk
from groundwire_server.domain.evidence.evidence import EvidenceRequest, EvidenceResult
from groundwire_server.domain.graph.expansion import ExpandRequest, Expansion
from groundwire_server.domain.graph.paths import Paths, PathsRequest
from groundwire_server.domain.graph.validation import check_expand, check_paths
from groundwire_server.domain.query.query import QueryRequest
from groundwire_server.domain.query.query_result import QueryResult
from groundwire_server.domain.response_size import ACTION_BYTES, of_scope
from groundwire_server.domain.search.candidates import as_positions
from groundwire_server.domain.search.resolution import ResolveRequest, ResolveResult
from groundwire_server.domain.search.search import SearchRequest, SearchResult
from groundwire_server.domain.text_search.text_search import TextSearchRequest, TextSearchResult
from groundwire_server.domain.texts.packing import Budget, pack, prioritize
from groundwire_server.domain.texts.texts import FetchedText, FetchRequest, FetchResult
from groundwire_server.domain.texts.texts_validation import check_fetch
from groundwire_server.engine.evidence import DeferredTokenCounter, gather_evidence
from groundwire_server.engine.indexes import Indexes
from groundwire_server.engine.phrasing.phrasing_service import PhrasingService
from groundwire_server.engine.query import MatchRanking, QuerySettings
from groundwire_server.engine.rerankers.rerank import Rerankers
from groundwire_server.engine.resolving import resolve_nodes
from groundwire_server.engine.retrieval import scopes_of
from groundwire_server.engine.search import search_nodes
from groundwire_server.engine.text_searching import search_text
from groundwire_server.execution.call import Call, Checkpoint
from groundwire_server.execution.observation import stage
from groundwire_server.query_embedding.query_vectors import QueryVectors


@dataclass(frozen=True, slots=True)
class RetrievalEngine:
    """The actions and the query. Each validates its request, opens a snapshot for the caller, and uses only that.

    They run on an event loop and hand computing and waiting parts to the call. The responses of `expand`, `find_paths`
    and `fetch` take at most `walk_and_text_bytes`.

    Every method raises InvalidRequestError, PermissionDeniedError, NotFoundError, PreconditionError, or what the
    call's checkpoint raises; those that rerank also RerankerUnavailableError.
    """

    indexes: Indexes
    query_vectors: QueryVectors
    rerankers: Rerankers
    query_settings: QuerySettings
    max_top_k: int
    phrasing: PhrasingService | None = None
    token_counter: DeferredTokenCounter = field(default_factory=DeferredTokenCounter)
    walk_and_text_bytes: int = RESPONSE_BYTES

    async def search(self, request: SearchRequest, call: Call) -> SearchResult:
        """Selects nodes by ids and scores; never returns text."""
        return await search_nodes(request, self.indexes, self.query_vectors, self.rerankers, self.max_top_k, call)

    async def resolve(self, request: ResolveRequest, call: Call) -> ResolveResult:
        """Gives the nodes that names mean; never searches, and never returns text."""
        return await resolve_nodes(request, self.indexes, call)

    async def search_text(self, request: TextSearchRequest, call: Call) -> TextSearchResult:
        """Finds the lines that a pattern matches."""
        return await search_text(request, self.indexes, call)

    async def expand(self, request: ExpandRequest, call: Call) -> Expansion:
        """Walks the dependency graph from seeds; never returns text."""
        max_depth = check_expand(request)
        snapshot = await self.indexes.open_with_graph(request, call)
        walk = Walk(
            seed_ids=request.seed_ids,
            max_depth=max_depth,
            max_nodes=request.max_nodes,
            edge_types=_edge_types(request.edge_allowlist),
            direction=request.direction,
            max_bytes=self._room(snapshot),
            min_confidence=request.min_confidence,
        )

        def expanded() -> Expansion:
            with stage("walk"):
                return replace(snapshot.expand(walk, call.checkpoint), scopes=scopes_of(snapshot))

        return await call.compute(expanded)

    async def find_paths(self, request: PathsRequest, call: Call) -> Paths:
        """Finds the shortest paths from some nodes to others; never returns text."""
        check_paths(request)
        snapshot = await self.indexes.open_with_graph(request, call)
        search = PathSearch(
            from_ids=request.from_ids,
            to_ids=request.to_ids,
            max_hops=request.max_hops,
            max_paths=request.max_paths,
            max_nodes=request.max_nodes,
            edge_types=_edge_types(request.edge_allowlist),
            direction=request.direction,
            max_bytes=self._room(snapshot),
            min_confidence=request.min_confidence,
        )

        def paths_between() -> Paths:
            with stage("paths"):
                return replace(snapshot.find_paths(search, call.checkpoint), scopes=scopes_of(snapshot))

        return await call.compute(paths_between)

    async def fetch(self, request: FetchRequest, call: Call) -> FetchResult:
        """Returns whole texts in priority order, as many as fit the budget."""
        check_fetch(request)
        snapshot = await self.indexes.open(request, call)
        room = self._room(snapshot)
        return await call.compute(lambda: _fetched(request, snapshot, room, call.checkpoint))

    async def query(self, request: QueryRequest, call: Call) -> QueryResult:
        """Runs the whole flow and returns matches with texts."""
        return await self._ranking.query(request, call)

    async def gather_evidence(self, request: EvidenceRequest, call: Call) -> EvidenceResult:
        """Returns the passages that answer a question, within a budget of tokens."""
        return await gather_evidence(request, self._ranking, self.phrasing, self.token_counter, call)

    @property
    def _ranking(self) -> MatchRanking:
        return MatchRanking(
            self.indexes, self.query_vectors, self.rerankers.codebert, self.query_settings, self.max_top_k
        )

    def _room(self, snapshot: Snapshot) -> int:
        """The bytes of a response for what it repeats."""
        return self.walk_and_text_bytes - ACTION_BYTES - sum(map(of_scope, scopes_of(snapshot)))


def _fetched(request: FetchRequest, snapshot: Snapshot, max_bytes: int, checkpoint: Checkpoint) -> FetchResult:
    with stage("pack"):
        requested = prioritize(request.seed_ids, request.nodes, request.mode)
        rows = snapshot.rows([node.id for node in requested])
        sizes = dict(zip(rows, snapshot.text_sizes(as_positions(rows.values())), strict=True))
        checkpoint()
        budget = Budget(request.budget_tokens, request.max_chars, max_bytes)
        packing = pack(requested, sizes, budget)
    with stage("texts"):
        texts = snapshot.texts(as_positions(rows[chosen.id] for chosen in packing.chosen))
    checkpoint()
    fetched = tuple(FetchedText(chosen, text) for chosen, text in zip(packing.chosen, texts, strict=True))
    used = packing.used_tokens, packing.used_chars
    return FetchResult(fetched, packing.skipped, *used, snapshot.index, scopes_of(snapshot))


def _edge_types(allowlist: tuple[str, ...]) -> frozenset[str] | None:
    """The types to follow in the case that they are compared in; None for all."""
    return None if allowlist == ("*",) else frozenset(edge_type.casefold() for edge_type in allowlist)
