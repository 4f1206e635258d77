"""Logs of the server and of libraries look alike and obey the level."""

import json
import os
import subprocess
import sys

import pytest

SCRIPT = """
import logging, sys, structlog
from groundwire_server.rpc.telemetry.logs import configure_logging
configure_logging(*sys.argv[1:3], *map(int, sys.argv[3:]))
structlog.get_logger().info("own", number=1)
logging.getLogger("some.library").info("a library's %s", "word")
try:
    secret = "hidden-" + "value"
    raise ValueError("broken")
except ValueError:
    logging.getLogger("some.library").exception("failed")
    logging.getLogger("grpc._cython.cygrpc").exception("ExecuteBatchError raised in core by servicer method [/a/B]")
    logging.getLogger("grpc._cython.cygrpc").error("Invalid encoding on hidden-value")
    logging.getLogger("grpc._cython.cygrpc").error("Unexpected [UnicodeDecodeError] raised by servicer method [/x]")
"""


def logged(log_format: str, log_level: str, *worker: str) -> list[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-W", "error", "-c", SCRIPT, log_format, log_level, *worker]
    output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert output.stdout == ""
    assert "hidden-value" not in output.stderr
    return output.stderr.splitlines()


def test_json_is_one_object_a_line_whoever_logs() -> None:
    own, library, failure = (json.loads(line) for line in logged("json", "info"))
    assert own.pop("time").endswith("Z")
    assert own == {"event": "own", "level": "info", "number": 1}
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
    script = """
import io, sys
class Counting(io.FileIO):
    def write(self, data):
        print(len(data))
        return super().write(data)
sys.stderr = io.TextIOWrapper(io.BufferedWriter(Counting(2, "w", closefd=False)), line_buffering=True)
import logging, structlog
from groundwire_server.rpc.telemetry.logs import configure_logging
configure_logging("json", "info")
structlog.get_logger().info("x" * 100_000)
logging.getLogger("some.library").info("x" * 100_000)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    output = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert [int(size) > 100_000 for size in output.stdout.split()] == [True, True]
