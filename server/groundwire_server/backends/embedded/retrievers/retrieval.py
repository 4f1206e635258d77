"""The lists of a search's retrievers over an embedded index, and what ranking asks about their rows."""

from collections.abc import Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from groundwire_index.lexical.lexical import LexicalTable, TermPostings
from groundwire_index.nodes.reading_order import NO_DOCUMENT, ReadingOrder
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.text.code_tokenizer import tokenize
from groundwire_index.text.prose_tokenizer import tokenize_prose
from groundwire_server.backends.embedded.retrievers.bm25 import Bm25
from groundwire_server.backends.embedded.retrievers.bm25_scan import WeightedTerm
from groundwire_server.backends.embedded.retrievers.semantic import rank_by_similarity, similarities
from groundwire_server.backends.embedded.retrievers.trigram import Trigrams
from groundwire_server.backends.embedded.visibility.visibility import Visibility
from groundwire_server.backends.shared.candidates import CandidateList, check_tokenizers, files_of, scores_of_rows
from groundwire_server.backends.shared.scoring import MAX_FILE_NODES, term_scores
from groundwire_server.domain.search.candidates import FileScores, Floats, NodeColumns, Positions, Retrieval
from groundwire_server.domain.search.search import Retriever
from groundwire_server.execution.call import Checkpoint
from groundwire_server.execution.observation import stage

Rows = NDArray[np.int64]


def file_scores(
    terms: tuple[WeightedTerm, ...],
    lexical: LexicalTable,
    reading: ReadingOrder,
    visibility: Visibility,
    mean_length: float,
    checkpoint: Checkpoint,
    rows: Rows,
    max_nodes: int = MAX_FILE_NODES,
) -> FileScores:
    """The score of each row's file [m]; NaN for a row of none, or of one with more than `max_nodes`.

    `mean_length` is that of files, in tokens. Costs what the rows of these files do, and for each term no more than the
    rows that hold it do. Raises what the checkpoint raises.
    """
    of_rows = reading.document.take(rows)
    files = np.unique(of_rows[of_rows != NO_DOCUMENT])
    members, places = reading.members(files)
    seen = np.flatnonzero(visibility.mask.take(members))
    members, places = members.take(seen), places.take(seen)
    counts = np.bincount(places, minlength=len(files))
    unscored = counts > max_nodes
    kept = np.flatnonzero(~unscored.take(places))
    members, places = members.take(kept), places.take(kept)
    lengths = np.bincount(places, lexical.lengths.take(members), minlength=len(files))
    relative = lengths / mean_length
    scores = np.zeros(len(files), dtype=np.float64)
    for term in terms:
        checkpoint()
        if len(term.postings.rows) < len(members):
            near, held = _held_by_files(term.postings, files, reading, visibility)
        else:
            near, held = places, term.postings.frequencies_at(members)
        frequencies = np.bincount(near, held, minlength=len(files)).astype(np.float64)
        scores += term_scores(term.weight, frequencies, relative)
    scores[unscored] = np.nan
    return scores_of_rows(of_rows, files, counts, scores)


def _held_by_files(
    postings: TermPostings, files: NDArray[np.int32], reading: ReadingOrder, visibility: Visibility
) -> tuple[Rows, NDArray[np.float64]]:
    """Of the visible rows in files that hold a term, the file's place and how often each does."""
    of_holders = reading.document.take(postings.rows)
    near = np.minimum(np.searchsorted(files, of_holders), len(files) - 1)
    kept = np.flatnonzero((files.take(near) == of_holders) & visibility.mask.take(postings.rows))
    return near.take(kept), postings.frequencies.take(kept).astype(np.float64)


Mask = NDArray[np.bool_]


class Retrievers:
    """The retrievers of an index with what one search asks of them."""

    def __init__(self, index: LoadedIndex, search: Retrieval, checkpoint: Checkpoint) -> None:
        """Raises PreconditionError when another tokeniser made the words of a retriever that is asked."""
        self._index = index
        self._search = search
        self._checkpoint = checkpoint
        check_tokenizers(index.manifest, search)
        limit = search.limits.get(Retriever.TRIGRAM, 0)
        self._trigrams = Trigrams(index, search.compared_names, limit, search.trigram_threshold)

    def lists(self, visibility: Visibility, allowed: Mask) -> dict[Retriever, CandidateList]:
        """The lists of the asked retrievers among the allowed rows, a mask [n] within the visible ones."""
        candidate_lists = {}
        for retriever in Retriever:
            if retriever in self._search.limits:
                candidate_lists[retriever] = self._list(retriever, visibility, allowed)
                self._checkpoint()
        return candidate_lists

    def _list(self, retriever: Retriever, visibility: Visibility, allowed: Mask) -> CandidateList:
        match retriever:
            case Retriever.DENSE:
                return self._dense(allowed)
            case Retriever.BM25_CODE | Retriever.BM25_PROSE:
                return self._words(retriever, visibility, allowed)
            case Retriever.TRIGRAM:
                with stage(retriever.value):
                    ranked = self._trigrams.rank(allowed)
                return CandidateList(ranked, self._trigrams.scores)

    def _dense(self, allowed: Mask) -> CandidateList:
        vectors, query = self._index.vectors, self._search.query_vector
        if vectors is None or query is None:
            raise AssertionError("bug: dense retrieval without vectors or a query vector")
        with stage(Retriever.DENSE.value):
            nearest = rank_by_similarity(vectors, query, allowed, self._search.limits[Retriever.DENSE])
        ranked, least = nearest.hits, self._search.min_similarity
        if least is not None:
            ranked = ranked.first(int(np.count_nonzero(ranked.scores >= least)))

        def scores(rows: Positions) -> Floats:
            return np.where(vectors.present[rows], similarities(vectors, rows, query), np.nan)

        return CandidateList(ranked, scores, nearest.exact)

    def _words(self, retriever: Retriever, visibility: Visibility, allowed: Mask) -> CandidateList:
        table, tokens, postings = words_of(self._index, retriever, self._search.query)
        with stage(retriever.value):
            given = self._search.words
            words = visibility.words(table, postings) if given is None else given[retriever]
            bm25 = Bm25(table, tokens, words, postings)
            ranked = bm25.rank(allowed, self._search.limits[retriever])
        scored = None
        if self._search.scores_files and retriever is Retriever.BM25_CODE:
            reading = self._index.reading_order
            scored = partial(
                file_scores, bm25.terms, table, reading, visibility, words.mean_file_length, self._checkpoint
            )
        return CandidateList(ranked, bm25.scores, file_scores=scored)


def columns_of(index: LoadedIndex, rows: Positions) -> NodeColumns:
    """The facts that ranking needs about candidates [m]."""
    nodes, corpus_types = index.nodes, index.nodes.categories["corpus_type"]
    distinct, codes = np.unique(corpus_types.codes.take(rows), return_inverse=True)
    documents = index.reading_order.document.take(rows)
    return NodeColumns(
        corpus_types=tuple(corpus_types.values[code] for code in distinct.tolist()),
        corpus_codes=codes,
        timestamps=nodes.timestamps.take(rows),
        purposes=nodes.purposes(rows),
        is_deleted=nodes.flags["deleted"].take(rows),
        char_counts=nodes.numbers["char_count"].take(rows),
        files=files_of(documents),
    )


def words_of(
    index: LoadedIndex, retriever: Retriever, query: str
) -> tuple[LexicalTable, list[str], Mapping[str, TermPostings]]:
    """The lexical table of a BM25 retriever, and the query's tokens with their postings in it."""
    is_code = retriever is Retriever.BM25_CODE
    table = index.lexical if is_code else index.prose
    if table is None:
        raise AssertionError("bug: BM25 retrieval without data of BM25")
    tokens = tokenize(query) if is_code else tokenize_prose(query)
    return table, tokens, {token: table.postings(token) for token in set(tokens)}
