"""What pipelines write about conversations is readable by its owner only, whatever the umask and what was there."""

import asyncio
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from groundwire_pipelines.errors import PipelineError
from groundwire_pipelines.history.sqlite import SqliteHistory
from groundwire_pipelines.runtime import Turn
from groundwire_pipelines.trace.trace_file import JsonLinesSink


@pytest.fixture(autouse=True)
def no_umask() -> Iterator[None]:
    """The umask under which everybody may read and write what is made."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_trace_is_its_owners(tmp_path: Path) -> None:
    with JsonLinesSink(tmp_path / "trace.jsonl"):
        assert mode(tmp_path / "trace.jsonl") == 0o600


def test_a_trace_that_others_could_read_becomes_its_owners_and_empty(tmp_path: Path) -> None:
    file = tmp_path / "trace.jsonl"
    file.write_text("an earlier and longer trace")
    file.chmod(0o666)
    with JsonLinesSink(file):
        assert (mode(file), file.read_text()) == (0o600, "")


def test_a_link_in_the_place_of_a_trace_is_refused_and_leads_nowhere(tmp_path: Path) -> None:
    target = tmp_path / "notes.txt"
    target.write_text("notes")
    (tmp_path / "trace.jsonl").symlink_to(target)
    with pytest.raises(PipelineError, match=r"trace\.jsonl cannot be written: it is a symbolic link"):
        JsonLinesSink(tmp_path / "trace.jsonl")
    assert target.read_text() == "notes"


def test_a_pipe_may_take_a_trace(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with JsonLinesSink(tmp_path / "pipe"):
            pass
    finally:
        os.close(reader)


def test_a_history_its_log_and_its_folder_are_their_owners(tmp_path: Path) -> None:
    file = tmp_path / "state" / "history.sqlite"
    history = SqliteHistory(file)
    asyncio.run(history.append("ann", "talk", Turn("q", "q", "a", "a")))
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("SELECT * FROM turn").fetchall()
        asyncio.run(history.append("ann", "talk", Turn("q", "q", "a", "a")))
        modes = {path.name: mode(path) for path in file.parent.iterdir()}
    assert modes == dict.fromkeys(("history.sqlite", "history.sqlite-wal", "history.sqlite-shm"), 0o600)
    assert mode(file.parent) == 0o700
