"""Programs that the benchmarks run, and the memory of their processes."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from groundwire_client import IndexScope

BRANCH = "main"
GROUNDWIRE = Path(sys.executable).with_name("groundwire")
ROOT = Path(__file__).parents[2]
"""This source tree."""
_STOP_SECONDS = 60.0
_LOOK_SECONDS = 0.005


def trees(other: Path | None) -> dict[str, Path]:
    """This source tree by its name, and before it another one that it is compared with."""
    return {**({"the other tree": other} if other else {}), "this tree": ROOT}


def python_path(tree: Path) -> str:
    """The PYTHONPATH with which programs run from a source tree, such as a worktree of an earlier commit."""
    return os.pathsep.join(str((tree / root).resolve()) for root in ("protos", "server", "client", "pipelines", "."))


def run(command: Sequence[str | Path], tree: Path | None = None) -> str:
    """Runs a program to its end, from a source tree if one is named; returns its output. Raises RuntimeError."""
    environment = {**os.environ, "PYTHONPATH": python_path(tree)} if tree else None
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))} failed: {done.stderr.strip()[-2_000:]}")
    return done.stdout


def build_index(source: Path, repository: str, data: Path, embedder: str) -> IndexScope:
    """Indexes a source anew; vectors in the data folder's cache are reused. Raises RuntimeError."""
    shutil.rmtree(data / repository, ignore_errors=True)
    return update_index(source, repository, data, embedder)


def update_index(source: Path, repository: str, data: Path, embedder: str) -> IndexScope:
    """Indexes a source, or does nothing where its index is current. Raises RuntimeError."""
    scope = ("--repository", repository, "--branch", BRANCH)
    run([GROUNDWIRE, "index", source, *scope, "--data", data, "--embedder", embedder])
    return IndexScope(repository=repository, branch=BRANCH)


def serve_command(data: Path, options: Sequence[str] = (), embedder: str = "none") -> list[str]:
    """`groundwire serve` over a data folder on a free port, without a model unless one is named."""
    listen = ("--listen", "127.0.0.1:0", "--log-format", "json", "--log-level", "info")
    return [str(GROUNDWIRE), "serve", "--data", str(data), "--embedder", embedder, *listen, *options]


@dataclass(frozen=True, slots=True)
class RunningProgram:
    """A program that listens: its address, its process, and how long it took to listen."""

    address: str
    process: int
    start_seconds: float


@contextmanager
def running(command: Sequence[str], log: Path) -> Iterator[RunningProgram]:
    """Runs a program that logs a JSON line with its `address` to stderr, which is `log`, once it listens.

    It is ended without a drain. Raises RuntimeError with its output if it does not start.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
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


def process_tree(process: int) -> list[psutil.Process]:
    """A process and all below it."""
    parent = psutil.Process(process)
    return [parent, *parent.children(recursive=True)]


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes: `resident` counts shared pages in each process, `proportional` splits them, `private` leaves them out."""

    resident: int
    proportional: int
    private: int


def memory(process: int) -> Memory:
    """The memory of a process and all below it together."""
    used = [member.memory_full_info() for member in process_tree(process)]
    return Memory(sum(usage.rss for usage in used), sum(usage.pss for usage in used), sum(usage.uss for usage in used))


def folder_bytes(folder: Path) -> int:
    """The size of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
