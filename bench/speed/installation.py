"""The size of an installation for serving, and the time until a fresh one first answers."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import grpc

from bench.shared.programs import GROUNDWIRE, memory, process_tree, python_path, running, serve_command
from bench.shared.results import Grid
from bench.speed.calls import text_request
from bench.speed.index import SCOPE
from bench.speed.ingest import write_source
from bench.speed.wire import method
from groundwire_index.embedding.model_names import DEFAULT_MODEL

_NODES, _WORDS = 200, 40
_MEGABYTE = 1_000_000
_TOOLS = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
"""The packages of a new environment."""


@dataclass(frozen=True, slots=True)
class Installation:
    """Megabytes of packages: without bytecode, with that which a server loads, and with all, as pip writes it.

    Then seconds from the start of a process to the answer of a text query: of the first process of this installation,
    which has no bytecode, and of the second one. Then resident megabytes of the second one.
    """

    unpacked: float
    used: float
    compiled: float
    first_answer: float
    second_answer: float
    resident: float


def measure_installation(tree: Path, work: Path) -> Installation:
    """Installs what serving needs of a source tree into a new environment and serves an index of that tree's format.

    Raises RuntimeError.
    """
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    home, source, data = work / "environment", work / "source.jsonl", work / "data"
    _run([sys.executable, "-m", "venv", str(home)])
    _run([str(home / "bin" / "pip"), "install", "--quiet", "--no-compile", f"{tree.resolve()}[server]"])
    write_source(source, _NODES, _WORDS)
    names = ("--repository", SCOPE.repository, "--branch", SCOPE.branch, "--data", str(data))
    environment = {**os.environ, "PYTHONPATH": python_path(tree)}
    _run([str(GROUNDWIRE), "index", str(source), *names, "--embedder", DEFAULT_MODEL], environment)
    unpacked = _megabytes(home)
    (first, _), (second, resident) = (_answer(home, data, work / "server.log") for _ in range(2))
    used = _megabytes(home)
    _run([str(home / "bin" / "python"), "-m", "compileall", "-q", *map(str, home.glob("lib/*/site-packages"))])
    return Installation(unpacked, used, _megabytes(home), first, second, resident)


def grid(installations: Mapping[str, Installation]) -> Grid:
    """One row per source tree; ratios are to the first one."""
    base = next(iter(installations.values()))
    rows = [
        [
            name,
            *(f"{size:,.0f}" for size in (one.unpacked, one.used, one.compiled)),
            f"{one.used / base.used:.2f}",
            f"{one.first_answer:.2f}",
            f"{one.second_answer:.2f}",
            f"{one.first_answer / base.first_answer:.2f}",
            f"{one.resident:,.0f}",
        ]
        for name, one in installations.items()
    ]
    sizes = ("MB without bytecode", "with that in use", "with all", "ratio")
    times = ("first answer s", "of the next start", "ratio", "resident MB")
    return Grid("Serving from nothing", ["installation", *sizes, *times], rows)


def _answer(home: Path, data: Path, log: Path) -> tuple[float, float]:
    """Seconds until a new server has answered, and its resident megabytes then."""
    own = ("env", "--unset=PYTHONPATH", "--unset=PYTHONDONTWRITEBYTECODE", str(home / "bin" / "groundwire"))
    command = [*own, *serve_command(data, embedder=DEFAULT_MODEL)[1:]]
    started = time.perf_counter()
    with running(command, log) as server, grpc.insecure_channel(server.address) as channel:
        method(channel, "semantic")(text_request("open a channel"))
        seconds = time.perf_counter() - started
        return seconds, memory(process_tree(server.process)).resident / _MEGABYTE


def _megabytes(home: Path) -> float:
    (packages,) = home.glob("lib/*/site-packages")
    files = (
        path for each in packages.iterdir() if not each.name.startswith(_TOOLS) for path in (each, *each.rglob("*"))
    )
    return sum(path.stat().st_size for path in files if path.is_file()) / _MEGABYTE


def _run(command: list[str], environment: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()[-2_000:]}")
