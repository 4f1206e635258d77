"""SearchNodes: the first stages of a query: retrieve, fuse, and rerank on request."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from groundwire_index.text.code_tokenizer import tokenize
from groundwire_server.backends.interface import Snapshot
from groundwire_server.domain.limits import MAX_MATCHED_TOKENS
from groundwire_server.domain.search.candidates import Candidates, Retrieval
from groundwire_server.domain.search.fusion import best_first_by_ranks, reciprocal_rank_fusion
from groundwire_server.domain.search.search import (
    Rerank,
    Retriever,
    RetrieverScore,
    SearchDebug,
    SearchHit,
    SearchPath,
    SearchRequest,
    SearchResult,
    SearchType,
)
from groundwire_server.domain.search.validation import check_search
from groundwire_server.engine.indexes import Indexes
from groundwire_server.engine.rerankers.rerank import Reranker, Rerankers, configured, rerank_scores
from groundwire_server.engine.retrieval import check_held, left_out, scopes_of, vector_of
from groundwire_server.engine.stages import Ranked
from groundwire_server.execution.call import Call, Checkpoint
from groundwire_server.execution.observation import stage
from groundwire_server.query_embedding.query_vectors import QueryVectors

_RETRIEVERS: Mapping[SearchType, tuple[Retriever, ...]] = {
    SearchType.SEMANTIC: (Retriever.DENSE,),
    SearchType.BM25: (Retriever.BM25_CODE,),
    SearchType.HYBRID: (Retriever.BM25_CODE, Retriever.DENSE),
}
_ADVICE = {
    Retriever.DENSE: "search it with search_type BM25",
    Retriever.BM25_CODE: "search it with search_type SEMANTIC",
}


async def search_nodes(
    request: SearchRequest,
    indexes: Indexes,
    query_vectors: QueryVectors,
    rerankers: Rerankers,
    max_top_k: int,
    call: Call,
) -> SearchResult:
    """Selects nodes.

    Raises InvalidRequestError, PermissionDeniedError, NotFoundError, PreconditionError, RerankerUnavailableError, or
    what the call's checkpoint raises.
    """
    check_search(request, max_top_k)
    snapshot = await indexes.open(request, call)
    search_type = _search_type(request, snapshot)
    retrievers = _RETRIEVERS[search_type]
    reranker = _reranker(request.rerank, rerankers)
    check_held(snapshot, retrievers, _ADVICE)
    vector = await vector_of(request, snapshot, query_vectors, call) if Retriever.DENSE in retrievers else None
    depth = request.top_k * (reranker.widen_factor if reranker else 1)
    search = Retrieval(request.query, vector, dict.fromkeys(retrievers, depth))

    def retrieve_and_fuse() -> Ranked:
        with stage("retrieve"):
            candidates = snapshot.retrieve(search, call.checkpoint)
        return _fused(candidates, request.rrf_k, depth)

    if reranker is None:
        return await call.compute(lambda: _result(request, search_type, retrieve_and_fuse(), snapshot))
    ranked = await call.compute(retrieve_and_fuse)
    rerank = partial(_reranked, request.query, ranked, snapshot, reranker, call.checkpoint)
    reranked = await (call.compute(rerank) if request.rerank is Rerank.KEYWORD else call.ask_model(rerank))
    return await call.compute(lambda: _result(request, search_type, reranked, snapshot))


def _search_type(request: SearchRequest, snapshot: Snapshot) -> SearchType:
    """The requested type; else HYBRID, or the type that the index has data for. A query vector excludes BM25."""
    if request.search_type is not None:
        return request.search_type
    if Retriever.BM25_CODE not in snapshot.retrievers:
        return SearchType.SEMANTIC
    has_vectors = Retriever.DENSE in snapshot.retrievers
    return SearchType.HYBRID if has_vectors or request.query_vector else SearchType.BM25


def _result(request: SearchRequest, search_type: SearchType, ranked: Ranked, snapshot: Snapshot) -> SearchResult:
    ranked = replace(ranked, order=ranked.order[: request.top_k])
    hits = _hits(ranked, snapshot)
    if request.explain:
        hits = _explained(hits, request.query, ranked, snapshot)
    debug = _debug(request, ranked.candidates, snapshot) if request.explain else None
    return SearchResult(
        tuple(hits),
        snapshot.index,
        search_type,
        ranked.candidates.exact,
        debug,
        scopes=scopes_of(snapshot),
        left_out=left_out(snapshot, _RETRIEVERS[request.search_type or SearchType.HYBRID]),
    )


def _reranker(rerank: Rerank, rerankers: Rerankers) -> Reranker | None:
    if rerank is Rerank.NONE:
        return None
    if rerank is Rerank.KEYWORD:
        return rerankers.keyword
    return configured(rerankers.codebert)


def _fused(candidates: Candidates, rrf_k: int, count: int) -> Ranked:
    """A single list unchanged, or both fused; ties are ordered by the rank in the dense list, then in the other."""
    lists = list(candidates.by_retriever.values())
    ranks = [retriever_scores.ranks for retriever_scores in lists]
    scores = lists[0].scores if len(lists) == 1 else reciprocal_rank_fusion(ranks, rrf_k)
    return Ranked(candidates, best_first_by_ranks(scores, ranks)[:count], final=scores, fused=scores)


def _reranked(query: str, ranked: Ranked, snapshot: Snapshot, reranker: Reranker, checkpoint: Checkpoint) -> Ranked:
    """Ties keep the order of the search."""
    with stage("rerank"):
        scores = rerank_scores(query, ranked.candidates, ranked.order, snapshot, reranker, checkpoint)
    order = ranked.order[np.argsort(-scores, kind="stable")]
    return replace(ranked, order=order, final=ranked.column(ranked.order, scores))


def _hits(ranked: Ranked, snapshot: Snapshot) -> list[SearchHit]:
    labels, scores = snapshot.labels(ranked.rows), ranked.final[ranked.order].tolist()
    return [
        SearchHit(label, score, rank) for rank, (label, score) in enumerate(zip(labels, scores, strict=True), start=1)
    ]


def _explained(hits: Sequence[SearchHit], query: str, ranked: Ranked, snapshot: Snapshot) -> list[SearchHit]:
    """The hits with their places in every list, and the query's tokens that they hold."""
    matched: Sequence[tuple[str, ...]] = [()] * len(ranked.order)
    if Retriever.BM25_CODE in ranked.candidates.by_retriever:
        matched = snapshot.matched_tokens(query, ranked.rows)
    return [
        replace(
            hit, retrievers=_retriever_scores(ranked.candidates, position), matched_tokens=tokens[:MAX_MATCHED_TOKENS]
        )
        for hit, position, tokens in zip(hits, ranked.order.tolist(), matched, strict=True)
    ]


def _retriever_scores(candidates: Candidates, position: int) -> tuple[RetrieverScore, ...]:
    return tuple(
        RetrieverScore(retriever, int(scores.ranks[position]), float(scores.scores[position]))
        for retriever, scores in candidates.by_retriever.items()
        if scores.ranks[position]
    )


def _debug(request: SearchRequest, candidates: Candidates, snapshot: Snapshot) -> SearchDebug:
    lengths = {retriever: retriever_scores.length for retriever, retriever_scores in candidates.by_retriever.items()}
    path = SearchPath.EXACT if candidates.exact else SearchPath.APPROXIMATE
    has_words = Retriever.BM25_CODE in lengths
    return SearchDebug(
        path=path if Retriever.DENSE in lengths else None,
        filtered=request.filter.narrows,
        visible_count=snapshot.node_count,
        semantic_candidates=lengths.get(Retriever.DENSE, 0),
        bm25_candidates=lengths.get(Retriever.BM25_CODE, 0),
        query_tokens=tuple(sorted(set(tokenize(request.query)))) if has_words else (),
        rrf_k=request.rrf_k if len(lengths) > 1 else 0,
    )
