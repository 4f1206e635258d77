"""The log of the HTTP servers: how often it has a line, and what stays out of it."""

import logging

import pytest

from groundwire_client.http_server import SECONDS_BETWEEN_LINES, RareLines, log_to_stderr


def record(line: int, message: str) -> logging.LogRecord:
    return logging.LogRecord("uvicorn.error", logging.WARNING, "h11_impl.py", line, message, (), None)


def test_lines_of_one_place_are_counted_between_those_that_are_written() -> None:
    now = 0.0
    lines = RareLines(lambda: now)
    assert lines.filter(record(1, "refused a"))
    assert not lines.filter(record(1, "refused b"))
    assert not lines.filter(record(1, "refused c"))
    assert lines.filter(record(2, "something else"))
    now = SECONDS_BETWEEN_LINES
    last = record(1, "refused %s")
    last.args = ("d",)
    assert lines.filter(last)
    assert last.getMessage() == "refused d (and 2 more before)"
    now *= 2
    after = record(1, "refused e")
    assert lines.filter(after)
    assert after.getMessage() == "refused e"


def test_a_line_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(root, "level", root.level)
    log_to_stderr()
    logging.getLogger("uvicorn.error").warning("Invalid Host header: \x1b[31m\u202eevil")
    assert "\x1b" not in (written := capsys.readouterr().err)
    assert "\u202e" not in written
    assert "Invalid Host header" in written
