"""Processes that read untrusted text: each task has a limit of memory, of processor time and of time at all.

Parsers are C code, and some texts make them take gigabytes or minutes, or end their process. Here only a worker ends:
its task is given up, and the next one gets a fresh worker. When the process that started them ends, so do they.

Windows has no limits of memory and processor time for a process, so that a task has its limit of time alone there.
macOS ignores the limit of memory.
"""

import gc
import io
import math
import os
import pickle
import signal
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from threading import Lock, Thread
from typing import TypeVar

from groundwire_ingest.processes import (
    MOST_PROCESSES,
    no_imports_from_the_working_folder,
    no_interruption_of_new_processes,
    processor_count,
)

Task = TypeVar("Task")
Result = TypeVar("Result")

MOST_MEMORY = 1 << 30
"""Bytes of a worker's data, its libraries included."""
SECONDS, SECONDS_A_MEGABYTE = 10, 50
"""Of processor time for one task. Real texts take less than a quarter."""
WAIT_SECONDS, WAITS_A_SECOND = 60, 20
"""How long a task is waited for: so long, and so many times its processor time, since other programs may be busy. Only
a task that waits itself, such as for a file system that does not answer, takes longer."""

FILE_READERS = "groundwire_ingest.tree.single_file"
"""The module that reads the files of a tree; with the parsers that it imports, it takes half a second to load."""

_OUT_OF_PROCESSOR_TIME = -getattr(signal, "SIGPROF", 0) or None
"""How a worker ends that takes too much of it; None where the system has no such limit."""
_OWN_PACKAGES = ("groundwire_index.", "groundwire_ingest.")
_PLAIN_TYPES = frozenset((("builtins", "frozenset"), ("builtins", "set")))
_RESULTS_AHEAD = 32
"""How many results at most wait for an earlier one."""
if sys.platform == "win32":
    _CONTEXT = get_context("spawn")
else:
    import resource
    from multiprocessing.forkserver import ensure_running

    _CONTEXT = get_context("forkserver")


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Stands for the result of a task that no worker could do within the limits; `why` is for people."""

    why: str


class Pickler(ForkingPickler):
    """Writes a dataclass as a call of its class.

    The methods that `dataclass` adds for pickling look up the fields of each object again, which takes three times as
    long to read.
    """

    def reducer_override(self, value: object) -> tuple[type, tuple[object, ...]]:
        """How pickle writes the value, if it is a dataclass; `pickle.Pickler` calls this."""
        kind = type(value)
        names: tuple[str, ...] = getattr(kind, "__match_args__", ())
        is_plain = bool(names) and len(names) == len(getattr(kind, "__dataclass_fields__", ()))
        reduced: tuple[type, tuple[object, ...]] = (
            (kind, tuple(getattr(value, name) for name in names)) if is_plain else NotImplemented
        )
        return reduced


class Unpickler(pickle.Unpickler):
    """Reads what `Pickler` wrote, and makes no other objects than those of Groundwire's own types, and plain ones."""

    def __init__(self, content: bytes) -> None:
        super().__init__(io.BytesIO(content))

    def find_class(self, module: str, name: str) -> object:
        """Raises UnpicklingError for a type of another package."""
        kind: object = super().find_class(module, name) if module.startswith(_OWN_PACKAGES) else None
        # A name with a dot, or of what a module has imported, leads out of its package: `git_trees` has `os.system`.
        if isinstance(kind, type) and kind.__module__.startswith(_OWN_PACKAGES):
            return kind
        if (module, name) in _PLAIN_TYPES:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is no type of a result")


def load_libraries(libraries: str) -> None:
    """Begins to load the module that `Workers` of the same name need, in the process that they are forked from.

    It does not wait for the end: that process loads the module while this one does other work.
    """
    if sys.platform != "win32":
        _CONTEXT.set_forkserver_preload(["__main__", libraries])
        with no_imports_from_the_working_folder(), no_interruption_of_new_processes():
            ensure_running()


class Workers:
    """One worker for each processor, started when there is work for it. A context manager.

    `libraries` names a module that every task needs; it is loaded once, and workers are forked from there.
    """

    def __init__(self, libraries: str) -> None:
        load_libraries(libraries)
        self._threads = ThreadPoolExecutor(min(processor_count(), MOST_PROCESSES), "groundwire-worker")
        self._idle: deque[_Worker] = deque()
        self._started: list[_Worker] = []
        self._is_closed = False
        self._lock = Lock()  # multiprocessing may lose an exit code when threads start and join processes at a time

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._is_closed = True
            for worker in self._started:
                worker.process.kill()
        self._threads.shutdown()
        for worker in self._started:
            worker.end()

    def map(
        self, function: Callable[[Task], Result], tasks: Iterable[Task], size: Callable[[Task], int]
    ) -> Iterator[Result | GivenUp]:
        """The results of `function` for each task, in their order; its exceptions are raised.

        `size` returns the bytes that a task reads, for its limit of time. The outcome does not depend on what a worker
        did before: when it ends, a fresh one tries the task once more, unless it took too long.
        """
        ahead: deque[Future[Result | GivenUp]] = deque()
        for task in tasks:
            seconds = SECONDS + math.ceil(size(task) * SECONDS_A_MEGABYTE / 1e6)
            ahead.append(self._threads.submit(self._outcome, function, task, seconds))
            if len(ahead) > _RESULTS_AHEAD:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()

    def _outcome(self, function: Callable[[Task], Result], task: Task, seconds: int) -> Result | GivenUp:
        try:
            worker = self._idle.pop()
        except IndexError:
            worker = self._start()
        reply = worker.ask(function, task, seconds)
        if reply is None:
            exit_code = self._end(worker)
            if exit_code == _OUT_OF_PROCESSOR_TIME or worker.is_overdue:
                return GivenUp(_why(exit_code, seconds, is_overdue=worker.is_overdue))
            worker = self._start()
            reply = worker.ask(function, task, seconds)
        if reply is None:
            return GivenUp(_why(self._end(worker), seconds, is_overdue=worker.is_overdue))
        self._idle.append(worker)
        result, error = reply
        if error is not None:
            raise error
        return result

    def _start(self) -> "_Worker":
        with self._lock:
            if self._is_closed:
                raise RuntimeError("workers are closed; the result of this task is not used")
            worker = _Worker()
            self._started.append(worker)
        return worker

    def _end(self, worker: "_Worker") -> int | None:
        """Waits for the end of a worker's process and closes its files; returns the exit code."""
        with self._lock:
            self._started.remove(worker)
            return worker.end()


class _Worker:
    def __init__(self) -> None:
        self._connection, other = _CONTEXT.Pipe()
        self.process = _CONTEXT.Process(target=_work, args=(other,), daemon=True)
        self.process.start()
        self.is_overdue = False
        other.close()

    def ask(
        self, function: Callable[[Task], Result], task: Task, seconds: int
    ) -> tuple[Result, Exception | None] | None:
        """The result or what was raised; None when the process has ended, or was ended because it is overdue."""
        try:
            self._connection.send((function, task, seconds))
            if not self._connection.poll(_wait_seconds(seconds)):
                self.is_overdue = True
                self.process.kill()
                return None
            reply: tuple[Result, Exception | None] = self._connection.recv()
        except (EOFError, OSError):
            return None
        return reply

    def end(self) -> int | None:
        """Waits for the end of the process and closes its files; returns the exit code."""
        self.process.join()
        exit_code = self.process.exitcode
        self.process.close()
        self._connection.close()
        return exit_code


def _wait_seconds(seconds: int) -> int:
    return WAIT_SECONDS + WAITS_A_SECOND * seconds


def _why(exit_code: int | None, seconds: int, *, is_overdue: bool) -> str:
    if is_overdue:
        return f"is not read within {_wait_seconds(seconds)} s"
    if exit_code == _OUT_OF_PROCESSOR_TIME:
        return f"takes more than {seconds} s of processor time to read"
    return f"ends the process that reads it, usually because it takes more than {MOST_MEMORY >> 20} MB of memory"


def _work(connection: Connection) -> None:
    """Does tasks until the other end of `connection` is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of the terminal
    _limit_memory()
    gc.freeze()
    Thread(target=_end_with_starter, daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            function, task, seconds = connection.recv()
            _limit_processor_time(seconds)
            try:
                reply = Pickler.dumps(_reply(function, task))
            except MemoryError:
                os._exit(1)
            _limit_processor_time(0)  # not after the reply: the next task would pay for this one
            connection.send_bytes(reply)


def _end_with_starter() -> None:
    """A worker at work does not see that the other end of its connection is closed."""
    starter = parent_process()
    if starter is not None:
        starter.join()
    os._exit(1)


def _limit_memory() -> None:
    """Limits this process's data, and has it leave no core: what it reads may be confidential."""
    if sys.platform != "win32":
        for what, most in ((resource.RLIMIT_DATA, MOST_MEMORY), (resource.RLIMIT_CORE, 0)):
            _, hard = resource.getrlimit(what)
            least = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(what, (least, least))


def _limit_processor_time(seconds: int) -> None:
    """Ends this process after so many seconds of processor time; 0 takes the limit away."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _reply(function: Callable[[Task], Result], task: Task) -> tuple[Result | None, Exception | None]:
    try:
        return function(task), None
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - raised where the result is awaited
        error.add_note(traceback.format_exc())
        return None, error
