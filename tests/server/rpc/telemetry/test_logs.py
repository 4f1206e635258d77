"""Logs of the server and of libraries look alike and obey the level."""

import json

import pytest

from support import programs


def logged(log_format: str, log_level: str, *worker: str) -> list[str]:
    done = programs.run("log_lines", log_format, log_level, *worker)
    assert (done.returncode, done.stdout) == (0, "")
    assert "hidden-value" not in done.stderr
    return done.stderr.splitlines()


def test_json_is_one_object_a_line_whoever_logs() -> None:
    application, library, failure = (json.loads(line) for line in logged("json", "info"))
    assert application.pop("time").endswith("Z")
    assert application == {"event": "own", "level": "info", "number": 1}
    assert library.pop("time").endswith("Z")
    assert library == {"event": "a library's word", "level": "info", "logger": "some.library"}
    assert "ValueError: broken" in failure["exception"]


def test_the_console_format_shows_the_same_without_colours_into_a_file() -> None:
    lines = logged("console", "info")
    assert "own" in lines[0]
    assert "a library's word" in lines[1]
    assert lines[-1] == "ValueError: broken"
    assert not any("\x1b" in line for line in lines)


@pytest.mark.parametrize(
    ("level", "events"), [("warning", ["failed"]), ("debug", ["own", "a library's word", "failed"])]
)
def test_the_level_holds_for_all(level: str, events: list[str]) -> None:
    assert [json.loads(line)["event"] for line in logged("json", level)] == events


def test_a_worker_tells_its_number_in_every_line() -> None:
    assert [json.loads(line)["worker"] for line in logged("json", "info", "3")] == [3, 3, 3]
    assert all("worker" not in json.loads(line) for line in logged("json", "info"))


def test_an_event_is_one_write_however_long() -> None:
    output = programs.output("log_writes")
    assert [int(size) > 100_000 for size in output.split()] == [True, True]
