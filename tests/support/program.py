"""The installed `groundwire` program as its users meet it: a command line and a server process.

`GROUNDWIRE_EXECUTABLE` names another installation of it, such as one made from the wheel in a clean environment.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import IO, Self

from support.forked_program import ForkedProgram, start_fork_server

START_SECONDS = 300
STOP_SECONDS = 120
END_SECONDS = 600
NO_CONSTANTS: Mapping[str, float] = MappingProxyType({})

start_fork_server()


def executable() -> str:
    """The `groundwire` script under test."""
    return os.environ.get("GROUNDWIRE_EXECUTABLE") or str(Path(sys.executable).with_name("groundwire"))


def start(
    *arguments: str | Path, environment: Mapping[str, str] | None = None, constants: Mapping[str, float] = NO_CONSTANTS
) -> "subprocess.Popen[str] | ForkedProgram":
    """Starts `groundwire ARGUMENTS`.

    From nothing, if it is another installation or if libraries or Python are told something by `environment`, which
    they read when they are loaded. Then `constants`, such as time limits that no setting changes, cannot be others.
    """
    is_only_settings = all(name.startswith("GROUNDWIRE_") for name in environment or {})
    if is_only_settings and "GROUNDWIRE_EXECUTABLE" not in os.environ:
        return ForkedProgram(list(map(str, arguments)), _environment(environment), constants)
    assert not constants, "only a forked program has other constants"
    return subprocess.Popen(
        [executable(), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=_environment(environment),
    )


def run(
    *arguments: str | Path, environment: Mapping[str, str] | None = None, constants: Mapping[str, float] = NO_CONSTANTS
) -> subprocess.CompletedProcess[str]:
    """Runs `groundwire ARGUMENTS` to its end; `constants` as of `start`."""
    process = start(*arguments, environment=environment, constants=constants)
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr, ThreadPoolExecutor(1) as pool:
        errors = pool.submit(process.stderr.read)
        output = process.stdout.read()
        return subprocess.CompletedProcess(arguments, process.wait(END_SECONDS), output, errors.result())


def run_ok(*arguments: str | Path, environment: Mapping[str, str] | None = None) -> str:
    """Runs `groundwire ARGUMENTS`, which must succeed, and returns its standard output."""
    done = run(*arguments, environment=environment)
    assert done.returncode == 0, f"groundwire {arguments} exited {done.returncode}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


class Server:
    """A `groundwire serve` process on a free port; a context manager that drains it.

    `constants` as of `start`: a server that waits for hours where it waits for seconds does the same on a busy machine.
    """

    def __init__(
        self,
        data: Path,
        *flags: str,
        environment: Mapping[str, str] | None = None,
        constants: Mapping[str, float] = NO_CONSTANTS,
    ) -> None:
        command = ("serve", "--data", str(data), "--listen", "127.0.0.1:0", "--log-format", "json", *flags)
        defaults = {"GROUNDWIRE_DRAIN_PAUSE_SECONDS": "0", **(environment or {})}
        self.process = start(*command, environment=defaults, constants=constants)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.process.stdout.close()  # all that it tells is in its log
        self.log: list[str] = []
        self.log_ended = threading.Event()
        self._listening: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read_log, args=(self.process.stderr,), daemon=True).start()
        self.address = self._await_address()

    def terminate(self) -> int:
        """Asks the server to drain and waits for its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=STOP_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.terminate()

    def _read_log(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                self.log.append(line)
                if '"listening"' in line:
                    self._listening.put(json.loads(line)["address"])
        self.log_ended.set()
        self._listening.put("")

    def _await_address(self) -> str:
        address = self._listening.get(timeout=START_SECONDS)
        assert address, f"groundwire serve ended with {self.process.wait()}:\n{''.join(self.log)}"
        return address


def _environment(extra: Mapping[str, str] | None) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GROUNDWIRE_")}
    return {**inherited, **(extra or {})}


def write_jsonl(path: Path, records: Sequence[Mapping[str, object]]) -> Path:
    """Writes records as one JSON object a line."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path
