"""Jobs of a build on all processors: in processes of their own, or one after the other in this one.

The result of a job does not depend on where it runs. Processes are started afresh (`spawn`), so they inherit no lock,
no thread and no model of the one that started them. When that one ends, however it ends, so do they.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import Synchronized
from threading import Thread
from typing import Protocol, TypeAlias, TypeVar

from groundwire_ingest.ingest_errors import IngestError

Result = TypeVar("Result")
Advance: TypeAlias = Callable[[int], None]
"""Takes how much more of the work is done."""
Job: TypeAlias = Callable[[Advance], Result]

MOST_PROCESSES = 8
"""Each holds a segment of the index and the tokenisers' caches: some 400 MB."""
_SECONDS_BETWEEN_REPORTS = 0.2
_SAFE_PATH = "PYTHONSAFEPATH"

_done: "Synchronized[int]"  # of a worker process: what it shares with the one that started it


class Runner(Protocol):
    """Runs jobs."""

    def run(self, jobs: Sequence[Job[Result]], report: Advance) -> list[Result]:
        """The results of the jobs, in their order; `report` gets the total work done so far."""
        ...


def processor_count() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def runner(processes: int) -> Iterator[Runner]:
    """A runner in this process when `processes` is 1, otherwise in this number of others, at most MOST_PROCESSES."""
    if processes == 1:
        yield _Here()
        return
    context = get_context("spawn")
    with no_imports_from_the_working_folder():
        done = context.Value("q", 0)
        watched, held = context.Pipe(duplex=False)
        # The pipes of Windows are of another class, which has the same methods.
        given = watched, done
        pool = ProcessPoolExecutor(min(processes, MOST_PROCESSES), context, _begin_worker, given)  # type: ignore[arg-type, unused-ignore]
        try:
            yield _Elsewhere(pool, done)
            pool.shutdown()
        finally:
            # Workers that are still at work end now: they watch for this end of the pipe to close.
            held.close()
            pool.shutdown(cancel_futures=True)
            watched.close()


@contextmanager
def no_imports_from_the_working_folder() -> Iterator[None]:
    """Processes started in the meantime import nothing from the working folder, which may be the tree that is read.

    `multiprocessing` starts them as `python -c`, which would look there first, before the standard library.
    """
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


@contextmanager
def no_interruption_of_new_processes() -> Iterator[None]:
    """Ctrl-C never reaches a process that this thread starts in the meantime; this process gets it afterwards.

    At a terminal Ctrl-C goes to all processes. One that has just been started, and does not ignore it yet, would print
    a traceback. Windows has no such mask.
    """
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # which would unblock the signal when the first process is started
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Here:
    def run(self, jobs: Sequence[Job[Result]], report: Advance) -> list[Result]:
        done = 0

        def advance(more: int) -> None:
            nonlocal done
            done += more
            report(done)

        return [job(advance) for job in jobs]


class _Elsewhere:
    def __init__(self, pool: ProcessPoolExecutor, done: "Synchronized[int]") -> None:
        self._pool, self._done = pool, done

    def run(self, jobs: Sequence[Job[Result]], report: Advance) -> list[Result]:
        before = self._done.value
        try:
            with no_interruption_of_new_processes():
                futures = [self._pool.submit(job, _advance) for job in jobs]
            unfinished = set(futures)
            while unfinished:
                finished, unfinished = wait(unfinished, _SECONDS_BETWEEN_REPORTS, FIRST_EXCEPTION)
                for future in finished:
                    future.result()
                report(self._done.value - before)
            return [future.result() for future in futures]
        except BrokenProcessPool as error:
            raise IngestError(
                "a process of the build was ended from outside, perhaps because memory ran out; make room and try again"
            ) from error


def _begin_worker(watched: Connection, done: "Synchronized[int]") -> None:
    global _done
    _done = done
    # Ctrl-C reaches every process of the terminal; the parent process ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_starter, args=(watched,), daemon=True).start()


def _end_with_starter(watched: Connection) -> None:
    try:
        watched.recv_bytes()
    except EOFError:
        os._exit(1)


def _advance(more: int) -> None:
    with _done.get_lock():
        _done.value += more
