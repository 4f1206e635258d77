"""The cost of a build after the edit of one file: by an indexer that follows changes, by a new one, of a new branch."""

import shutil
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.shared.results import Grid
from bench.speed.index import Stages
from groundwire_index.scope import Scope
from groundwire_index.store.store import IndexStore
from groundwire_ingest.repositories.indexing import KEPT_BYTES, Indexer
from groundwire_ingest.repositories.repositories_file import Repository

FIRST, NEW, FOLLOWS = "the first", "after an edit, new indexer", "after an edit, indexer that follows changes"
BRANCH, BRANCH_WITH_FILE = "another branch, with an edit", "another branch, with one file more"


def measure_edits(source: Path, embedder: str, rounds: int) -> Mapping[str, float]:
    """The median seconds of a build after a comment was put at the top of the largest .py, .cs, .ts or .go file.

    The folder is copied. Both indexers build from the same files in turn, each into a data folder of its own. Then
    other branches are built for the first time, into that of the new indexer: with a comment more, and with a copy of
    the edited file more. Raises IngestError and OSError.
    """
    with TemporaryDirectory() as folder:
        tree = shutil.copytree(source, Path(folder, source.name), symlinks=True)
        files = [file for suffix in ("py", "cs", "ts", "go") for file in tree.rglob(f"*.{suffix}")]
        edited = max(files, key=lambda file: file.stat().st_size)
        copy = edited.with_stem(f"{edited.stem}_copy")
        repository = Repository(tree, Scope("bench", "main"), embedder)
        stores = {name: IndexStore(Path(folder, f"data-{number}")) for number, name in enumerate((NEW, FOLLOWS))}
        following = Indexer(stores[FOLLOWS].data, stores[FOLLOWS], Stages(), kept_bytes=KEPT_BYTES)
        seconds: dict[str, list[float]] = {name: [] for name in (FIRST, NEW, FOLLOWS, BRANCH, BRANCH_WITH_FILE)}
        for number in range(rounds + 1):
            _add_comment(edited, number)
            for name, store in stores.items():
                indexer = following if name == FOLLOWS else Indexer(store.data, store, Stages())
                took = _seconds_of_build(indexer, repository, f"v{number}")
                if number:
                    seconds[name].append(took)
                elif name == NEW:
                    seconds[FIRST].append(took)  # it embeds all
        for number in range(rounds):
            for name in (BRANCH, BRANCH_WITH_FILE):
                _add_comment(edited, number)
                if name == BRANCH_WITH_FILE:
                    shutil.copyfile(edited, copy)
                indexer = Indexer(stores[NEW].data, stores[NEW], Stages())
                branch = replace(repository, scope=Scope("bench", f"{name} {number}"))
                seconds[name].append(_seconds_of_build(indexer, branch, "v0"))
                copy.unlink(missing_ok=True)
        return {name: median(times) for name, times in seconds.items()}


def grid(seconds: Mapping[str, float], title: str) -> Grid:
    """Seconds, and their ratio to those of the first build."""
    rows = [[name, f"{value:.2f}", f"{value / seconds[FIRST]:.3f}"] for name, value in seconds.items()]
    return Grid(title, ["build", "wall s", "relative to the first"], rows)


def _add_comment(file: Path, number: int) -> None:
    mark = "#" if file.suffix == ".py" else "//"
    file.write_text(f"{mark} edit {number}\n{file.read_text(encoding='utf-8')}", encoding="utf-8")


def _seconds_of_build(indexer: Indexer, repository: Repository, version: str) -> float:
    began = time.perf_counter()
    indexer.index(repository, version)
    return time.perf_counter() - began
