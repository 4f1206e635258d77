"""The results of reading files, in a file of their own from one build to the next."""

import hashlib
import sqlite3
from collections.abc import Iterable
from pathlib import Path

_DIGEST_BYTES = 16
_TABLES = """
CREATE TABLE software (name TEXT NOT NULL);
CREATE TABLE readings (path TEXT, reader TEXT, key TEXT NOT NULL, digest BLOB NOT NULL, content BLOB NOT NULL,
    PRIMARY KEY (path, reader));
"""


class KeptReadings:
    """What readers made of the files of a tree when they were read last: at most one result of a reader for a path.

    It is a cache in one SQLite file, which is made anew where it is damaged or of other software. Each result has a
    digest of its content, and one that does not fit it is not there. Deleted results are overwritten with zeros, since
    files may be confidential. Results are written without waiting for the disk: after a crash of the machine the file
    may be damaged. A context manager; not thread-safe.
    """

    def __init__(self, path: Path, software: str) -> None:
        self._path = path
        self._software = software
        self._connection = self._opened()

    def __enter__(self) -> "KeptReadings":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def known(self, reader: str) -> set[tuple[str, str]]:
        """The paths and keys of the results of a reader."""
        try:
            return set(self._connection.execute("SELECT path, key FROM readings WHERE reader = ?", (reader,)))
        except sqlite3.Error:
            self._start_anew()
            return set()

    def content(self, path: str, reader: str, key: str) -> bytes | None:
        """What a reader made of the content `key` of the file at a path, pickled; None if that is not kept."""
        try:
            query = "SELECT key, digest, content FROM readings WHERE path = ? AND reader = ?"
            row = self._connection.execute(query, (path, reader)).fetchone()
        except sqlite3.Error:
            self._start_anew()
            return None
        if row is None or row[:2] != (key, reading_digest(path, reader, key, row[2])):
            return None
        return bytes(row[2])

    def keep(self, path: str, reader: str, key: str, content: bytes) -> None:
        """Keeps a pickled result in place of an earlier one of the same reader and path."""
        row = (path, reader, key, reading_digest(path, reader, key, content), content)
        try:
            self._connection.execute("INSERT OR REPLACE INTO readings VALUES (?, ?, ?, ?, ?)", row)
        except sqlite3.Error:
            self._start_anew()

    def forget_others(self, contents: Iterable[tuple[str, str]]) -> None:
        """Deletes the results of all paths and keys but those given, and ends the writing."""
        try:
            known = set(self._connection.execute("SELECT DISTINCT path, key FROM readings"))
            gone = sorted(known.difference(contents))
            self._connection.executemany("DELETE FROM readings WHERE path = ? AND key = ?", gone)
            self._connection.commit()
        except sqlite3.Error:
            self._start_anew()

    def _opened(self) -> sqlite3.Connection:
        """The connection to the file, which is made anew unless this software has written it."""
        connection = sqlite3.connect(self._path)
        if _is_written_by(connection, self._software):
            return connection
        connection.close()
        return self._made_anew()

    def _start_anew(self) -> None:
        self._connection.close()
        self._connection = self._made_anew()

    def _made_anew(self) -> sqlite3.Connection:
        self._path.unlink(missing_ok=True)
        connection = sqlite3.connect(self._path)
        _set_up(connection)
        connection.executescript(_TABLES)
        connection.execute("INSERT INTO software VALUES (?)", (self._software,))
        connection.commit()
        return connection


def _is_written_by(connection: sqlite3.Connection, software: str) -> bool:
    """True if a file has the results of this software; sets up its connection."""
    try:
        _set_up(connection)
        return connection.execute("SELECT name FROM software").fetchall() == [(software,)]
    except sqlite3.Error:
        return False


def _set_up(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA secure_delete = ON")
    # The journal would be a second copy of what is deleted.
    connection.execute("PRAGMA journal_mode = MEMORY")
    connection.execute("PRAGMA synchronous = OFF")


def reading_digest(path: str, reader: str, key: str, content: bytes) -> bytes:
    """What a result is stored with: another digest says that it is damaged."""
    digest = hashlib.blake2b("\0".join((path, reader, key, "")).encode(), digest_size=_DIGEST_BYTES)
    digest.update(content)
    return digest.digest()
