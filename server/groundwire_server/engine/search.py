"""SearchNodes: one backend search, and for a rerank the texts of its candidates."""

from dataclasses import replace

from groundwire_server.backends.interface import BackendSearch, RetrievalSnapshot
from groundwire_server.domain.checkpoint import Checkpoint
from groundwire_server.domain.limits import Limits
from groundwire_server.domain.observation import stage
from groundwire_server.domain.search import Leg, LegScore, Rerank, SearchHit, SearchRequest, SearchResult, SearchType
from groundwire_server.domain.search_validation import check_search
from groundwire_server.engine.indexes import Indexes
from groundwire_server.engine.rerank import RerankCandidate, Reranker, Rerankers, configured
from groundwire_server.engine.retrieval import Asked, query_vector
from groundwire_server.query_embedding.query_vectors import QueryVectors


def search_nodes(
    request: SearchRequest,
    indexes: Indexes,
    query_vectors: QueryVectors,
    rerankers: Rerankers,
    limits: Limits,
    checkpoint: Checkpoint,
) -> SearchResult:
    """Selects nodes.

    Raises InvalidRequestError, PermissionDeniedError, NotFoundError, PreconditionError, RerankerUnavailableError, or
    what the checkpoint raises.
    """
    search_type = check_search(request, limits)
    snapshot = indexes.open(request)
    reranker = _reranker(request.rerank, rerankers)
    vector = None
    if search_type is not SearchType.BM25:
        asked = Asked(request.query, request.query_vector, request.access)
        vector = query_vector(asked, snapshot, query_vectors, "search it with BM25", checkpoint)
    backend_search = BackendSearch(
        search_type=search_type,
        query=request.query,
        query_vector=vector,
        top_k=request.top_k * (reranker.widen_factor if reranker else 1),
        rrf_k=request.rrf_k,
        filter=request.filter,
        explain=request.explain,
    )
    with stage("search"):
        result = snapshot.search(backend_search, checkpoint)
    if reranker is None:
        return result
    checkpoint()
    with stage("rerank"):
        hits = _rerank(request.query, result.hits, snapshot, reranker, checkpoint)
    return replace(
        result, hits=tuple(_place(hit, rank, request.explain) for rank, hit in enumerate(hits[: request.top_k], 1))
    )


def _reranker(rerank: Rerank, rerankers: Rerankers) -> Reranker | None:
    if rerank is Rerank.NONE:
        return None
    if rerank is Rerank.KEYWORD:
        return rerankers.keyword
    return configured(rerankers.codebert)


def _rerank(
    query: str,
    hits: tuple[SearchHit, ...],
    snapshot: RetrievalSnapshot,
    reranker: Reranker,
    checkpoint: Checkpoint,
) -> list[SearchHit]:
    texts = snapshot.fetch_texts([hit.id for hit in hits])
    candidates = [RerankCandidate(texts[hit.id].text, hit.score) for hit in hits]
    scores = reranker.scores(query, candidates, checkpoint)
    rescored = [replace(hit, score=score) for hit, score in zip(hits, scores, strict=True)]
    return sorted(rescored, key=lambda hit: (-hit.score, hit.rank))


def _place(hit: SearchHit, rank: int, explain: bool) -> SearchHit:
    legs = (*hit.legs, LegScore(Leg.RERANK, rank, hit.score)) if explain else ()
    return replace(hit, rank=rank, legs=legs)
