"""Nodes of a source on disk until their index is written: memory has only their positions."""

import pickle
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_ingest.records import SourceNode

_NODES_FILE = "nodes.pickled"
_PLACES_FILE = "nodes.places.npy"


class NodeSpool:
    """A file of nodes that is being filled, in a folder of its own, numbered as they come. A context manager."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._file = (directory / _NODES_FILE).open("w+b")
        self._ends = array("q", [0])

    def __enter__(self) -> "NodeSpool":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def append(self, node: SourceNode) -> int:
        """Writes a node; returns its number."""
        self._ends.append(self._ends[-1] + self._file.write(pickle.dumps(node, pickle.HIGHEST_PROTOCOL)))
        return len(self._ends) - 2

    def read(self, number: int) -> SourceNode:
        """A node that was written."""
        self._file.flush()
        return next(_read(self._directory, [self._ends[number]], [self._ends[number + 1]]))

    def finish(self, order: NDArray[np.integer]) -> "SpooledNodes":
        """The nodes in an order of their numbers."""
        self._file.flush()
        ends = np.asarray(self._ends)
        np.save(self._directory / _PLACES_FILE, np.stack((ends[order], ends[1:][order])))
        return SpooledNodes(self._directory, len(order))


@dataclass(frozen=True, slots=True)
class SpooledNodes:
    """Nodes on disk, in the order of their rows; holds no file open, and may be sent to another process."""

    directory: Path
    count: int

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[SourceNode]:
        return self.read(range(self.count))

    def read(self, rows: Iterable[int]) -> Iterator[SourceNode]:
        """The nodes of some rows, one at a time."""
        starts, ends = self._places[:, np.fromiter(rows, dtype=np.int64)].tolist()
        return _read(self.directory, starts, ends)

    def spans(self, most_bytes: int, least_spans: int) -> list[range]:
        """All rows as ranges of about equal size on disk, `most_bytes` or less, `least_spans` of them or more."""
        starts, ends = self._places
        passed = np.cumsum(ends - starts)
        count = min(self.count, max(least_spans, -int(-passed[-1] // most_bytes)))
        inner = np.searchsorted(passed, passed[-1] * np.arange(1, count) / count).tolist()
        cuts = list(dict.fromkeys([0, *inner, self.count]))
        return [range(first, last) for first, last in pairwise(cuts)]

    def discard(self) -> None:
        """Removes them from the disk; they cannot be read afterwards."""
        (self.directory / _NODES_FILE).unlink()

    @property
    def byte_count(self) -> int:
        """The bytes of the nodes on disk."""
        return (self.directory / _NODES_FILE).stat().st_size

    @property
    def _places(self) -> NDArray[np.int64]:
        places: NDArray[np.int64] = np.load(self.directory / _PLACES_FILE, mmap_mode="r")
        return places


def _read(directory: Path, starts: Iterable[int], ends: Iterable[int]) -> Iterator[SourceNode]:
    with (directory / _NODES_FILE).open("rb", buffering=0) as file:
        for start, end in zip(starts, ends, strict=True):
            file.seek(start)
            node: SourceNode = pickle.loads(file.read(end - start))
            yield node
