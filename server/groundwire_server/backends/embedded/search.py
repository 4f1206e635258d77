"""Semantic, BM25 and hybrid search of one view."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from groundwire_index.lexical.lexical import LexicalTable
from groundwire_index.text.code_tokenizer import tokenize
from groundwire_server.backends.embedded.artifacts import code_words_of, vectors_of
from groundwire_server.backends.embedded.bm25 import Bm25, matched_tokens
from groundwire_server.backends.embedded.pool import View
from groundwire_server.backends.embedded.ranking import RankedRow
from groundwire_server.backends.embedded.semantic import Nearest, rank_by_similarity
from groundwire_server.backends.interface import BackendSearch
from groundwire_server.domain.checkpoint import Checkpoint
from groundwire_server.domain.fusion import reciprocal_rank_fusion
from groundwire_server.domain.limits import MAX_MATCHED_TOKENS
from groundwire_server.domain.observation import stage
from groundwire_server.domain.search import Leg, LegScore, SearchDebug, SearchHit, SearchPath, SearchResult, SearchType


@dataclass(frozen=True, slots=True)
class _Legs:
    """The lists of a search; None for one that the search type does not ask for."""

    semantic: Sequence[RankedRow] | None
    bm25: Sequence[RankedRow] | None
    tokens: Sequence[str]

    def ranked(self, rrf_k: int, top_k: int) -> list[RankedRow]:
        """The one list, or both fused, as far as `top_k`."""
        if self.semantic is None or self.bm25 is None:
            return list(self.semantic or self.bm25 or ())
        fused = reciprocal_rank_fusion([[hit.row for hit in leg] for leg in (self.semantic, self.bm25)], rrf_k)
        return [RankedRow(hit.item, hit.score) for hit in fused[:top_k]]

    def scores(self) -> dict[int, tuple[LegScore, ...]]:
        """Each row's place in the lists that hold it."""
        scores: dict[int, tuple[LegScore, ...]] = {}
        for leg, hits in ((Leg.SEMANTIC, self.semantic), (Leg.BM25, self.bm25)):
            for rank, hit in enumerate(hits or (), start=1):
                scores[hit.row] = (*scores.get(hit.row, ()), LegScore(leg, rank, hit.score))
        return scores


class ViewSearch:
    """The searches of one view."""

    def __init__(self, view: View) -> None:
        self._index = view.index
        self._visibility = view.visibility

    def run(self, search: BackendSearch, checkpoint: Checkpoint) -> SearchResult:
        """Hits, best first. Raises PreconditionError when the index lacks what the search needs."""
        allowed = self._visibility.narrowed(search.filter)
        semantic_asked = search.search_type is not SearchType.BM25
        lexical_asked = search.search_type is not SearchType.SEMANTIC
        lexical = code_words_of(self._index, "search it semantically") if lexical_asked else None
        semantic = self._semantic(search, allowed) if semantic_asked else None
        checkpoint()
        tokens = tokenize(search.query) if lexical else []
        bm25 = self._bm25(lexical, tokens, allowed, search.top_k) if lexical else None
        checkpoint()
        legs = _Legs(semantic.hits if semantic else None, bm25, tokens)
        ranked = legs.ranked(search.rrf_k, search.top_k)
        hits = tuple(self._explained(ranked, legs, lexical) if search.explain else self._plain(ranked))
        exact = semantic is None or semantic.exact
        debug = self._debug(search, allowed, legs, exact) if search.explain else None
        return SearchResult(hits, self._index.manifest.version, exact, debug)

    def _semantic(self, search: BackendSearch, allowed: NDArray[np.bool_]) -> Nearest:
        vectors, query = vectors_of(self._index, search.query_vector)
        with stage(Leg.SEMANTIC.value):
            return rank_by_similarity(vectors, query, allowed, search.top_k)

    def _bm25(
        self, lexical: LexicalTable, tokens: Sequence[str], allowed: NDArray[np.bool_], top_k: int
    ) -> Sequence[RankedRow]:
        with stage(Leg.BM25.value):
            return Bm25(lexical, tokens, self._visibility).rank(allowed, top_k)

    def _plain(self, ranked: Sequence[RankedRow]) -> Iterable[SearchHit]:
        nodes, ids = self._index.nodes, self._visibility.ids_of([hit.row for hit in ranked])
        for rank, (hit, id_) in enumerate(zip(ranked, ids, strict=True), start=1):
            symbol, location = nodes.symbols[hit.row], nodes.location(hit.row)
            yield SearchHit(id_, hit.score, rank, symbol, location, **nodes.origin_flags(hit.row))

    def _explained(self, ranked: Sequence[RankedRow], legs: _Legs, lexical: LexicalTable | None) -> Iterable[SearchHit]:
        scores = legs.scores()
        for hit, plain in zip(ranked, self._plain(ranked), strict=True):
            matched = matched_tokens(lexical, legs.tokens, hit.row)[:MAX_MATCHED_TOKENS] if lexical else ()
            yield replace(plain, legs=scores[hit.row], matched_tokens=matched)

    def _debug(self, search: BackendSearch, allowed: NDArray[np.bool_], legs: _Legs, exact: bool) -> SearchDebug:
        path = SearchPath.EXACT if exact else SearchPath.APPROXIMATE
        return SearchDebug(
            path=None if legs.semantic is None else path,
            filtered=search.filter.narrows,
            visible_count=int(np.count_nonzero(allowed)),
            semantic_candidates=len(legs.semantic or ()),
            bm25_candidates=len(legs.bm25 or ()),
            query_tokens=tuple(sorted(set(legs.tokens))),
            rrf_k=search.rrf_k if search.search_type is SearchType.HYBRID else 0,
        )
