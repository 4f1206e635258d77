"""A worker as its supervisor sees it: a process, the pipe to it, and the messages over that."""

import asyncio
import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Self

from groundwire_server.config import Settings
from groundwire_server.rpc.telemetry.shared_metrics import MetricsShare


@dataclass(frozen=True, slots=True)
class Assignment:
    """Supervisor to worker, first and once: who it is and what to serve, at an address that is held for it.

    `metrics` is the folder for its share of the metrics; None without metrics.
    """

    number: int
    settings: Settings
    metrics: MetricsShare | None


@dataclass(frozen=True, slots=True)
class Listening:
    """Worker to supervisor: it answers calls."""


@dataclass(frozen=True, slots=True)
class CannotStart:
    """Worker to supervisor: these settings cannot be used, and why."""

    reason: str


WORKER_MODULE = "groundwire_server.rpc.supervision.worker"


class WorkerProcess:
    """A process that was started to serve. Use it in one event loop; `start` makes it.

    It ends by itself when this end of the pipe is closed, and that the kernel does when the supervisor dies.
    """

    def __init__(
        self, process: asyncio.subprocess.Process, pipe: "Connection[Assignment, Listening | CannotStart]"
    ) -> None:
        self._process = process
        self._pipe = pipe

    @classmethod
    async def start(cls, assignment: Assignment, module: str) -> Self:
        """Starts a new interpreter that runs the module: gRPC and torch do not survive a fork.

        It is not in the supervisor's process group, so that a Ctrl-C at the terminal reaches the supervisor alone.
        """
        pipe, workers_end = Pipe()
        with workers_end:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",
                "-m",
                module,
                str(workers_end.fileno()),
                stdin=asyncio.subprocess.DEVNULL,
                pass_fds=(workers_end.fileno(),),
                process_group=0,
            )
        with suppress(BrokenPipeError):  # it died at once, which `ended` tells
            pipe.send(assignment)
        return cls(process, pipe)  # type: ignore[arg-type, unused-ignore]  # Windows has another class

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    async def report(self) -> Listening | CannotStart | None:
        """The worker's message about its start; None when it ends without one."""
        readable = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_reader(self._pipe.fileno(), readable.set)
        await readable.wait()
        loop.remove_reader(self._pipe.fileno())
        try:
            return self._pipe.recv()
        except (EOFError, ConnectionResetError):
            return None

    def send(self, number: signal.Signals) -> None:
        """Sends the signal, if the process still is."""
        # Not by the process object: it would ask for the exit code first, and asyncio would then never learn it.
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, number)

    async def ended(self) -> int:
        """The exit code once the process has ended, negative for the signal that killed it."""
        code = await self._process.wait()
        self._pipe.close()
        return code
