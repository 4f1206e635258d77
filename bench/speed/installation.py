"""The size of an installation for serving, and the time until a fresh one first answers."""

import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.shared.programs import BRANCH, GROUNDWIRE, run, running, serve_command
from bench.shared.results import Grid
from groundwire_client import GroundwireClient, IndexScope
from groundwire_index.embedding.model_names import DEFAULT_MODEL

_MEGABYTE = 1_000_000
_TOOLS = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
"""The packages of a new environment."""


@dataclass(frozen=True, slots=True)
class Installation:
    """Megabytes of packages: without bytecode, with that which a server loads, and with all, as pip writes it.

    Then seconds from the start of a process to the answer of a text query: of the first process of this installation,
    which has no bytecode, and of the second one.
    """

    unpacked: float
    used: float
    compiled: float
    first_answer: float
    second_answer: float


def measure_installation(tree: Path, work: Path) -> Installation:
    """Installs what serving needs of a source tree into a new environment, and serves an index of that tree's protos.

    Raises RuntimeError.
    """
    shutil.rmtree(work, ignore_errors=True)
    home, data = work / "environment", work / "data"
    run([sys.executable, "-m", "venv", home])
    run([home / "bin" / "pip", "install", "--quiet", "--no-compile", f"{tree.resolve()}[server]"])
    names = ("--repository", "protos", "--branch", BRANCH, "--data", data)
    run([GROUNDWIRE, "index", tree / "protos", *names, "--embedder", DEFAULT_MODEL], tree)
    unpacked = _megabytes(home)
    first, second = (_answer(home, data, work / "server.log") for _ in range(2))
    used = _megabytes(home)
    run([home / "bin" / "python", "-m", "compileall", "-q", *home.glob("lib/*/site-packages")])
    return Installation(unpacked, used, _megabytes(home), first, second)


def grid(installations: Mapping[str, Installation]) -> Grid:
    """One row per source tree."""
    rows = [
        [
            name,
            *(f"{size:,.0f}" for size in (installation.unpacked, installation.used, installation.compiled)),
            *(f"{seconds:.2f}" for seconds in (installation.first_answer, installation.second_answer)),
        ]
        for name, installation in installations.items()
    ]
    sizes = ("MB without bytecode", "with that in use", "with all")
    return Grid("Serving from nothing", ["installation", *sizes, "first answer s", "of the next start"], rows)


def _answer(home: Path, data: Path, log: Path) -> float:
    """Seconds until a new server has answered."""
    program = ("env", "--unset=PYTHONPATH", "--unset=PYTHONDONTWRITEBYTECODE", str(home / "bin" / "groundwire"))
    started = time.perf_counter()
    with (
        running([*program, *serve_command(data, embedder=DEFAULT_MODEL)[1:]], log) as server,
        GroundwireClient(server.address) as client,
    ):
        client.search(IndexScope(repository="protos", branch=BRANCH), "open a channel")
        return time.perf_counter() - started


def _megabytes(home: Path) -> float:
    (packages,) = home.glob("lib/*/site-packages")
    files = (
        path for each in packages.iterdir() if not each.name.startswith(_TOOLS) for path in (each, *each.rglob("*"))
    )
    return sum(path.stat().st_size for path in files if path.is_file()) / _MEGABYTE
