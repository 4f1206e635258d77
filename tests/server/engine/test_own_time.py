"""The time that a query's answer tells: of the call's own work, not of what depends on other callers."""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_index.scope import Scope
from groundwire_index.store.loaded import LoadedIndex, open_version
from groundwire_server.backends.embedded import pool as pool_module
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.backends.embedded.retrievers import retrieval as retrieval_module
from groundwire_server.backends.embedded.retrievers.trigram import Trigrams
from groundwire_server.backends.shared.scoring import RankedRows
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.query.query import QueryRequest
from groundwire_server.engine.rerankers.rerank import KeywordReranker, RerankCandidate, Rerankers
from groundwire_server.execution.call import Checkpoint
from support.builds import RECORDS, HashEmbedder, build
from support.calls import never_stop
from support.engines import engine_over

SEARCHING, RERANKING = 2.0, 0.25


class Processor:
    """A processor's clock that goes on where the test says that work is done."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def working(self, seconds: float) -> None:
        self.seconds += seconds

    def time(self) -> float:
        return self.seconds


@pytest.fixture
def processor(monkeypatch: pytest.MonkeyPatch) -> Processor:
    processor = Processor()
    monkeypatch.setattr(time, "thread_time", processor.time)
    return processor


class WorkingEmbedder(HashEmbedder):
    """Embeds in an hour."""

    def __init__(self, processor: Processor) -> None:
        self._processor = processor

    def embed_query(self, text: str) -> NDArray[np.float32]:
        self._processor.working(3600)
        return super().embed_query(text)


class WorkingReranker:
    """Reads all candidates in RERANKING seconds."""

    widen_factor = 1

    def __init__(self, processor: Processor) -> None:
        self._processor = processor

    def scores(self, query: str, candidates: Sequence[RerankCandidate], checkpoint: Checkpoint) -> list[float]:
        self._processor.working(RERANKING)
        return [0.5] * len(candidates)


def slow(work: Callable[..., LoadedIndex], processor: Processor) -> Callable[..., LoadedIndex]:
    def worked(directory: Path, scope: Scope) -> LoadedIndex:
        processor.working(3600)
        return work(directory, scope)

    return worked


def test_neither_opening_nor_embedding_is_told_and_the_rest_is(
    tmp_path: Path, processor: Processor, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(tmp_path, RECORDS, embedder=HashEmbedder())
    monkeypatch.setattr(pool_module, "open_version", slow(open_version, processor))

    class WorkingTrigrams(Trigrams):
        def rank(self, allowed: NDArray[np.bool_]) -> RankedRows:
            processor.working(SEARCHING)
            return super().rank(allowed)

    monkeypatch.setattr(retrieval_module, "Trigrams", WorkingTrigrams)
    rerankers = Rerankers(KeywordReranker(widen_factor=1), WorkingReranker(processor))
    engine = engine_over(EmbeddedBackend(tmp_path), [WorkingEmbedder(processor)], rerankers)
    request = QueryRequest(
        Scope("shop", "main"), AccessContext(), "get user", datetime(2026, 1, 1, tzinfo=UTC), rerank=True
    )
    took_ms = [engine.query(request, never_stop).meta.took_ms for _ in range(2)]
    assert took_ms == [(SEARCHING + RERANKING) * 1000.0] * 2
    assert processor.seconds > 2 * 3600
