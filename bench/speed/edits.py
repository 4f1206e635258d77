"""The cost of a build after the edit of one file: by an indexer that follows changes, and by a new one."""

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.shared.results import Grid
from bench.speed.index import Stages
from groundwire_index.scope import Scope
from groundwire_index.store.store import IndexStore
from groundwire_ingest.repositories.indexing import KEPT_BYTES, Indexer
from groundwire_ingest.repositories.repositories_file import Repository

NEW, FOLLOWS = "new indexer", "indexer that follows changes"


def measure_edits(source: Path, embedder: str, rounds: int) -> Mapping[str, float]:
    """The median seconds of a build after a comment was put at the top of the largest .py, .cs, .ts or .go file.

    The folder is copied. Both indexers build from the same files in turn, each into a data folder of its own. Raises
    IngestError and OSError.
    """
    with TemporaryDirectory() as folder:
        tree = shutil.copytree(source, Path(folder, source.name), symlinks=True)
        files = [file for suffix in ("py", "cs", "ts", "go") for file in tree.rglob(f"*.{suffix}")]
        edited = max(files, key=lambda file: file.stat().st_size)
        repository = Repository(tree, Scope("bench", "main"), embedder)
        stores = {name: IndexStore(Path(folder, f"data-{number}")) for number, name in enumerate((NEW, FOLLOWS))}
        following = Indexer(stores[FOLLOWS].data, stores[FOLLOWS], Stages(), kept_bytes=KEPT_BYTES)
        seconds: dict[str, list[float]] = {name: [] for name in stores}
        for number in range(rounds + 1):
            mark = "#" if edited.suffix == ".py" else "//"
            edited.write_text(f"{mark} edit {number}\n{edited.read_text(encoding='utf-8')}", encoding="utf-8")
            for name, store in stores.items():
                indexer = following if name == FOLLOWS else Indexer(store.data, store, Stages())
                began = time.perf_counter()
                indexer.index(repository, f"v{number}")
                seconds[name].append(time.perf_counter() - began)
        return {name: median(times[1:]) for name, times in seconds.items()}  # the first build of each embeds all


def grid(seconds: Mapping[str, float], title: str) -> Grid:
    """Seconds, and their ratio to a new indexer's."""
    rows = [[name, f"{value:.2f}", f"{value / seconds[NEW]:.2f}"] for name, value in seconds.items()]
    return Grid(title, ["build after an edit", "wall s", "relative to the first row"], rows)
