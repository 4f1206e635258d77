"""The compared ways to search, each with the call that a caller would make."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bench.quality.metrics import DEPTH
from bench.quality.sets import JudgedQuery
from groundwire_client import FusionMode, GroundwireClient, HybridParameters, IndexScope, Retriever, SearchType

LIST_LIMIT = 100
"""The default for every `top_k` up to 33, so that the first ten of a ranking are what `top_k` 10 gives."""


class Mode(Protocol):
    """A way to search."""

    def ids(self, client: GroundwireClient, scope: IndexScope, query: JudgedQuery) -> Sequence[str]:
        """The canonical ids of the first hundred, best first."""
        ...


@dataclass(frozen=True, slots=True)
class QueryMode:
    """QueryService.Query over some of its retrievers; none named means all."""

    retrievers: tuple[Retriever.ValueType, ...] = ()
    fusion: FusionMode.ValueType = FusionMode.FUSION_MODE_ADAPTIVE
    rerank: bool = False
    diversify_strength: float = 0.0

    def ids(self, client: GroundwireClient, scope: IndexScope, query: JudgedQuery) -> Sequence[str]:
        """The canonical ids of the first hundred, best first."""
        asks_dense = not self.retrievers or Retriever.RETRIEVER_DENSE in self.retrievers
        result = client.query(
            scope,
            query.query,
            hybrid=HybridParameters(
                top_k=DEPTH, vec_limit=LIST_LIMIT, lex_limit=LIST_LIMIT, diversify_strength=self.diversify_strength
            ),
            retrievers=self.retrievers,
            fusion=self.fusion,
            rerank=self.rerank,
            query_vector=query.vector if asks_dense else (),
        )
        return [match.id for match in result.matches]


@dataclass(frozen=True, slots=True)
class SearchMode:
    """RetrievalService.SearchNodes."""

    search_type: SearchType.ValueType

    def ids(self, client: GroundwireClient, scope: IndexScope, query: JudgedQuery) -> Sequence[str]:
        """The canonical ids of the first hundred, best first."""
        vector = () if self.search_type == SearchType.SEARCH_TYPE_BM25 else query.vector
        result = client.search(scope, query.query, search_type=self.search_type, top_k=DEPTH, query_vector=vector)
        return [hit.id for hit in result.hits]


MODES: dict[str, Mode] = {
    "dense": QueryMode(retrievers=(Retriever.RETRIEVER_DENSE,)),
    "bm25_code": QueryMode(retrievers=(Retriever.RETRIEVER_BM25_CODE,)),
    "bm25_prose": QueryMode(retrievers=(Retriever.RETRIEVER_BM25_PROSE,)),
    "trigram": QueryMode(retrievers=(Retriever.RETRIEVER_TRIGRAM,)),
    "rrf": QueryMode(fusion=FusionMode.FUSION_MODE_RRF),
    "weighted": QueryMode(fusion=FusionMode.FUSION_MODE_WEIGHTED),
    "adaptive": QueryMode(),
    "adaptive+mmr": QueryMode(diversify_strength=0.3),
    "adaptive+rerank": QueryMode(rerank=True),
    "search_semantic": SearchMode(SearchType.SEARCH_TYPE_SEMANTIC),
    "search_bm25": SearchMode(SearchType.SEARCH_TYPE_BM25),
    "search_hybrid": SearchMode(SearchType.SEARCH_TYPE_HYBRID),
}
"""The modes, by their names in tables."""

NEEDS_RERANKER = frozenset({"adaptive+rerank"})
