"""Runs a command several times beside processes that only keep the processors busy, and tells how often it failed.

`python tests/run_busy.py --runs 10 --busy 6 -- make test`
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process
from types import FrameType

_COUNTS = 10_000_000
"""Between two looks at whether the parent lives: a fraction of a second."""
_LOOK_SECONDS = 0.2


def keep_busy() -> None:
    """Counts for as long as the process lives that has started this one, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the parent ends this process
    parent = parent_process()
    while parent is not None and parent.is_alive():
        for _ in range(_COUNTS):
            pass


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Keeps the processors busy while the context is open."""
    context = get_context("spawn")
    processes = [context.Process(target=keep_busy, daemon=True) for _ in range(count)]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.join()


class Ending:
    """Whether a signal has asked this process to end; noted, so that it interrupts no start of a process."""

    def __init__(self) -> None:
        self.number = 0
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._note)

    def _note(self, number: int, _: FrameType | None) -> None:
        self.number = number


def run(command: Sequence[str], ending: Ending) -> int:
    """Runs a command and returns its exit code; when this process is to end, it ends with all that it has started."""
    with subprocess.Popen(command, start_new_session=True) as process:
        while process.poll() is None and not ending.number:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_LOOK_SECONDS)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        return process.wait()


def main() -> int:
    """The exit code: 0 if every run succeeded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10, help="how often the command runs")
    parser.add_argument("--busy", type=int, default=6, help="how many processes keep the processors busy meanwhile")
    parser.add_argument("command", nargs="+", help="the command and its arguments, after --")
    given = parser.parse_args()
    ending, failed = Ending(), list[int]()
    with busy_processes(given.busy):
        for number in range(1, given.runs + 1):
            began = time.monotonic()
            code = run(given.command, ending)
            if ending.number:
                return 128 + ending.number
            failed += [number] if code else []
            print(f"run {number} of {given.runs}: exit code {code} after {time.monotonic() - began:.0f} s", flush=True)
    print(f"{len(failed)} of {given.runs} runs failed beside {given.busy} busy processes: {failed or 'none'}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
