"""The cost of a build: processor and wall seconds, memory and disk, for a first build and a second one.

A source is indexed twice with the installed `groundwire`, under two versions; if another source tree is named, that one
builds in turn with this one. `--embedder none` (the default) measures all but embedding; name a model to see what the
embedding cache saves. Memory is read from `/proc`, so this runs on Linux.
"""

import json
import os
import resource
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory

from bench.shared.programs import GROUNDWIRE, memory, process_tree, python_path, trees
from bench.shared.results import Grid

_WORDS = (
    "user invoice order create delete fetch update handle request response payment tax total line item cart".split()
)
_BUILDS = ("first", "unchanged")
_EDGE_TYPES = ("Calls", "Imports", "Inherits")
_EDGES_A_NODE = 5
_NODES_A_FILE = 20
_SECONDS_BETWEEN_SAMPLES = 0.2
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a build; memory and disk in MiB.

    `largest` is the largest resident memory of one of its processes, mapped files included; `together` the most private
    memory of all processes at one time, sampled; `scratch` the most that the data folder grew during the build,
    sampled.
    """

    wall: float
    cpu: float
    largest: float
    together: float
    scratch: float
    index: float


def measure_ingest(source: Path, embedder: str, rounds: int, other: Path | None) -> dict[str, Cost]:
    """The medians of the `first` build and of an `unchanged` one, those of the other source tree first.

    Raises RuntimeError when a build fails.
    """
    costs: dict[str, list[Cost]] = {}
    for _ in range(rounds):
        for name, tree in trees(other).items():
            with TemporaryDirectory() as data:
                for build in _BUILDS:
                    cost = _measured_build(tree, source, Path(data), build, embedder)
                    costs.setdefault(f"{name}, {build}", []).append(cost)
    return {name: _medians(of_build) for name, of_build in costs.items()}


def grid(costs: Mapping[str, Cost], title: str) -> Grid:
    """One row per build; the last columns compare its times with those of the first row."""
    base = next(iter(costs.values()))
    rows: list[list[str]] = []
    for name, cost in costs.items():
        ratios = cost.wall / base.wall, cost.cpu / base.cpu
        rows.append([name, *(f"{value:,.1f}" for value in astuple(cost)), *(f"{ratio:.2f}" for ratio in ratios)])
    units = ("wall s", "CPU s", "largest process MiB", "private memory MiB", "scratch MiB", "index MiB")
    return Grid(title, ["build", *units, "wall, relative to the first row", "CPU"], rows)


def write_source(path: Path, nodes: int, words: int) -> str:
    """Writes a JSONL file of synthetic code; returns what it is."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records(nodes, words))
    return f"{nodes:,} nodes with {_EDGES_A_NODE} edges each"


def records(count: int, words: int) -> Iterator[dict[str, object]]:
    """Nodes with texts of rare and frequent names, then edges, most of them to few nodes; the same on every call."""
    rng = Random(1)
    names = [_name(rng, rank) for rank in range(60_000)]

    def draw() -> str:
        return names[int(len(names) ** rng.random()) - 1]

    for number in range(count):
        drawn = [draw() for _ in range(max(5, round(words * rng.lognormvariate(0, 0.6))))]
        file = _path(number)
        yield {
            "type": "node",
            "kind": "py",
            "local_id": f"{file}#f{number}",
            "text": f"def {drawn[0]}({', '.join(drawn[1:4])}):\n    {' '.join(drawn[4:])}",
            "path": file,
            "symbol": f"{drawn[0]}.{drawn[1]}{number % 70_000}",
            "language": "python",
            "acl_tags": [f"team{number % 997}"] if number % 5 == 0 else [],
            "metadata": {"owner": f"team{number % 40}"},
        }
    for number in range(count * _EDGES_A_NODE):
        from_number, to_number = rng.randrange(count), int(count * rng.random() ** 3)
        yield {
            "type": "edge",
            "from": f"py::{_path(from_number)}#f{from_number}",
            "to": f"py::{_path(to_number)}#f{to_number}",
            "edge_type": _EDGE_TYPES[number % len(_EDGE_TYPES)],
        }


def _medians(costs: Sequence[Cost]) -> Cost:
    return Cost(*(median(values) for values in zip(*map(astuple, costs), strict=True)))


def _measured_build(tree: Path, source: Path, data: Path, version: str, embedder: str) -> Cost:
    """Runs a source tree's `groundwire index` and measures it."""
    before, start, known = _processor_seconds(), time.perf_counter(), _bytes_below(data)
    names = ("--repository", "bench", "--branch", "main", "--version", version)
    command = [str(GROUNDWIRE), "index", str(source), *names, "--embedder", embedder, "--data", str(data)]
    environment = {**os.environ, "PYTHONPATH": python_path(tree)}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    largest = together = scratch = 0
    while process.poll() is None:
        sizes = [memory([each]) for each in process_tree(process.pid)]
        largest = max(largest, *(size.resident for size in sizes))
        together = max(together, sum(size.anonymous for size in sizes))
        scratch = max(scratch, _bytes_below(data) - known)
        time.sleep(_SECONDS_BETWEEN_SAMPLES)
    wall = time.perf_counter() - start
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} failed")
    index = _bytes_below(data / "bench" / "main" / version)
    return Cost(wall, _processor_seconds() - before, *(size / _MIB for size in (largest, together, scratch, index)))


def _name(rng: Random, rank: int) -> str:
    first, *others = rng.choices(_WORDS, k=rng.randint(1, 3))
    name = first + "".join(word.capitalize() for word in others)
    return name if rank < 2_000 else f"{name}{rank}"


def _path(number: int) -> str:
    # Scrambled, so that the order of the source is not that of the ids.
    file = number * 2_654_435_761 % 2**32 // _NODES_A_FILE % 50_000
    return f"src/module{file % 500}/file{file}.py"


def _processor_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _bytes_below(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(parent, name)).st_blocks * 512  # noqa: PTH116, PTH118
            except FileNotFoundError:
                continue
    return total
