import asyncio
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from groundwire_pipelines.errors import StepError
from groundwire_pipelines.history.sqlite import Session, SqliteHistory, Transcript
from groundwire_pipelines.runtime import StoredHistory, Turn
from support import programs
from support.patience import PATIENCE_SECONDS


def turn(name: str) -> Turn:
    return Turn(f"{name}?", f"{name} en?", f"{name} en.", f"{name}.")


def appended(history: SqliteHistory, user: str, session: str, *names: str) -> None:
    for name in names:
        asyncio.run(history.append(user, session, turn(name)))


def loaded(history: SqliteHistory, user: str = "ann", session: str = "s") -> StoredHistory:
    return asyncio.run(history.load(user, session))


def save(history: SqliteHistory, text: str, covers: int, previous: int) -> None:
    asyncio.run(history.save_summary("ann", "s", text, covers=covers, previous_version=previous))


@pytest.fixture
def history(tmp_path: Path) -> SqliteHistory:
    return SqliteHistory(tmp_path / "state" / "history.db")


def test_a_session_starts_empty(history: SqliteHistory) -> None:
    assert loaded(history) == StoredHistory("", 0, ())


def test_turns_come_back_whole_and_in_order(history: SqliteHistory) -> None:
    odd = Turn("czym jest 'VAT'; --\n?", "what\x00is", "ł" * 10_000, "")
    appended(history, "ann", "s", "a", "b")
    asyncio.run(history.append("ann", "s", odd))
    assert loaded(history).turns == (turn("a"), turn("b"), odd)


def test_sessions_and_users_see_their_own_turns_only(history: SqliteHistory) -> None:
    appended(history, "ann", "s", "a")
    appended(history, "ann", "t", "b")
    appended(history, "bob", "s", "c")
    appended(history, "", "s", "d")
    assert loaded(history, "ann", "s").turns == (turn("a"),)
    assert loaded(history, "ann", "t").turns == (turn("b"),)
    assert loaded(history, "bob", "s").turns == (turn("c"),)
    assert loaded(history, "", "s").turns == (turn("d"),)


def test_another_object_over_the_file_sees_the_same(history: SqliteHistory, tmp_path: Path) -> None:
    appended(history, "ann", "s", "a")
    assert loaded(SqliteHistory(tmp_path / "state" / "history.db")).turns == (turn("a"),)


def test_a_summary_covers_its_turns_and_the_next_one_more(history: SqliteHistory) -> None:
    appended(history, "ann", "s", "a", "b")
    appended(history, "bob", "s", "x")
    save(history, "a and b", covers=2, previous=0)
    assert loaded(history) == StoredHistory("a and b", 1, ())
    appended(history, "ann", "s", "c", "d")
    assert loaded(history) == StoredHistory("a and b", 1, (turn("c"), turn("d")))
    save(history, "a to c", covers=1, previous=1)
    assert loaded(history) == StoredHistory("a to c", 2, (turn("d"),))
    assert loaded(history, "bob").turns == (turn("x"),)


def test_a_turn_that_came_after_the_load_is_not_covered(history: SqliteHistory) -> None:
    appended(history, "ann", "s", "a", "b")
    stored = loaded(history)
    appended(history, "ann", "s", "c")
    save(history, "a and b", covers=len(stored.turns), previous=stored.summary_version)
    assert loaded(history).turns == (turn("c"),)


def test_the_first_of_two_concurrent_summaries_stands(history: SqliteHistory) -> None:
    appended(history, "ann", "s", "a", "b")
    save(history, "first", covers=1, previous=0)
    save(history, "second", covers=2, previous=0)
    assert loaded(history) == StoredHistory("first", 1, (turn("b"),))


def test_a_summary_may_be_shortened_without_new_turns(history: SqliteHistory) -> None:
    appended(history, "ann", "s", "a", "b")
    save(history, "long", covers=1, previous=0)
    save(history, "short", covers=0, previous=1)
    assert loaded(history) == StoredHistory("short", 2, (turn("b"),))


def test_a_summary_of_turns_that_were_deleted_meanwhile_is_not_kept(history: SqliteHistory) -> None:
    appended(history, "ann", "s", "a", "b")
    assert asyncio.run(history.delete("ann", "s"))
    save(history, "a and b", covers=2, previous=0)
    assert loaded(history) == StoredHistory("", 0, ())


def test_a_users_sessions_are_listed_by_name(history: SqliteHistory) -> None:
    appended(history, "ann", "t", "a")
    appended(history, "ann", "s", "a", "b")
    appended(history, "bob", "r", "c")
    save(history, "a", covers=1, previous=0)
    assert asyncio.run(history.sessions("ann")) == (Session("ann", "s", 2), Session("ann", "t", 1))
    assert asyncio.run(history.sessions("cy")) == ()


def test_a_transcript_has_the_turns_that_a_summary_covers(history: SqliteHistory) -> None:
    appended(history, "ann", "s", "a", "b")
    save(history, "a", covers=1, previous=0)
    assert asyncio.run(history.transcript("ann", "s")) == Transcript("ann", "s", (turn("a"), turn("b")), "a", 1)
    assert asyncio.run(history.transcript("bob", "s")) is None


def test_a_deleted_session_leaves_nothing_and_nobody_elses_goes(history: SqliteHistory, tmp_path: Path) -> None:
    appended(history, "ann", "s", "secret")
    appended(history, "ann", "t", "a")
    appended(history, "bob", "s", "b")
    save(history, "summary of a secret", covers=1, previous=0)
    assert asyncio.run(history.delete("ann", "s"))
    assert not asyncio.run(history.delete("ann", "s"))
    assert loaded(history) == StoredHistory("", 0, ())
    assert loaded(history, "ann", "t").turns == (turn("a"),)
    assert loaded(history, "bob", "s").turns == (turn("b"),)
    assert all(b"secret" not in path.read_bytes() for path in (tmp_path / "state").iterdir())


def test_a_deletion_says_when_bytes_stay_because_somebody_reads(tmp_path: Path) -> None:
    history = SqliteHistory(tmp_path / "state" / "history.db", busy_seconds=0.05)
    appended(history, "ann", "s", "secret")
    with closing(sqlite3.connect(tmp_path / "state" / "history.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT COUNT(*) FROM turn").fetchone()
        with pytest.raises(StepError, match="is deleted, but its bytes stay") as caught:
            asyncio.run(history.delete("ann", "s"))
        assert caught.value.rule == "history-failed"
        assert loaded(history) == StoredHistory("", 0, ())
    assert not asyncio.run(history.delete("ann", "s"))
    assert all(b"secret" not in path.read_bytes() for path in (tmp_path / "state").iterdir())


def test_concurrent_sessions_lose_nothing(history: SqliteHistory) -> None:
    async def talk(session: str) -> None:
        for number in range(10):
            await history.append("ann", session, turn(str(number)))

    async def all_talk() -> None:
        await asyncio.gather(*(talk(session) for session in "abcd"))

    asyncio.run(all_talk())
    for session in "abcd":
        assert loaded(history, "ann", session).turns == tuple(turn(str(number)) for number in range(10))


def test_concurrent_summaries_are_saved_once(history: SqliteHistory) -> None:
    appended(history, "ann", "s", "a", "b")

    async def all_save() -> None:
        saves = (history.save_summary("ann", "s", str(n), covers=2, previous_version=0) for n in range(8))
        await asyncio.gather(*saves)

    asyncio.run(all_save())
    assert loaded(history).summary_version == 1


def writer(path: Path, session: str, turns: int) -> "subprocess.Popen[str]":
    command = programs.command("append_turns", path, session, turns)
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=programs.variables())


def questions(path: Path, session: str) -> list[str]:
    return [turn.question for turn in loaded(SqliteHistory(path), "ann", session).turns]


def test_a_killed_process_loses_no_turn_that_was_appended(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    with writer(path, "s", 100_000) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline().strip() for _ in range(5)]
        process.send_signal(signal.SIGKILL)
        lines += process.stdout.read().split()
    kept = questions(path, "s")
    assert kept[: len(lines)] == lines
    # One more may have reached the disk before the process could tell.
    assert len(kept) <= len(lines) + 1
    asyncio.run(SqliteHistory(path).append("ann", "s", turn("after")))
    assert questions(path, "s")[-1] == "after?"


def test_processes_that_start_together_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    processes = [writer(path, session, 5) for session in "abc"]
    for process in processes:
        process.communicate(timeout=PATIENCE_SECONDS)
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert [questions(path, session) for session in "abc"] == [list("01234")] * 3


def test_threads_that_make_the_file_together_make_it_once(tmp_path: Path) -> None:
    async def all_append(path: Path) -> None:
        await asyncio.gather(*(SqliteHistory(path).append("ann", "s", turn(name)) for name in "abcd"))

    for attempt in range(8):
        path = tmp_path / str(attempt) / "history.db"
        asyncio.run(all_append(path))
        assert len(questions(path, "s")) == 4
        assert not list(path.parent.glob("history.db.*"))


def test_readers_and_a_writer_do_not_keep_each_other_waiting(history: SqliteHistory, tmp_path: Path) -> None:
    appended(history, "ann", "s", "a")
    with closing(sqlite3.connect(tmp_path / "state" / "history.db")) as connection:
        mode = connection.execute("PRAGMA journal_mode").fetchone()
    assert mode == ("wal",)


def test_the_file_is_its_owners_alone(history: SqliteHistory, tmp_path: Path) -> None:
    appended(history, "ann", "s", "a")
    assert (tmp_path / "state" / "history.db").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("content", [b"not a database, but long enough to be looked at" * 10, None])
def test_a_file_that_is_no_history_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "history.db"
    if content is None:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 7")
        connection.close()
    else:
        path.write_bytes(content)
    with pytest.raises(StepError, match=r"history\.db") as caught:
        loaded(SqliteHistory(path))
    assert caught.value.rule == "history-failed"


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StepError) as caught:
        loaded(SqliteHistory(tmp_path))
    assert caught.value.rule == "history-failed"
