"""Ctrl-C ends every command without a traceback, wherever it is at work."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO

import pytest

from support import programs
from support.patience import PATIENCE_SECONDS

_PROGRAM = "from groundwire_cli.program import main; main()"
_SCOPE = ("--repository", "shop", "--branch", "main")
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


@contextmanager
def started(*arguments: str | Path, options: Sequence[str] = ()) -> Iterator[subprocess.Popen[str]]:
    """The program, in a process group of its own, as a terminal starts it."""
    process = subprocess.Popen(
        [sys.executable, *options, "-c", _PROGRAM, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def interrupted(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """The exit code, and what is on standard error, after Ctrl-C in the program's terminal."""
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    assert "Traceback" not in errors
    assert "Exception" not in errors
    assert "KeyboardInterrupt" not in errors
    return process.returncode, errors


def line_of(stream: IO[str] | None, pattern: str) -> re.Match[str]:
    """The first line that matches."""
    assert stream is not None
    for line in stream:
        if match := re.search(pattern, line):
            return match
    raise AssertionError(f"no line has {pattern}")


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A listener that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE_SECONDS)
        yield listener


def address_of(listener: socket.socket) -> str:
    return f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize("module", ["typer", "rich.table"])
@pytest.mark.parametrize("command", ["query", "serve", "explore"])
def test_while_commands_are_loaded(command: str, module: str) -> None:
    """Python writes a line for each module that it has loaded."""
    with started(command, options=["-X", "importtime"]) as process:
        line_of(process.stderr, rf"\| +{module}$")
        code, _ = interrupted(process)
    assert code == -signal.SIGINT


@pytest.mark.parametrize(
    "command",
    [
        ["query", "tax", *_SCOPE],
        ["search", "tax", *_SCOPE],
        ["evidence", "tax", *_SCOPE],
        ["expand", "Tax", *_SCOPE],
        ["run", "evidence", "tax", *_SCOPE],
        ["indexes"],
    ],
    ids=lambda command: str(command[0]),
)
def test_while_a_server_does_not_answer(command: list[str], silent: socket.socket) -> None:
    with started(*command, "--server", address_of(silent)) as process:
        connection, _ = silent.accept()
        with connection:
            code, _ = interrupted(process)
    assert code == 130


def test_while_a_page_waits_for_the_server(silent: socket.socket) -> None:
    with started("explore", "--port", "0", "--server", address_of(silent)) as process:
        page, key = line_of(process.stdout, r"open (\S+)#key=(\S+)").groups()
        request = urllib.request.Request(f"{page}view/indexes", headers={"X-Groundwire-Key": key})
        asking = threading.Thread(target=partial(_ask, request))
        asking.start()
        connection, _ = silent.accept()
        with connection:
            code, errors = interrupted(process)
        asking.join()
    assert (code, errors) == (0, "")


def _ask(request: urllib.request.Request) -> None:
    with suppress(OSError), urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
        answer.read()


@pytest.mark.parametrize("over", ["stdio", "http"])
def test_while_tools_are_served(over: str, silent: socket.socket) -> None:
    http = ["--http", "127.0.0.1:0"] if over == "http" else []
    with started("mcp", "--server", address_of(silent), "--scope", "shop::main", *http) as process:
        if http:
            line_of(process.stderr, "serving MCP at")
        else:
            assert process.stdin is not None
            process.stdin.write(json.dumps(_INITIALIZE) + "\n")
            process.stdin.flush()
            line_of(process.stdout, "serverInfo")
        code, errors = interrupted(process)
    # Tools over HTTP are served until Ctrl-C; it may also come before they are.
    assert code in ((0, 130) if http else (130,))
    assert errors == ""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "tax.py").write_text("def tax():\n    return 1\n", encoding="utf-8")
    return folder


def test_while_an_index_waits_for_its_embeddings(source: Path, tmp_path: Path, silent: socket.socket) -> None:
    service = f"http://{address_of(silent)}/v1/embeddings#model=words"
    with started("index", source, *_SCOPE, "--embedder", service, "--data", tmp_path / "data") as process:
        connection, _ = silent.accept()
        with connection:
            code, _ = interrupted(process)
    assert code == 130
    assert not list((tmp_path / "data").rglob("manifest.json"))


def test_while_a_server_serves(source: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with started("index", source, *_SCOPE, "--embedder", "none", "--data", data) as process:
        assert process.wait(PATIENCE_SECONDS) == 0
    with started("serve", "--data", data, "--listen", "127.0.0.1:0", "--embedder", "none") as process:
        line_of(process.stderr, '"listening"')
        code, errors = interrupted(process)
    assert code == 0
    assert [json.loads(line)["event"] for line in errors.splitlines()] == ["draining", "stopped"]


def test_processes_of_a_build_never_get_it_and_this_one_does() -> None:
    """The process that started them ends them. One that has just been started would print a traceback."""
    lines = programs.output("blocked_signals").splitlines()
    assert lines == ["workers True True", "jobs True True", "here False"]


def test_while_the_command_line_ends(tmp_path: Path) -> None:
    """typer handles an interruption in a command, and none in what it does itself, such as to show an error."""
    with started("verify", "--data", tmp_path, "--absent", options=["-X", "importtime"]) as process:
        line_of(process.stderr, r"\| +rich\.syntax$")
        code, _ = interrupted(process)
    assert code in (130, -signal.SIGINT)
