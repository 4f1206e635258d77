"""SearchNodes: the first stages of a query: retrieve, fuse, and rerank on request."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from groundwire_index.scope import SEPARATOR
from groundwire_index.text.code_tokenizer import tokenize
from groundwire_index.text.names import node_names
from groundwire_server.backends.interface import Snapshot
from groundwire_server.domain.limits import MAX_LIST_LIMIT, MAX_MATCHED_TOKENS
from groundwire_server.domain.search.candidates import Candidates, Floats, Positions, Retrieval, as_positions
from groundwire_server.domain.search.fusion import best_first_by_ranks, reciprocal_rank_fusion
from groundwire_server.domain.search.names import at_place, describing_words, ends_with, outer, place_of, segments
from groundwire_server.domain.search.search import (
    NameMatch,
    NodeLabel,
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
from groundwire_server.engine.retrieval import check_held, scopes_of, vector_of
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


@dataclass(frozen=True, slots=True, eq=False)
class _Ranked:
    """Candidates with the scores [n] that they are answered with, and their positions, best first."""

    candidates: Candidates
    scores: Floats
    order: Positions


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
    if search_type is SearchType.NAME:
        return await call.compute(lambda: search_by_name(request, snapshot, call.checkpoint))
    retrievers = _RETRIEVERS[search_type]
    reranker = _reranker(request.rerank, rerankers)
    check_held(snapshot, retrievers, _ADVICE)
    vector = await vector_of(request, snapshot, query_vectors, call) if Retriever.DENSE in retrievers else None
    depth = request.top_k * (reranker.widen_factor if reranker else 1)
    search = Retrieval(request.query, vector, dict.fromkeys(retrievers, depth))

    def found() -> _Ranked:
        with stage("retrieve"):
            candidates = snapshot.retrieve(search, call.checkpoint)
        return _fused(candidates, request.rrf_k, depth)

    if reranker is None:
        return await call.compute(lambda: _result(request, search_type, found(), snapshot))
    ranked = await call.compute(found)
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


def _result(request: SearchRequest, search_type: SearchType, ranked: _Ranked, snapshot: Snapshot) -> SearchResult:
    ranked = replace(ranked, order=ranked.order[: request.top_k])
    hits = _explained(request, ranked, snapshot) if request.explain else _hits(ranked, snapshot)
    debug = _debug(request, ranked.candidates, snapshot) if request.explain else None
    return SearchResult(
        tuple(hits), snapshot.index, search_type, ranked.candidates.exact, debug, scopes=scopes_of(snapshot)
    )


def _reranker(rerank: Rerank, rerankers: Rerankers) -> Reranker | None:
    if rerank is Rerank.NONE:
        return None
    if rerank is Rerank.KEYWORD:
        return rerankers.keyword
    return configured(rerankers.codebert)


def _fused(candidates: Candidates, rrf_k: int, count: int) -> _Ranked:
    """A single list unchanged, or both fused; ties are ordered by the rank in the dense list, then in the other."""
    lists = list(candidates.by_retriever.values())
    ranks = [found.ranks for found in lists]
    scores = lists[0].scores if len(lists) == 1 else reciprocal_rank_fusion(ranks, rrf_k)
    return _Ranked(candidates, scores, best_first_by_ranks(scores, ranks)[:count])


def _reranked(query: str, ranked: _Ranked, snapshot: Snapshot, reranker: Reranker, checkpoint: Checkpoint) -> _Ranked:
    """Ties keep the order of the search."""
    with stage("rerank"):
        scores = rerank_scores(query, ranked.candidates, ranked.order, snapshot, reranker, checkpoint)
    finals = np.zeros(len(ranked.candidates))
    finals[ranked.order] = scores
    return _Ranked(ranked.candidates, finals, ranked.order[np.argsort(-scores, kind="stable")])


def _hits(ranked: _Ranked, snapshot: Snapshot) -> list[SearchHit]:
    labels = snapshot.labels(ranked.candidates.rows[ranked.order])
    scores = ranked.scores[ranked.order].tolist()
    return [
        SearchHit(label.id, score, rank, label.symbol, label.location, label.is_test, label.is_generated)
        for rank, (label, score) in enumerate(zip(labels, scores, strict=True), start=1)
    ]


def _explained(request: SearchRequest, ranked: _Ranked, snapshot: Snapshot) -> list[SearchHit]:
    """The hits with their places in every list, and the query's tokens that they hold."""
    matched: Sequence[tuple[str, ...]] = [()] * len(ranked.order)
    if Retriever.BM25_CODE in ranked.candidates.by_retriever:
        matched = snapshot.matched_tokens(request.query, ranked.candidates.rows[ranked.order])
    return [
        replace(
            hit, retrievers=_retriever_scores(ranked.candidates, position), matched_tokens=tokens[:MAX_MATCHED_TOKENS]
        )
        for hit, position, tokens in zip(_hits(ranked, snapshot), ranked.order.tolist(), matched, strict=True)
    ]


def _retriever_scores(candidates: Candidates, position: int) -> tuple[RetrieverScore, ...]:
    return tuple(
        RetrieverScore(retriever, int(found.ranks[position]), float(found.scores[position]))
        for retriever, found in candidates.by_retriever.items()
        if found.ranks[position]
    )


def _debug(request: SearchRequest, candidates: Candidates, snapshot: Snapshot) -> SearchDebug:
    lengths = {retriever: found.length for retriever, found in candidates.by_retriever.items()}
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


_ARTICLES = frozenset({"the", "a", "an"})


def search_by_name(request: SearchRequest, snapshot: Snapshot, checkpoint: Checkpoint) -> SearchResult:
    """The nodes that an id, a place or a symbol means: those of the surest reading that has some, by id."""
    names = _Names(snapshot, checkpoint)
    match, found = next(((match, found) for match, found in names.read(request.query.strip()) if found), (None, []))
    kept = sorted(found, key=lambda node: node.id)[: request.top_k]
    hits = (
        SearchHit(
            label.id, 1.0, rank, label.symbol, label.location, label.is_test, label.is_generated,
            kind=declaration.kind, signature=declaration.signature,
        )
        for rank, (label, declaration) in enumerate(
            zip(kept, snapshot.declarations(names.rows(kept)), strict=True), start=1
        )
    )  # fmt: skip
    return SearchResult(
        tuple(hits),
        snapshot.index,
        SearchType.NAME,
        name_match=match,
        is_ambiguous=len({_meant(node, match) for node in found}) > 1,
        scopes=scopes_of(snapshot),
    )


def _meant(node: NodeLabel, match: NameMatch | None) -> tuple[str, ...]:
    """Equal for nodes that one name means together: those at a place of one file, and those of one symbol in it."""
    index = node.id.split(SEPARATOR, 2)[:2]
    return (*index, node.location.path, "" if match is NameMatch.PLACE else node.symbol)


class _Names:
    """Reads names; a reading is how a text may be meant, and the nodes that it then means."""

    def __init__(self, snapshot: Snapshot, checkpoint: Checkpoint) -> None:
        self._snapshot = snapshot
        self._checkpoint = checkpoint
        self._bearers = cache(self._bearers_of)
        self._rows: dict[str, int] = {}

    def rows(self, nodes: Sequence[NodeLabel]) -> Positions:
        """The rows of nodes [m] that were read."""
        return as_positions(self._rows[node.id] for node in nodes)

    def read(self, text: str) -> Iterator[tuple[NameMatch, list[NodeLabel]]]:
        """The readings of a text, the surest first; many have no nodes."""
        yield NameMatch.ID, self._labels(self._snapshot.rows([text]).values())
        place = place_of(text)
        files = node_names("", place.path)
        in_path = self._bearers(files[-1]) if files else []
        yield NameMatch.PLACE, at_place(place, (node for node in in_path if node.location.path == place.path))
        yield from self._symbols(text)
        in_files = self._bearers(files[0]) if files else []
        end = f"/{place.path}"
        yield NameMatch.PLACE, at_place(place, (node for node in in_files if node.location.path.endswith(end)))
        yield NameMatch.SIGNATURE, self._described(text)

    def _symbols(self, name: str) -> Iterator[tuple[NameMatch, list[NodeLabel]]]:
        names = node_names(name, "")
        if not names:
            return
        for bearers in map(self._bearers, reversed(names)):
            yield NameMatch.SYMBOL, [node for node in bearers if node.symbol == name]
            yield NameMatch.SYMBOL, [node for node in bearers if segments(node.symbol) == segments(name)]
        bearers, folded = self._bearers(names[0]), name.casefold()
        yield NameMatch.SYMBOL_END, outer([node for node in bearers if ends_with(node.symbol, name)])
        yield NameMatch.FOLDED, [node for node in bearers if segments(node.symbol.casefold()) == segments(folded)]
        yield NameMatch.FOLDED, outer([node for node in bearers if ends_with(node.symbol.casefold(), folded)])

    def _described(self, text: str) -> list[NodeLabel]:
        """The nodes of a symbol that is the first or the last word, where the other words say what they are."""
        words = [word for word in text.split() if word.casefold() not in _ARTICLES]
        for name, others in ((words[0], words[1:]), (words[-1], words[:-1])) if words not in ([], [text]) else ():
            wanted = {word.casefold() for word in others}
            for _, found in self._symbols(name):
                told = zip(found, self._snapshot.declarations(self.rows(found)), strict=True)
                if kept := [node for node, declaration in told if wanted <= describing_words(declaration, name)]:
                    return kept
        return []

    def _bearers_of(self, name: str) -> list[NodeLabel]:
        """The nodes of a normalised name, by id: the first ones of very many."""
        search = Retrieval("", None, {Retriever.TRIGRAM: MAX_LIST_LIMIT}, trigram_threshold=1.0, names=(name,))
        return self._labels(self._snapshot.retrieve(search, self._checkpoint).rows.tolist())

    def _labels(self, rows: Collection[int]) -> list[NodeLabel]:
        labels = self._snapshot.labels(as_positions(rows))
        self._rows |= {label.id: row for label, row in zip(labels, rows, strict=True)}
        return labels
