"""A process of `groundwire` that is forked from one which has loaded the libraries.

Loading them takes several times as long as what most tests ask of the program. So each test process has one more that
loads them once and forks for each start. What it forks is a process of its own, with arguments, environment, streams,
signals and an exit code; the workers that a server starts load everything themselves.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.forkserver import ensure_running
from pathlib import Path
from typing import IO
from unittest.mock import patch

_CONTEXT = get_context("forkserver")
_LIBRARIES = "support.loaded_libraries"
_TESTS = str(Path(__file__).parents[1])
_STDOUT, _STDERR = 1, 2


def start_fork_server() -> None:
    """Starts it with the libraries. A process has one, and a build in this process would start one with fewer.

    The fork server of Python 3.11 is not told where this process finds modules, but by the environment.
    """
    _CONTEXT.set_forkserver_preload([_LIBRARIES])
    path = os.pathsep.join(filter(None, (_TESTS, os.environ.get("PYTHONPATH"))))
    with patch.dict(os.environ, PYTHONPATH=path):
        ensure_running()


class ForkedProgram:
    """Runs `groundwire ARGUMENTS`. Has what tests use of `subprocess.Popen`.

    `constants` are numbers of the program's modules, by their full names, that are others in this process.
    """

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str], constants: Mapping[str, float]
    ) -> None:
        readers, writers = zip(*(_CONTEXT.Pipe(duplex=False) for _ in (_STDOUT, _STDERR)), strict=True)
        started = (list(arguments), dict(environment), dict(constants), *writers)
        self._process = _CONTEXT.Process(target=_begin, args=started)
        self._process.start()
        for writer in writers:
            writer.close()
        self.stdout, self.stderr = map(_text, readers)
        assert self._process.pid is not None
        self.pid = self._process.pid

    def poll(self) -> int | None:
        """The exit code, minus the number of the signal that ended it; None while it runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Waits for the end; raises `subprocess.TimeoutExpired` after `timeout` seconds."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("groundwire", timeout or 0)
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Sends a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Asks it to end."""
        self._process.terminate()

    def kill(self) -> None:
        """Ends it at once."""
        self._process.kill()


def _text(reader: Connection) -> IO[str]:
    with reader:
        return os.fdopen(os.dup(reader.fileno()), encoding="utf-8")


def _begin(
    arguments: list[str],
    environment: dict[str, str],
    constants: dict[str, float],
    stdout: Connection,
    stderr: Connection,
) -> None:
    for stream, descriptor in ((stdout, _STDOUT), (stderr, _STDERR)):
        os.dup2(stream.fileno(), descriptor)
        stream.close()
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for what it runs in the background
    sys.argv = ["groundwire", *arguments]
    if _LIBRARIES not in sys.modules:
        raise RuntimeError(f"the fork server could not load {_LIBRARIES}, which it passes over in silence")
    for name, value in constants.items():
        module, _, constant = name.rpartition(".")
        patch.object(import_module(module), constant, value).start()  # which raises where there is no such constant
    from groundwire_cli.program import main

    main()
