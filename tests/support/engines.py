"""Engines over a backend, as the server puts them together but for models."""

from collections.abc import Sequence
from pathlib import Path

from groundwire_index.embedding.embedder import Embedder
from groundwire_index.embedding.int8.store import EncoderStore
from groundwire_index.limits import RESPONSE_BYTES
from groundwire_server.backends.interface import Backend
from groundwire_server.domain.limits import MAX_TOP_K
from groundwire_server.engine.corpus_boost import CorpusBoosts
from groundwire_server.engine.engine import RetrievalEngine
from groundwire_server.engine.indexes import Indexes
from groundwire_server.engine.query import QuerySettings
from groundwire_server.engine.rerankers.rerank import KeywordReranker, Rerankers
from groundwire_server.query_embedding.query_encoders import QueryEncoders
from groundwire_server.query_embedding.query_vectors import QueryVectors
from support.calls import PlainEngine

KEYWORD_ONLY = Rerankers(KeywordReranker(widen_factor=6))


def engine_over(
    backend: Backend,
    embedders: Sequence[Embedder] = (),
    rerankers: Rerankers = KEYWORD_ONLY,
    override_tags: frozenset[str] = frozenset(),
    walk_and_text_bytes: int = RESPONSE_BYTES,
) -> PlainEngine:
    """An engine without boosts, in its default settings."""
    engine = RetrievalEngine(
        indexes=Indexes(backend, override_tags),
        query_vectors=query_vectors_of(embedders),
        rerankers=rerankers,
        query_settings=QuerySettings(CorpusBoosts(())),
        max_top_k=MAX_TOP_K,
        walk_and_text_bytes=walk_and_text_bytes,
    )
    return PlainEngine(engine)


def query_vectors_of(embedders: Sequence[Embedder]) -> QueryVectors:
    """Embeds by the models themselves."""
    return QueryVectors(QueryEncoders(embedders, EncoderStore(Path("no such folder"))))
