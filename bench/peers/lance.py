"""LanceDB in this process: it has no server to run."""

# Its imports are installed only in the system's own environment.
# pyright: basic, reportMissingImports=false
import shutil
from collections.abc import Mapping
from importlib.metadata import version
from math import sqrt
from pathlib import Path
from typing import Any

import lancedb
import pyarrow
from lancedb.rerankers import RRFReranker

from bench.peers.ann import BATCH, HNSW_CONSTRUCTION, HNSW_LINKS, HNSW_SEARCH, RRF_K
from bench.speed.corpus import ANSWERS, COLUMNS, FILTERS, Corpus
from bench.speed.protocol import Ask, Scenario, ThreadedAdapter, UnsupportedError, serve

_ROWS_A_PARTITION = 20_000
_REFINE = 4


class LanceAdapter(ThreadedAdapter):
    """IVF_HNSW_SQ, refined with the full vectors, filters first; BM25 by its full-text index; its own RRF."""

    def __init__(self) -> None:
        self._corpus: Corpus
        self._folder: Path
        self._partitions = 1

    def load(self, corpus: Corpus, work: Path) -> Mapping[str, str]:
        """See `Adapter.load`."""
        self._corpus, self._folder = corpus, work / "files"
        shutil.rmtree(self._folder, ignore_errors=True)
        self._partitions = max(len(corpus) // _ROWS_A_PARTITION, 1)
        table = lancedb.connect(str(self._folder)).create_table("nodes", self._batches(), schema=self._schema())
        table.create_index(
            metric="dot",
            vector_column_name="vector",
            index_type="IVF_HNSW_SQ",
            num_partitions=self._partitions,
            m=HNSW_LINKS,
            ef_construction=HNSW_CONSTRUCTION,
        )
        table.create_fts_index("text", stem=False, remove_stop_words=False, with_position=False)
        for column in COLUMNS:
            table.create_scalar_index(column, index_type="BITMAP")
        table.optimize()
        return {
            "lancedb": version("lancedb"),
            "vectors": f"IVF_HNSW_SQ, {self._partitions} partitions of which {self._probes} are searched, "
            f"m {HNSW_LINKS}, ef_construction {HNSW_CONSTRUCTION}, ef {HNSW_SEARCH}, refine {_REFINE}",
            "texts": "its full-text index (BM25)",
            "hybrid": f"RRF, k {RRF_K}",
        }

    @property
    def _probes(self) -> int:
        return max(round(sqrt(self._partitions)), 1)

    def session(self, scenario: Scenario) -> Ask:
        """See `ThreadedAdapter.session`."""
        if scenario.kind not in ("semantic", "bm25", "hybrid"):
            raise UnsupportedError(f"{scenario.kind} is nothing that it does")
        table = lancedb.connect(str(self._folder)).open_table("nodes")
        vectors, texts = self._corpus.query_vectors, self._corpus.query_texts
        wanted = FILTERS[scenario.filter] if scenario.filter else None
        reranker = RRFReranker(RRF_K)

        def ask(number: int) -> list[int]:
            number %= len(texts)
            query: Any
            if scenario.kind == "semantic":
                query = self._near(table.search(vectors[number], query_type="vector"))
            elif scenario.kind == "bm25":
                query = table.search(texts[number], query_type="fts", fts_columns="text")
            else:
                query = table.search(query_type="hybrid", fts_columns="text").vector(vectors[number])
                query = self._near(query.text(texts[number])).rerank(reranker)
            if wanted:
                query = query.where(f"{wanted.column} = '{wanted.value}'", prefilter=True)
            columns = ["id"] if scenario.kind != "hybrid" else ["id", "text"]
            found: list[int] = query.select(columns).limit(ANSWERS).to_arrow()["id"].to_pylist()
            return found

        return ask

    def close(self) -> None:
        """See `Adapter.close`: nothing runs beside this process."""

    def _near(self, query: Any) -> Any:  # noqa: ANN401 - its builders share no type
        return query.distance_type("dot").nprobes(self._probes).ef(HNSW_SEARCH).refine_factor(_REFINE)

    def _schema(self) -> pyarrow.Schema:
        texts = [(name, pyarrow.string()) for name in ("text", *COLUMNS)]
        vector = pyarrow.list_(pyarrow.float32(), self._corpus.dimension)
        return pyarrow.schema([("id", pyarrow.int64()), ("vector", vector), *texts])

    def _batches(self) -> Any:  # noqa: ANN401 - a generator of record batches
        corpus, schema = self._corpus, self._schema()
        for start, stop in corpus.batches(BATCH):
            flat = pyarrow.array(corpus.vectors[start:stop].reshape(-1))
            yield pyarrow.RecordBatch.from_arrays(
                [
                    pyarrow.array(range(start, stop)),
                    pyarrow.FixedSizeListArray.from_arrays(flat, corpus.dimension),
                    pyarrow.array([corpus.text(row) for row in range(start, stop)]),
                    *(pyarrow.array(corpus.column(name, start, stop)) for name in COLUMNS),
                ],
                schema=schema,
            )


if __name__ == "__main__":
    serve(LanceAdapter())
