"""The ways to search that are compared, each as a caller would ask for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bench.quality.metrics import DEPTH
from bench.quality.sets import JudgedQuery
from groundwire_client import FusionMode, GroundwireClient, HybridParameters, Scope, SearchType, Source

LIST_LIMIT = 100
"""The default for every `top_k` up to 33, so that the first ten of a ranking are what `top_k` 10 gives."""


class Mode(Protocol):
    """A way to search."""

    def ids(self, client: GroundwireClient, scope: Scope, query: JudgedQuery) -> Sequence[str]:
        """The canonical ids of the first hundred, best first."""
        ...


@dataclass(frozen=True, slots=True)
class QueryMode:
    """QueryService.Query over some of its sources; none named means all."""

    sources: tuple[Source, ...] = ()
    fusion: FusionMode = FusionMode.ADAPTIVE
    rerank: bool = False
    diversify_strength: float = 0.0

    def ids(self, client: GroundwireClient, scope: Scope, query: JudgedQuery) -> Sequence[str]:
        """The canonical ids of the first hundred, best first."""
        asks_dense = not self.sources or Source.DENSE in self.sources
        result = client.query(
            scope,
            query.query,
            hybrid=HybridParameters(
                top_k=DEPTH,
                vec_limit=LIST_LIMIT,
                lex_limit=LIST_LIMIT,
                diversify_strength=self.diversify_strength,
            ),
            sources=self.sources,
            fusion=self.fusion,
            rerank=self.rerank,
            query_vector=query.vector if asks_dense else (),
        )
        return [match.id for match in result.matches]


@dataclass(frozen=True, slots=True)
class SearchMode:
    """RetrievalService.SearchNodes."""

    search_type: SearchType

    def ids(self, client: GroundwireClient, scope: Scope, query: JudgedQuery) -> Sequence[str]:
        """The canonical ids of the first hundred, best first."""
        vector = () if self.search_type is SearchType.BM25 else query.vector
        result = client.search(scope, query.query, search_type=self.search_type, top_k=DEPTH, query_vector=vector)
        return [hit.id for hit in result.hits]


MODES: dict[str, Mode] = {
    "dense": QueryMode(sources=(Source.DENSE,)),
    "bm25_code": QueryMode(sources=(Source.BM25_CODE,)),
    "bm25_nlp": QueryMode(sources=(Source.BM25_NLP,)),
    "trigram": QueryMode(sources=(Source.TRIGRAM,)),
    "rrf": QueryMode(fusion=FusionMode.RRF),
    "weighted": QueryMode(fusion=FusionMode.WEIGHTED),
    "adaptive": QueryMode(),
    "adaptive+mmr": QueryMode(diversify_strength=0.3),
    "adaptive+rerank": QueryMode(rerank=True),
    "search_semantic": SearchMode(SearchType.SEMANTIC),
    "search_bm25": SearchMode(SearchType.BM25),
    "search_hybrid": SearchMode(SearchType.HYBRID),
}
"""By the name that tables show."""

NEEDS_RERANKER = frozenset({"adaptive+rerank"})
