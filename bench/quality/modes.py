"""The compared ways to search, each with the call that a caller would make."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from bench.quality.metrics import DEPTH
from bench.quality.sets import JudgedQuery
from groundwire_client import FusionMode, GroundwireClient, HybridParameters, IndexScope, Retriever, SearchType, ids

LIST_LIMIT = 100
"""The default for every `top_k` up to 33, so that the first ten of a ranking are what `top_k` 10 gives."""

Mode: TypeAlias = Callable[[GroundwireClient, IndexScope, JudgedQuery], Sequence[str]]
"""A way to search; returns the canonical ids of the first hundred, best first."""


def _query(
    *retrievers: Retriever.ValueType,
    fusion: FusionMode.ValueType = FusionMode.FUSION_MODE_ADAPTIVE,
    rerank: bool = False,
    diversify_strength: float = 0.0,
) -> Mode:
    """QueryService.Query over some of its retrievers; none named means all."""
    hybrid = HybridParameters(
        top_k=DEPTH, vec_limit=LIST_LIMIT, lex_limit=LIST_LIMIT, diversify_strength=diversify_strength
    )
    asks_dense = not retrievers or Retriever.RETRIEVER_DENSE in retrievers

    def found(client: GroundwireClient, scope: IndexScope, query: JudgedQuery) -> Sequence[str]:
        result = client.query(
            scope,
            query.query,
            hybrid=hybrid,
            retrievers=retrievers,
            fusion=fusion,
            rerank=rerank,
            query_vector=query.vector if asks_dense else (),
        )
        return [match.id for match in result.matches]

    return found


def _search(search_type: SearchType.ValueType) -> Mode:
    """RetrievalService.SearchNodes."""

    def found(client: GroundwireClient, scope: IndexScope, query: JudgedQuery) -> Sequence[str]:
        vector = () if search_type == SearchType.SEARCH_TYPE_BM25 else query.vector
        return ids(client.search(scope, query.query, search_type=search_type, top_k=DEPTH, query_vector=vector))

    return found


RERANKED = "adaptive+rerank"
"""The mode that needs a reranker."""
MODES: Mapping[str, Mode] = {
    "dense": _query(Retriever.RETRIEVER_DENSE),
    "bm25_code": _query(Retriever.RETRIEVER_BM25_CODE),
    "bm25_prose": _query(Retriever.RETRIEVER_BM25_PROSE),
    "trigram": _query(Retriever.RETRIEVER_TRIGRAM),
    "rrf": _query(fusion=FusionMode.FUSION_MODE_RRF),
    "weighted": _query(fusion=FusionMode.FUSION_MODE_WEIGHTED),
    "adaptive": _query(),
    "adaptive+mmr": _query(diversify_strength=0.3),
    RERANKED: _query(rerank=True),
    "search_semantic": _search(SearchType.SEARCH_TYPE_SEMANTIC),
    "search_bm25": _search(SearchType.SEARCH_TYPE_BM25),
    "search_hybrid": _search(SearchType.SEARCH_TYPE_HYBRID),
}
"""The modes, by their names in tables."""
