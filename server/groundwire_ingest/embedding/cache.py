"""Vectors computed before, kept between runs, so that re-indexing embeds only texts that are new."""

import sqlite3
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from groundwire_index.operator_errors import OperatorError

_FORMAT_VERSION = 1
_HASHES_A_STATEMENT = 500
_BUSY_TIMEOUT_SECONDS = 60.0
_DAMAGE_CODES = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_STORED = np.dtype("<f4")


class EmbeddingCacheError(OperatorError):
    """The cache file cannot be used; says what to do. Deleting it costs time, never data."""


class EmbeddingCache:
    """A persistent map of (model fingerprint, text hash) to a float32 vector, in one SQLite file.

    Every `put_many` is one transaction, so an interrupted run leaves whole vectors only, and several processes may use
    one file at a time. An instance belongs to the thread that made it. Use it as a context manager, or `close` it.

    Raises EmbeddingCacheError when the file is damaged, foreign or out of reach; every method may.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._described_errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=_BUSY_TIMEOUT_SECONDS, isolation_level=None)
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file; the cache cannot be used afterwards."""
        self._connection.close()

    def get_many(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors known for the model, by text hash; hashes without one are left out."""
        vector_of_hash: dict[str, NDArray[np.float32]] = {}
        with self._described_errors():
            for start in range(0, len(hashes), _HASHES_A_STATEMENT):
                some = hashes[start : start + _HASHES_A_STATEMENT]
                marks = ",".join("?" * len(some))
                query = f"SELECT text_hash, vector FROM vectors WHERE fingerprint = ? AND text_hash IN ({marks})"
                rows = self._connection.execute(query, (fingerprint, *some))
                vector_of_hash.update((text_hash, self._vector(stored)) for text_hash, stored in rows)
        return vector_of_hash

    def put_many(self, fingerprint: str, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """Keeps the model's vectors by text hash, all of them or none; a vector that is known already stays."""
        rows = [(fingerprint, text_hash, vector.astype(_STORED).tobytes()) for text_hash, vector in vectors.items()]
        with self._described_errors(), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany("INSERT INTO vectors VALUES (?, ?, ?) ON CONFLICT DO NOTHING", rows)

    def _vector(self, stored: bytes) -> NDArray[np.float32]:
        if not stored or len(stored) % _STORED.itemsize:
            raise self._damaged(f"a vector of {len(stored)} bytes")
        return np.frombuffer(stored, dtype=_STORED)

    def _prepare(self) -> None:
        """Makes the table in a new file; refuses a file that is not a cache of this format."""
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            tables = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if (version, tables) == (0, (0,)):
                self._connection.execute(
                    "CREATE TABLE vectors (fingerprint TEXT NOT NULL, text_hash TEXT NOT NULL, vector BLOB NOT NULL, "
                    "PRIMARY KEY (fingerprint, text_hash)) WITHOUT ROWID"
                )
                self._connection.execute(f"PRAGMA user_version = {_FORMAT_VERSION}")
            elif version != _FORMAT_VERSION:
                raise EmbeddingCacheError(
                    f"{self.path} is no embedding cache of this version: delete the file or name another"
                )
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")

    @contextmanager
    def _described_errors(self) -> Generator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", None) in _DAMAGE_CODES:
                raise self._damaged(str(error)) from error
            raise EmbeddingCacheError(f"the embedding cache {self.path} cannot be used: {error}") from error
        except OSError as error:
            raise EmbeddingCacheError(f"the embedding cache {self.path} cannot be used: {error.strerror}") from error

    def _damaged(self, what: str) -> EmbeddingCacheError:
        return EmbeddingCacheError(f"the embedding cache {self.path} is damaged ({what}): delete it; it is built anew")
