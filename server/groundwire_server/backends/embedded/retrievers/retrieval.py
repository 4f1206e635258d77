"""The candidates of a search: the union of what its retrievers list, each with its score by every retriever."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from groundwire_index.lexical.lexical import LexicalTable
from groundwire_index.nodes.reading_order import NO_DOCUMENT
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.store.manifest import LexicalSpace
from groundwire_index.text.code_tokenizer import TOKENIZER_FINGERPRINT, tokenize
from groundwire_index.text.prose_tokenizer import PROSE_TOKENIZER_FINGERPRINT, tokenize_prose
from groundwire_server.backends.embedded.retrievers.bm25 import Bm25
from groundwire_server.backends.embedded.retrievers.files import file_scores
from groundwire_server.backends.embedded.retrievers.ranking import RankedRows
from groundwire_server.backends.embedded.retrievers.semantic import rank_by_similarity, similarities
from groundwire_server.backends.embedded.retrievers.trigram import Trigrams
from groundwire_server.backends.embedded.visibility.visibility import Visibility
from groundwire_server.domain.errors import PreconditionError, Reason
from groundwire_server.domain.search.candidates import (
    NO_COLUMNS,
    NO_FILE,
    Candidates,
    Floats,
    NodeColumns,
    Positions,
    Retrieval,
    RetrieverScores,
)
from groundwire_server.domain.search.search import Retriever
from groundwire_server.execution.checkpoint import Checkpoint
from groundwire_server.execution.observation import stage

Mask = NDArray[np.bool_]
RowScores: TypeAlias = Callable[[Positions], Floats]


@dataclass(frozen=True, slots=True)
class CandidateList:
    """A retriever's list, and its score of any allowed rows [m]; NaN for one that cannot be scored.

    `exact` is False when a better row may have been missed. `file_scores` scores the files of rows, where that is
    asked.
    """

    ranked: RankedRows
    scores: RowScores
    exact: bool = True
    file_scores: RowScores | None = None


class Retrievers:
    """The retrievers of an index with what one search asks of them."""

    def __init__(self, index: LoadedIndex, search: Retrieval, checkpoint: Checkpoint) -> None:
        """Raises PreconditionError when another tokeniser made the words of a retriever that is asked."""
        self._index = index
        self._search = search
        self._checkpoint = checkpoint
        manifest, limits = index.manifest, search.limits
        if Retriever.BM25_CODE in limits:
            _check_tokenizer(manifest.version, manifest.code, TOKENIZER_FINGERPRINT)
        if Retriever.BM25_PROSE in limits:
            _check_tokenizer(manifest.version, manifest.prose, PROSE_TOKENIZER_FINGERPRINT)
        self._trigrams = Trigrams(index, search.query, limits.get(Retriever.TRIGRAM, 0), search.trigram_threshold)

    def lists(self, visibility: Visibility, allowed: Mask) -> dict[Retriever, CandidateList]:
        """The lists of the asked retrievers among the allowed rows, a mask [n] within the visible ones."""
        found = {}
        for retriever in Retriever:
            if retriever in self._search.limits:
                found[retriever] = self._list(retriever, visibility, allowed)
                self._checkpoint()
        return found

    def _list(self, retriever: Retriever, visibility: Visibility, allowed: Mask) -> CandidateList:
        index, query = self._index, self._search.query
        match retriever:
            case Retriever.DENSE:
                return self._dense(allowed)
            case Retriever.BM25_CODE:
                return self._words(retriever, _held(index.lexical), tokenize(query), visibility, allowed)
            case Retriever.BM25_PROSE:
                return self._words(retriever, _held(index.prose), tokenize_prose(query), visibility, allowed)
            case Retriever.TRIGRAM:
                with stage(retriever.value):
                    ranked = self._trigrams.rank(allowed)
                return CandidateList(ranked, self._trigrams.scores)

    def _dense(self, allowed: Mask) -> CandidateList:
        vectors, query = self._index.vectors, self._search.query_vector
        if vectors is None or query is None:
            raise AssertionError("the engine asks for vectors where there are some, with one")
        with stage(Retriever.DENSE.value):
            nearest = rank_by_similarity(vectors, query, allowed, self._search.limits[Retriever.DENSE])
        ranked, least = nearest.hits, self._search.min_similarity
        if least is not None:
            ranked = ranked.first(int(np.count_nonzero(ranked.scores >= least)))

        def scores(rows: Positions) -> Floats:
            return np.where(vectors.present[rows], similarities(vectors, rows, query), np.nan)

        return CandidateList(ranked, scores, nearest.exact)

    def _words(
        self, retriever: Retriever, table: LexicalTable, tokens: list[str], visibility: Visibility, allowed: Mask
    ) -> CandidateList:
        with stage(retriever.value):
            bm25 = Bm25(table, tokens, visibility)
            ranked = bm25.rank(allowed, self._search.limits[retriever])
        scored = None
        if self._search.scores_files and retriever is Retriever.BM25_CODE:
            reading = self._index.reading_order
            scored = partial(file_scores, bm25.terms, table, reading, visibility, self._checkpoint)
        return CandidateList(ranked, bm25.scores, file_scores=scored)


def candidates_of(index: LoadedIndex, lists: Mapping[Retriever, CandidateList], *, with_columns: bool) -> Candidates:
    """The union of the lists."""
    rows = union(lists)
    file_scores = np.full(len(rows), np.nan)
    for found in lists.values():
        if found.file_scores is not None:
            file_scores = found.file_scores(rows)
    return Candidates(
        rows=rows,
        by_retriever={retriever: _scores_of(found, rows) for retriever, found in lists.items()},
        columns=_columns(index, rows) if with_columns else NO_COLUMNS,
        file_scores=file_scores,
        exact=all(found.exact for found in lists.values()),
    )


def union(lists: Mapping[Retriever, CandidateList]) -> Positions:
    """The rows that stand in a list, ascending, which is id order."""
    return np.unique(np.concatenate([found.ranked.rows for found in lists.values()]))


def _scores_of(found: CandidateList, rows: Positions) -> RetrieverScores:
    """A listed row's score is known; only the others are scored."""
    scores, ranks = np.empty(len(rows), dtype=np.float64), np.zeros(len(rows), dtype=np.int64)
    places = np.searchsorted(rows, found.ranked.rows)
    scores[places], ranks[places] = found.ranked.scores, np.arange(1, len(places) + 1)
    others = np.flatnonzero(ranks == 0)
    if len(others):
        scores[others] = found.scores(rows[others])
    return RetrieverScores(scores, ranks)


def _columns(index: LoadedIndex, rows: Positions) -> NodeColumns:
    nodes, corpus_types = index.nodes, index.nodes.categories["corpus_type"]
    distinct, codes = np.unique(corpus_types.codes.take(rows), return_inverse=True)
    documents = index.reading_order.document.take(rows)
    return NodeColumns(
        corpus_types=tuple(corpus_types.values[code] for code in distinct.tolist()),
        corpus_codes=codes,
        timestamps=nodes.timestamps.take(rows),
        is_test=nodes.flags["is_test"].take(rows),
        is_generated=nodes.flags["is_generated"].take(rows),
        char_counts=nodes.numbers["char_count"].take(rows),
        files=np.where(documents == NO_DOCUMENT, NO_FILE, documents),
    )


def _held(table: LexicalTable | None) -> LexicalTable:
    if table is None:
        raise AssertionError("the engine asks for words where there are some")
    return table


def _check_tokenizer(version: str, space: LexicalSpace | None, fingerprint: str) -> None:
    if space is not None and space.tokenizer != fingerprint:
        message = f"index {version!r} was tokenised by other rules than this server's; build it anew"
        raise PreconditionError(Reason.LEXICAL_MISSING, message, {"active_index": version})
