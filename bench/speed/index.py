"""A synthetic corpus as a Groundwire index, built like any source."""

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from bench.speed.corpus import CLUSTERED, LANGUAGE, RANDOM, Corpus
from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.scope import Scope
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.store.store import IndexStore
from groundwire_ingest.build.build import BuildOptions, build_index
from groundwire_ingest.jsonl.export import jsonl_line
from groundwire_ingest.records import SourceEdge, SourceNode, StatedAccess

SCOPE = Scope("synthetic", "main", "bench")
KIND = "py"
_EDGE_TYPES = ("Calls", "Imports", "Inherits", "ReadsFrom")
_FILES_A_FOLDER = 50


class SyntheticSource:
    """The nodes of some rows of a corpus, and the edges between them.

    Row i is the i-th node by id; a policy class is a clearance level.
    """

    def __init__(self, corpus: Corpus, rows: range | None = None) -> None:
        self._corpus = corpus
        self._rows = range(len(corpus)) if rows is None else rows

    @property
    def description(self) -> str:
        return f"synthetic corpus {json.dumps(self._corpus.shape)}"

    def read(self) -> Iterator[SourceNode | SourceEdge]:
        yield from map(self._node, self._rows)
        for number, (origin, target) in enumerate(self._corpus.edges.tolist()):
            if origin not in self._rows or target not in self._rows:
                continue
            edge_type = _EDGE_TYPES[(origin + target) % len(_EDGE_TYPES)]
            yield SourceEdge(f"{KIND}::{local_id(origin)}", f"{KIND}::{local_id(target)}", edge_type, f"edge {number}")

    def _node(self, row: int) -> SourceNode:
        corpus = self._corpus
        text = corpus.text(row)
        first, second, *_ = text.split()
        return SourceNode(
            kind=KIND,
            local_id=local_id(row),
            text=text,
            origin=f"row {row}",
            path=f"src/part{row // _FILES_A_FOLDER}/file{row}.py",
            start_line=1,
            end_line=10,
            symbol=f"{first}_{second}",
            language=LANGUAGE,
            collection_id=corpus.value(RANDOM, row),
            case_id=corpus.value(CLUSTERED, row),
            access=StatedAccess(clearance_level=int(corpus.policy_classes[row])),
            vector=tuple(corpus.vectors[row].tolist()),
        )


class Stages:
    """Progress that shows nothing and keeps the seconds of each stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str, unit: str, price: float = 0.0) -> Iterator[Callable[[int, int], None]]:
        started = time.perf_counter()
        yield lambda done, total: None
        self.seconds[name] = time.perf_counter() - started


def write_source(file: Path, corpus: Corpus) -> None:
    """Writes the nodes and edges of a corpus as JSONL, without vectors."""
    with file.open("w", encoding="utf-8") as stream:
        for record in SyntheticSource(corpus).read():
            plain = replace(record, vector=None) if isinstance(record, SourceNode) else record
            stream.write(jsonl_line(plain) + "\n")


def ensure_index(corpus: Corpus) -> Path:
    """The data folder next to the corpus with its index built and active; one of another format is built anew.

    How long that took is kept for later runs. Raises IngestError.
    """
    data = corpus.folder / "data"
    if not _usable(data):
        shutil.rmtree(data, ignore_errors=True)
        stages = Stages()
        build_index(SyntheticSource(corpus), BuildOptions(data, SCOPE, embedder=None), stages)
        (corpus.folder / "built.json").write_text(json.dumps(stages.seconds), encoding="utf-8")
    return data


def build_seconds(corpus: Corpus) -> float:
    """How long the index next to the corpus took to build."""
    return float(sum(json.loads((corpus.folder / "built.json").read_text(encoding="utf-8")).values()))


def _usable(data: Path) -> bool:
    store = IndexStore(data)
    if not data.is_dir() or store.active(SCOPE) != SCOPE.active_index:
        return False
    try:
        LoadedIndex(store.directory(SCOPE))
    except IndexDamagedError:
        return False
    return True


def local_id(row: int) -> str:
    """Local ids sort as their rows do."""
    return f"n{row:08d}"


def node_id(row: int) -> str:
    """A row's canonical id."""
    return f"{SCOPE.repository}::{SCOPE.branch}::{KIND}::{local_id(row)}"
