"""Conversation history in a SQLite file, shared by any number of runs and processes."""

import asyncio
import os
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from groundwire_pipelines.errors import StepError
from groundwire_pipelines.runtime import StoredHistory, Turn

_SCHEMA_VERSION = 1
BUSY_SECONDS = 30.0
"""The most seconds that a writer waits for another one."""

_SCHEMA = f"""
CREATE TABLE turn (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    question TEXT NOT NULL,
    question_en TEXT NOT NULL,
    answer_en TEXT NOT NULL,
    answer TEXT NOT NULL
) STRICT;
CREATE INDEX turn_of_session ON turn (user_id, session_id, number);
CREATE TABLE summary (
    user_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    text TEXT NOT NULL,
    version INTEGER NOT NULL,
    last_turn INTEGER NOT NULL,
    PRIMARY KEY (user_id, session_id)
) STRICT;
PRAGMA user_version = {_SCHEMA_VERSION};
"""

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation: its user, its name, and the number of its turns, including those that a summary covers."""

    user_id: str
    session_id: str
    turns: int


@dataclass(frozen=True, slots=True)
class Transcript:
    """A whole conversation: all its turns, oldest first, and the summary of the first `summarised_turns` of them."""

    user_id: str
    session_id: str
    turns: tuple[Turn, ...]
    summary: str
    summarised_turns: int


class SqliteHistory:
    """Turns and summaries by user and session; implements `runtime.History`.

    A turn is on the disk (write-ahead log, synchronous FULL) when `append` returns. The file is created on first use,
    readable by its owner only, whatever the umask; a folder that is created with it is readable by its owner only too.
    Every call opens its own connection, in a thread of its own.

    Raises, from every method:
        StepError: `history-failed`, if the file cannot be read or written, is not such a history, or stays locked.
    """

    def __init__(self, path: Path, busy_seconds: float = BUSY_SECONDS) -> None:
        self._path = path
        self._busy_seconds = busy_seconds

    async def load(self, user_id: str, session_id: str) -> StoredHistory:
        """The summary, and the turns that it does not cover, oldest first; both read in one transaction."""

        def read(connection: sqlite3.Connection) -> StoredHistory:
            text, version, last_turn = _summary(connection, user_id, session_id)
            rows = connection.execute(
                "SELECT question, question_en, answer_en, answer FROM turn"
                " WHERE user_id = ? AND session_id = ? AND number > ? ORDER BY number",
                (user_id, session_id, last_turn),
            )
            return StoredHistory(text, version, tuple(Turn(*row) for row in rows))

        return await self._in_transaction("DEFERRED", read)

    async def append(self, user_id: str, session_id: str, turn: Turn) -> None:
        """Adds a finished turn; once this returns, a crash does not lose it."""

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT INTO turn (user_id, session_id, question, question_en, answer_en, answer)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (user_id, session_id, turn.question, turn.question_en, turn.answer_en, turn.answer),
            )

        await self._in_transaction("IMMEDIATE", write)

    async def save_summary(
        self, user_id: str, session_id: str, summary: str, *, covers: int, previous_version: int
    ) -> None:
        """Replaces the summary by one that covers `covers` more turns.

        Does nothing if the stored summary's version is no longer `previous_version`, because another run has stored
        one, or if the conversation has been deleted.
        """

        def write(connection: sqlite3.Connection) -> None:
            _, version, last_turn = _summary(connection, user_id, session_id)
            if version != previous_version:
                return
            newest = _turn_after(connection, user_id, session_id, last_turn, covers)
            if newest is None:
                return
            connection.execute(
                "REPLACE INTO summary (user_id, session_id, text, version, last_turn) VALUES (?, ?, ?, ?, ?)",
                (user_id, session_id, summary, version + 1, newest),
            )

        await self._in_transaction("IMMEDIATE", write)

    async def sessions(self, user_id: str) -> tuple[Session, ...]:
        """A user's conversations, sorted by name."""

        def read(connection: sqlite3.Connection) -> tuple[Session, ...]:
            rows = connection.execute(
                "SELECT user_id, session_id, COUNT(*) FROM turn WHERE user_id = ? GROUP BY session_id"
                " ORDER BY session_id",
                (user_id,),
            )
            return tuple(Session(*row) for row in rows)

        return await self._in_transaction("DEFERRED", read)

    async def transcript(self, user_id: str, session_id: str) -> Transcript | None:
        """A whole conversation; None if the user has none of that name."""

        def read(connection: sqlite3.Connection) -> Transcript | None:
            summary, _, last_turn = _summary(connection, user_id, session_id)
            rows = connection.execute(
                "SELECT number, question, question_en, answer_en, answer FROM turn"
                " WHERE user_id = ? AND session_id = ? ORDER BY number",
                (user_id, session_id),
            ).fetchall()
            if not rows:
                return None
            summarised = sum(number <= last_turn for number, *_ in rows)
            return Transcript(user_id, session_id, tuple(Turn(*row[1:]) for row in rows), summary, summarised)

        return await self._in_transaction("DEFERRED", read)

    async def delete(self, user_id: str, session_id: str) -> bool:
        """Removes a conversation, also its bytes in the file; False if the user has none of that name.

        If another process reads for so long that the bytes cannot be removed, the error says that the conversation
        itself is deleted.
        """

        def write(connection: sqlite3.Connection) -> bool:
            names = (user_id, session_id)
            connection.execute("DELETE FROM summary WHERE user_id = ? AND session_id = ?", names)
            return connection.execute("DELETE FROM turn WHERE user_id = ? AND session_id = ?", names).rowcount > 0

        return await self._in_transaction("IMMEDIATE", write, erases=True)

    async def _in_transaction(
        self, kind: str, work: Callable[[sqlite3.Connection], _Result], *, erases: bool = False
    ) -> _Result:
        def run() -> _Result:
            try:
                with closing(self._connect()) as connection:
                    connection.execute(f"BEGIN {kind}")
                    with connection:
                        result = work(connection)
                    if erases:
                        _empty_log(connection)
                    return result
            except (sqlite3.Error, OSError) as error:
                raise StepError("history-failed", f"the history {self._path}: {error}") from error

        return await asyncio.to_thread(run)

    def _connect(self) -> sqlite3.Connection:
        if not self._path.exists():
            _create(self._path)
        connection = sqlite3.connect(self._path, timeout=self._busy_seconds, isolation_level=None)
        try:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA secure_delete = ON")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version != _SCHEMA_VERSION:
                raise sqlite3.DatabaseError(f"its format is {version}, and this release reads {_SCHEMA_VERSION}")
        except BaseException:
            connection.close()
            raise
        return connection


def _create(path: Path) -> None:
    """Creates an empty history, unless another process is first.

    It is created in a temporary file and linked into its place when complete, because SQLite does not wait for other
    processes while it enables the write-ahead log.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    os.close(handle)
    try:
        with closing(sqlite3.connect(name, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(_SCHEMA)
        with suppress(FileExistsError):
            os.link(name, path)
    finally:
        Path(name).unlink()


def _empty_log(connection: sqlite3.Connection) -> None:
    """Removes deleted content from the write-ahead log. Raises sqlite3.OperationalError."""
    is_busy: int = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    if is_busy:
        raise sqlite3.OperationalError(
            "the conversation is deleted, but its bytes stay in the log while another process reads: "
            "they are removed when no process has the history open"
        )


def _summary(connection: sqlite3.Connection, user_id: str, session_id: str) -> tuple[str, int, int]:
    """The summary's text, version and last turn; version 0 for none."""
    row: tuple[str, int, int] | None = connection.execute(
        "SELECT text, version, last_turn FROM summary WHERE user_id = ? AND session_id = ?", (user_id, session_id)
    ).fetchone()
    return row or ("", 0, 0)


def _turn_after(
    connection: sqlite3.Connection, user_id: str, session_id: str, last_turn: int, covers: int
) -> int | None:
    """The number of the turn that is `covers` turns after `last_turn`; None if there are fewer."""
    if covers == 0:
        return last_turn
    row: tuple[int] | None = connection.execute(
        "SELECT number FROM turn WHERE user_id = ? AND session_id = ? AND number > ? ORDER BY number LIMIT 1 OFFSET ?",
        (user_id, session_id, last_turn, covers - 1),
    ).fetchone()
    return None if row is None else row[0]
