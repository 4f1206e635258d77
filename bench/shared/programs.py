"""Programs that the benchmarks run, and the CPU and memory of their processes."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from groundwire_client import IndexScope

BRANCH = "main"
GROUNDWIRE = Path(sys.executable).with_name("groundwire")
ROOT = Path(__file__).parents[2]
"""This source tree."""
_ROOTS = ("protos", "server", "client", "pipelines", ".")
_STOP_SECONDS = 60.0
_LOOK_SECONDS = 0.005
_KIBIBYTE = 1_024
_SCHEDULER_CLOCK = 2
"""With the complement of a process id above it, Linux's number for that process's CPU clock, in nanoseconds."""


def trees(other: Path | None) -> dict[str, Path]:
    """This source tree by its name, and before it another one that it is compared with."""
    return {**({"the other tree": other} if other else {}), "this tree": ROOT}


def python_path(tree: Path) -> str:
    """The PYTHONPATH with which programs run from a source tree, such as a worktree of an earlier commit."""
    return os.pathsep.join(str((tree / root).resolve()) for root in _ROOTS)


@dataclass(frozen=True, slots=True)
class RunningProgram:
    """A program that listens: its address, its process, and how long it took to listen."""

    address: str
    process: int
    start_seconds: float


def run_groundwire(*arguments: str | Path) -> None:
    """Runs `groundwire ARGUMENTS` to its end.

    Raises RuntimeError; the program has then printed the problem on stderr.
    """
    if subprocess.run([GROUNDWIRE, *arguments], check=False, stdout=subprocess.DEVNULL).returncode:
        raise RuntimeError(f"groundwire {' '.join(map(str, arguments))} failed")


def build_index(source: Path, repository: str, data: Path, embedder: str) -> IndexScope:
    """Indexes a source anew; vectors in the data folder's cache are reused. Raises RuntimeError."""
    shutil.rmtree(data / repository, ignore_errors=True)
    scope = ("--repository", repository, "--branch", BRANCH)
    run_groundwire("index", source, *scope, "--data", data, "--embedder", embedder)
    return IndexScope(repository=repository, branch=BRANCH)


def serve_command(data: Path, options: Sequence[str] = (), embedder: str = "none") -> list[str]:
    """`groundwire serve` over a data folder on a free port, without a model unless one is named."""
    listen = ("--listen", "127.0.0.1:0", "--log-format", "json", "--log-level", "info")
    return [str(GROUNDWIRE), "serve", "--data", str(data), "--embedder", embedder, *listen, *options]


@contextmanager
def running(command: Sequence[str], log: Path) -> Iterator[RunningProgram]:
    """Runs a program that logs a JSON line with its `address` to stderr, which is `log`, once it listens.

    It is ended without a drain. Raises RuntimeError with its output if it does not start.
    """
    started = time.perf_counter()
    with log.open("w", encoding="utf-8") as file:
        process = subprocess.Popen(command, stderr=file, stdin=subprocess.DEVNULL)
    try:
        address = _address(process, log, " ".join(command))
        yield RunningProgram(address, process.pid, time.perf_counter() - started)
        process.terminate()
        process.terminate()  # the second signal ends a server at once
        process.wait(_STOP_SECONDS)
    finally:
        process.kill()
        process.wait()


def _address(process: subprocess.Popen[bytes], log: Path, command: str) -> str:
    while True:
        ended = process.poll() is not None
        said = log.read_text(encoding="utf-8")
        for line in said.splitlines(keepends=True):
            if '"listening"' in line and line.endswith("\n"):
                return str(json.loads(line)["address"])
        if ended:
            raise RuntimeError(f"{command} did not start:\n{said}")
        time.sleep(_LOOK_SECONDS)


def process_tree(process: int) -> list[int]:
    """A process and all below it that run."""
    children: list[int] = []
    with suppress(OSError):  # it has ended
        for task in Path(f"/proc/{process}/task").glob("*/children"):
            children += [int(child) for child in task.read_text(encoding="ascii").split()]
    return [process, *(below for child in children for below in process_tree(child))]


def cpu_seconds(processes: Sequence[int]) -> float:
    """User and system time that the processes have used so far, their ended threads included."""
    return sum(time.clock_gettime(~process << 3 | _SCHEDULER_CLOCK) for process in processes)


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes: `resident` counts shared pages in each process, `proportional` splits them, `private` leaves them out.

    `anonymous` are those that are no file's, shared ones split.
    """

    resident: int = 0
    proportional: int = 0
    private: int = 0
    anonymous: int = 0


def memory(processes: Sequence[int]) -> Memory:
    """The memory of processes together, as /proc/<id>/smaps_rollup tells it; none of those that have ended."""
    totals: Counter[str] = Counter()
    for process in processes:
        with suppress(OSError):
            for line in Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]:
                name, kibibytes, *_ = line.split()
                totals[name] += int(kibibytes) * _KIBIBYTE
    private = totals["Private_Clean:"] + totals["Private_Dirty:"]
    return Memory(totals["Rss:"], totals["Pss:"], private, totals["Pss_Anon:"])
