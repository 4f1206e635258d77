"""Chroma as a server, called through its HTTP client."""

# Its imports are installed only in the system's own environment.
# pyright: basic, reportMissingImports=false
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings

from bench.peers.ann import BATCH, HNSW_CONSTRUCTION, HNSW_LINKS, HNSW_SEARCH, free_port
from bench.speed.corpus import ANSWERS, COLUMNS, FILTERS, Corpus
from bench.speed.protocol import Ask, Scenario, ThreadedAdapter, UnsupportedError, serve

_COLLECTION = "nodes"
_START_SECONDS = 60.0


class ChromaAdapter(ThreadedAdapter):
    """HNSW with metadata filters; full-text search only tests whether a document contains a string, without ranking."""

    def __init__(self) -> None:
        self._corpus: Corpus
        self._server: subprocess.Popen[bytes] | None = None
        self._port = 0

    def load(self, corpus: Corpus, work: Path) -> Mapping[str, str]:
        """See `Adapter.load`."""
        self._corpus, self._port = corpus, free_port()
        folder = work / "files"
        shutil.rmtree(folder, ignore_errors=True)
        program = str(Path(sys.executable).with_name("chroma"))
        command = [program, "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(self._port)]
        self._server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        hnsw: Any = {
            "space": "ip",
            "ef_construction": HNSW_CONSTRUCTION,
            "max_neighbors": HNSW_LINKS,
            "ef_search": HNSW_SEARCH,
        }
        collection = self._connected().create_collection(
            _COLLECTION, configuration={"hnsw": hnsw}, embedding_function=None
        )
        for start, stop in corpus.batches(BATCH):
            columns = [corpus.column(name, start, stop) for name in COLUMNS]
            collection.add(
                ids=[str(row) for row in range(start, stop)],
                embeddings=corpus.vectors[start:stop],
                documents=[corpus.text(row) for row in range(start, stop)],
                metadatas=[dict(zip(COLUMNS, values, strict=True)) for values in zip(*columns, strict=True)],
            )
        return {
            "chromadb": version("chromadb"),
            "vectors": f"HNSW, m {HNSW_LINKS}, ef_construction {HNSW_CONSTRUCTION}, ef_search {HNSW_SEARCH}",
        }

    def session(self, scenario: Scenario) -> Ask:
        """See `ThreadedAdapter.session`."""
        if scenario.kind != "semantic":
            raise UnsupportedError("it ranks by vectors alone")
        collection = self._client().get_collection(_COLLECTION, embedding_function=None)
        vectors = self._corpus.query_vectors
        wanted = FILTERS[scenario.filter] if scenario.filter else None
        where: Any = {wanted.column: wanted.value} if wanted else None

        def ask(number: int) -> list[int]:
            found = collection.query(
                query_embeddings=vectors[number % len(vectors)], n_results=ANSWERS, where=where, include=["distances"]
            )
            return [int(id_) for id_ in found["ids"][0]]

        return ask

    def processes(self) -> list[int]:
        """The server's."""
        return [] if self._server is None else [self._server.pid]

    def close(self) -> None:
        """See `Adapter.close`."""
        if self._server is not None:
            self._server.terminate()
            self._server.wait()

    def _connected(self) -> Any:  # noqa: ANN401 - a factory function, not a class
        """A client of the server, which answers some time after it was started."""
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                return self._client()
            except ValueError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def _client(self) -> Any:  # noqa: ANN401 - a factory function, not a class
        return chromadb.HttpClient("127.0.0.1", self._port, settings=Settings(anonymized_telemetry=False))


if __name__ == "__main__":
    serve(ChromaAdapter())
