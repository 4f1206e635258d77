"""qdrant-edge in this process: Qdrant's engine without its server."""

# Its imports are installed only in the system's own environment.
# pyright: basic, reportMissingImports=false
import shutil
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from qdrant_edge import (
    Distance,
    EdgeConfig,
    EdgeOptimizersConfig,
    EdgeShard,
    EdgeVectorParams,
    FieldCondition,
    Filter,
    Fusion,
    HnswIndexConfig,
    MatchValue,
    PayloadSchemaType,
    Point,
    Prefetch,
    Query,
    QueryRequest,
    SearchParams,
    TextIndexParams,
    TextQuery,
    TokenizerType,
    UpdateOperation,
)

from bench.peers.ann import BATCH, HNSW_CONSTRUCTION, HNSW_LINKS, HNSW_SEARCH, LIST_DEPTH, RRF_K
from bench.speed.corpus import ANSWERS, COLUMNS, FILTERS, Corpus
from bench.speed.protocol import Ask, Scenario, ThreadedAdapter, UnsupportedError, serve

_FULL_SCAN_KILOBYTES = 1_000
"""Vectors that pass a filter are scanned if they have fewer kilobytes than this; the server's default is ten times as
large."""


class QdrantAdapter(ThreadedAdapter):
    """HNSW with links by payload, BM25 by its text index, hybrid by its RRF."""

    def __init__(self) -> None:
        self._corpus: Corpus
        self._shard: Any = None

    def load(self, corpus: Corpus, work: Path) -> Mapping[str, str]:
        """See `Adapter.load`."""
        self._corpus = corpus
        folder = work / "files"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        self._shard = EdgeShard.create(str(folder), self._config())
        for column in COLUMNS:
            self._shard.update(UpdateOperation.create_field_index(column, PayloadSchemaType.Keyword))
        words = TextIndexParams(tokenizer=TokenizerType.Word, lowercase=True, scoring=True)
        self._shard.update(UpdateOperation.create_field_index("text", words))
        for start, stop in corpus.batches(BATCH):
            self._shard.update(UpdateOperation.upsert_points(self._points(start, stop)))
        self._shard.flush()
        self._shard.optimize()
        return {
            "qdrant-edge-py": version("qdrant-edge-py"),
            "vectors": f"HNSW, m {HNSW_LINKS}, ef_construct {HNSW_CONSTRUCTION}, hnsw_ef {HNSW_SEARCH}, "
            f"full scans below {_FULL_SCAN_KILOBYTES} kB, one segment",
            "texts": "its text index with BM25",
            "hybrid": f"RRF over {LIST_DEPTH} of each, k {RRF_K}",
        }

    def session(self, scenario: Scenario) -> Ask:
        """See `ThreadedAdapter.session`."""
        if scenario.kind not in ("semantic", "bm25", "hybrid"):
            raise UnsupportedError(f"{scenario.kind} is nothing that it does")
        vectors, texts = self._corpus.query_vectors.tolist(), self._corpus.query_texts
        near = SearchParams(hnsw_ef=HNSW_SEARCH)
        passes = _filter(scenario.filter)

        def request(number: int) -> QueryRequest:
            nearest, words = Query.Nearest(vectors[number]), TextQuery("text", texts[number])
            if scenario.kind == "semantic":
                return QueryRequest(limit=ANSWERS, query=nearest, filter=passes, params=near)
            if scenario.kind == "bm25":
                return QueryRequest(limit=ANSWERS, query=words, filter=passes)
            lists = [
                Prefetch(limit=LIST_DEPTH, query=nearest, filter=passes, params=near),
                Prefetch(limit=LIST_DEPTH, query=words, filter=passes),
            ]
            return QueryRequest(limit=ANSWERS, prefetches=lists, query=Fusion.Rrf(k=RRF_K))

        return lambda number: [int(point.id) for point in self._shard.query(request(number % len(texts)))]

    def close(self) -> None:
        """See `Adapter.close`."""
        if self._shard is not None:
            self._shard.close()

    def _config(self) -> EdgeConfig:
        vectors = EdgeVectorParams(size=self._corpus.dimension, distance=Distance.Cosine)
        hnsw = HnswIndexConfig(m=HNSW_LINKS, ef_construct=HNSW_CONSTRUCTION, full_scan_threshold=_FULL_SCAN_KILOBYTES)
        # One segment, whatever its size, with an index from the first kilobyte on.
        optimizers = EdgeOptimizersConfig(
            default_segment_number=1, indexing_threshold=_FULL_SCAN_KILOBYTES, max_segment_size=1 << 30
        )
        return EdgeConfig(vectors=vectors, hnsw_config=hnsw, optimizers=optimizers)

    def _points(self, start: int, stop: int) -> list[Point]:
        columns = {name: self._corpus.column(name, start, stop) for name in COLUMNS}
        vectors = self._corpus.vectors[start:stop].tolist()
        return [
            Point(
                row,
                vectors[place],
                {"text": self._corpus.text(row), **{name: values[place] for name, values in columns.items()}},
            )
            for place, row in enumerate(range(start, stop))
        ]


def _filter(name: str) -> Filter | None:
    if not name:
        return None
    wanted = FILTERS[name]
    return Filter(must=[FieldCondition(wanted.column, match=MatchValue(wanted.value))])


if __name__ == "__main__":
    serve(QdrantAdapter())
