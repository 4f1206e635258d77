"""The cost of a build by `groundwire index`: of a first build, and of one of an unchanged source."""

import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.shared.programs import BRANCH, GROUNDWIRE, folder_bytes, python_path, trees
from bench.shared.results import MEBIBYTE, Grid

_KIBIBYTE = 1 << 10


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a build: seconds, the largest resident MiB of one of its processes, and MiB of the index.

    Resident memory includes mapped files.
    """

    wall: float
    cpu: float
    largest: float
    index: float


def measure_ingest(source: Path, embedder: str, rounds: int, other: Path | None) -> dict[str, Cost]:
    """The medians of the `first` build and of an `unchanged` one, those of the other source tree first.

    Raises RuntimeError when a build fails.
    """
    costs: dict[str, list[Cost]] = {}
    for _ in range(rounds):
        for name, tree in trees(other).items():
            with TemporaryDirectory() as data:
                for build in ("first", "unchanged"):
                    cost = _measured_build(tree, source, Path(data), build, embedder)
                    costs.setdefault(f"{name}, {build}", []).append(cost)
    return {
        name: Cost(*map(median, zip(*map(astuple, costs_of_rounds), strict=True)))
        for name, costs_of_rounds in costs.items()
    }


def grid(costs: Mapping[str, Cost], title: str) -> Grid:
    """One row per build; the last columns compare its times with those of the first row."""
    base = next(iter(costs.values()))
    rows: list[list[str]] = []
    for name, cost in costs.items():
        ratios = cost.wall / base.wall, cost.cpu / base.cpu
        rows.append([name, *(f"{value:,.1f}" for value in astuple(cost)), *(f"{ratio:.2f}" for ratio in ratios)])
    units = ("wall s", "CPU s", "largest process MiB", "index MiB")
    return Grid(title, ["build", *units, "wall, relative to the first row", "CPU"], rows)


def _measured_build(tree: Path, source: Path, data: Path, version: str, embedder: str) -> Cost:
    """Runs a source tree's `groundwire index` and measures it."""
    names = ("--repository", "bench", "--branch", BRANCH, "--version", version)
    command = [str(GROUNDWIRE), "index", str(source), *names, "--embedder", embedder, "--data", str(data)]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": python_path(tree)})
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed")
    index = folder_bytes(data / "bench" / BRANCH / version)
    largest = used.ru_maxrss * _KIBIBYTE
    return Cost(wall, used.ru_utime + used.ru_stime, largest / MEBIBYTE, index / MEBIBYTE)
