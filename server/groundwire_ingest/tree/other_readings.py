"""The results of reading files that other branches of a repository keep."""

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from groundwire_ingest.tree.kept_readings import reading_digest


class OtherReadings:
    """Files of kept readings of the same software, which are only read. A file that is damaged or gone is left out.

    Other processes may be writing them. They are opened without a lock, because a lock would stop a writer. So a result
    may be half written: one that does not fit its digest is left out. A context manager; not thread-safe.
    """

    def __init__(self, files: Sequence[Path], software: str) -> None:
        opened = (_opened(file, software) for file in files)
        self._connections = [connection for connection in opened if connection is not None]

    def __enter__(self) -> "OtherReadings":
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._connections:
            connection.close()

    @property
    def is_empty(self) -> bool:
        """True if there is no such file."""
        return not self._connections

    def content(self, path: str, reader: str, key: str) -> bytes | None:
        """What a reader made of the content `key` of the file at a path, pickled; None if no branch has it."""
        query = "SELECT digest, content FROM readings WHERE path = ? AND reader = ? AND key = ?"
        for connection in self._connections:
            with suppress(sqlite3.Error):
                for digest, content in connection.execute(query, (path, reader, key)).fetchall():
                    if isinstance(content, bytes) and digest == reading_digest(path, reader, key, content):
                        return content
        return None


def _opened(file: Path, software: str) -> sqlite3.Connection | None:
    """A connection to a file that this software has written."""
    with suppress(sqlite3.Error):
        # "Immutable" says that nothing writes the file, so that SQLite takes no lock.
        connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        with suppress(sqlite3.Error):
            if connection.execute("SELECT name FROM software").fetchall() == [(software,)]:
                return connection
        connection.close()
    return None
