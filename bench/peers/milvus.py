"""milvus-lite as a gRPC server, called through pymilvus."""

# Its imports are installed only in the system's own environment.
# pyright: basic, reportMissingImports=false
import shutil
import time
from collections.abc import Mapping
from importlib.metadata import version
from math import sqrt
from pathlib import Path
from typing import Any

from milvus_lite.server import Server
from pymilvus import AnnSearchRequest, DataType, Function, FunctionType, MilvusClient, RRFRanker
from pymilvus.exceptions import MilvusException

from bench.peers.ann import BATCH, LIST_DEPTH, RRF_K, free_port
from bench.speed.corpus import ANSWERS, COLUMNS, FILTERS, Corpus
from bench.speed.protocol import Ask, Scenario, ThreadedAdapter, UnsupportedError, serve

_COLLECTION = "nodes"
_PROBED_SHARE = 16
_START_SECONDS = 60.0


class MilvusAdapter(ThreadedAdapter):
    """IVF_FLAT, since local mode has no HNSW; BM25 by its own analyser; hybrid by its own RRF."""

    def __init__(self) -> None:
        self._corpus: Corpus
        self._server: Any = None
        self._address = ""
        self._probes = 0

    def load(self, corpus: Corpus, work: Path) -> Mapping[str, str]:
        """See `Adapter.load`."""
        self._corpus = corpus
        folder = work / "files"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        self._address = f"127.0.0.1:{free_port()}"
        self._server = Server(str(folder / "milvus.db"), self._address)
        if not self._server.init() or not self._server.start():
            raise RuntimeError("the server did not start")
        lists = round(4 * sqrt(len(corpus)))
        self._probes = max(lists // _PROBED_SHARE, 8)
        client = self._connected()
        self._create(client, lists)
        for start, stop in corpus.batches(BATCH):
            client.insert(_COLLECTION, self._rows(start, stop))
        client.load_collection(_COLLECTION)
        return {
            "milvus-lite": version("milvus-lite"),
            "pymilvus": version("pymilvus"),
            "vectors": f"IVF_FLAT, nlist {lists}, nprobe {self._probes}",
            "texts": "BM25 function, SPARSE_INVERTED_INDEX",
            "hybrid": f"RRF, k {RRF_K}",
        }

    def session(self, scenario: Scenario) -> Ask:
        """See `ThreadedAdapter.session`."""
        client = MilvusClient(f"http://{self._address}")
        vectors, texts = self._corpus.query_vectors.tolist(), self._corpus.query_texts
        wanted = FILTERS[scenario.filter] if scenario.filter else None
        expression = f'{wanted.column} == "{wanted.value}"' if wanted else ""
        near = {"metric_type": "COSINE", "params": {"nprobe": self._probes}}
        words: dict[str, Any] = {"metric_type": "BM25", "params": {}}

        def search(field: str, data: list[Any], parameters: dict[str, Any]) -> list[int]:
            found = client.search(
                _COLLECTION, data, anns_field=field, filter=expression, limit=ANSWERS, search_params=parameters
            )
            return [hit["id"] for hit in found[0]]

        def hybrid(number: int) -> list[int]:
            lists = [
                AnnSearchRequest([vectors[number % len(vectors)]], "vector", near, LIST_DEPTH, expr=expression),
                AnnSearchRequest([texts[number % len(texts)]], "words", words, LIST_DEPTH, expr=expression),
            ]
            found = client.hybrid_search(_COLLECTION, lists, RRFRanker(RRF_K), limit=ANSWERS)
            return [hit["id"] for hit in found[0]]

        if scenario.kind == "semantic":
            return lambda number: search("vector", [vectors[number % len(vectors)]], near)
        if scenario.kind == "bm25":
            return lambda number: search("words", [texts[number % len(texts)]], words)
        if scenario.kind == "hybrid":
            return hybrid
        raise UnsupportedError(f"{scenario.kind} is nothing that it does")

    def processes(self) -> list[int]:
        """The server's."""
        return [self._server._p.pid]

    def close(self) -> None:
        """See `Adapter.close`."""
        if self._server is not None:
            self._server.stop()

    def _connected(self) -> MilvusClient:
        """A client of the server, which answers some time after it was started."""
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                return MilvusClient(f"http://{self._address}")
            except MilvusException:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def _create(self, client: MilvusClient, lists: int) -> None:
        schema = MilvusClient.create_schema(auto_id=False)
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=self._corpus.dimension)
        schema.add_field("text", DataType.VARCHAR, max_length=16_384, enable_analyzer=True)
        schema.add_field("words", DataType.SPARSE_FLOAT_VECTOR)
        for column in COLUMNS:
            schema.add_field(column, DataType.VARCHAR, max_length=32)
        schema.add_function(Function("bm25", FunctionType.BM25, ["text"], ["words"]))
        indexes = MilvusClient.prepare_index_params()
        indexes.add_index("vector", index_type="IVF_FLAT", metric_type="COSINE", params={"nlist": lists})
        indexes.add_index("words", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
        client.create_collection(_COLLECTION, schema=schema, index_params=indexes)

    def _rows(self, start: int, stop: int) -> list[dict[str, Any]]:
        columns = {name: self._corpus.column(name, start, stop) for name in COLUMNS}
        vectors = self._corpus.vectors[start:stop].tolist()
        return [
            {
                "id": row,
                "vector": vectors[place],
                "text": self._corpus.text(row),
                **{name: values[place] for name, values in columns.items()},
            }
            for place, row in enumerate(range(start, stop))
        ]


if __name__ == "__main__":
    serve(MilvusAdapter())
