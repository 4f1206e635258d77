"""The sources that a query asks: what the caller named, or every one that the index has."""

from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.text.code_tokenizer import tokenize
from groundwire_index.text.prose_tokenizer import tokenize_prose
from groundwire_server.backends.embedded.artifacts import code_words_of, prose_words_of, vectors_of
from groundwire_server.backends.embedded.dense import DenseSource
from groundwire_server.backends.embedded.proposal import CandidateSource
from groundwire_server.backends.embedded.trigram import TrigramSource
from groundwire_server.backends.embedded.words import WordSource
from groundwire_server.domain.candidates import CandidateSearch
from groundwire_server.domain.checkpoint import Checkpoint
from groundwire_server.domain.query import Source

_ADVICE = "ask other sources"


def asked_sources(index: LoadedIndex, search: CandidateSearch, checkpoint: Checkpoint) -> list[CandidateSource]:
    """The sources in the order of their enum, ready to be asked.

    Raises PreconditionError when the index lacks one that is named, or the server its tokeniser.
    """
    asked = search.sources or _held(index, search)
    return [_source(source, index, search, checkpoint) for source in Source if source in asked]


def _held(index: LoadedIndex, search: CandidateSearch) -> set[Source]:
    held = {Source.TRIGRAM}
    if search.query_vector is not None:
        held.add(Source.DENSE)
    if index.lexical is not None:
        held.add(Source.BM25_CODE)
    if index.prose is not None:
        held.add(Source.BM25_NLP)
    return held


def _source(source: Source, index: LoadedIndex, search: CandidateSearch, checkpoint: Checkpoint) -> CandidateSource:
    match source:
        case Source.DENSE:
            vectors, query = vectors_of(index, search.query_vector)
            return DenseSource(vectors, query, search.dense_limit, search.min_similarity)
        case Source.BM25_CODE:
            reading = index.reading_order if search.scores_files else None
            words, tokens = code_words_of(index, _ADVICE), tokenize(search.query)
            return WordSource(source, words, tokens, search.lexical_limit, reading, checkpoint)
        case Source.BM25_NLP:
            words = prose_words_of(index, _ADVICE)
            return WordSource(source, words, tokenize_prose(search.query), search.lexical_limit, None, checkpoint)
        case Source.TRIGRAM:
            return TrigramSource(index, search.query, search.lexical_limit, search.trigram_threshold)
