"""Nodes of a source on disk until their index is written: memory has only their positions."""

import hashlib
import pickle
import shutil
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from groundwire_index.repository_edges.ends import ENDS_FILE, Ends, write_ends
from groundwire_ingest.records import SourceNode

_NODES_FILE = "nodes.pickled"
_PLACES_FILE = "nodes.places.npy"
_TEXTS_FILE = "texts.utf8"
ROWS_A_SPAN = 1_024
"""On average: more of them make tables slower to merge, larger ones take longer to make again."""


_COPIED_BYTES = 1 << 20
"""How much of a file is copied at once."""


class NodeSpool:
    """A file of nodes that is being filled, in a folder of its own, numbered as they come. A context manager."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._file = (directory / _NODES_FILE).open("w+b")
        self._ends, self._digests = array("q", [0]), bytearray()

    def __enter__(self) -> "NodeSpool":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def append(self, node: SourceNode) -> int:
        """Writes a node; returns its number."""
        content = pickle.dumps(node, pickle.HIGHEST_PROTOCOL)
        self._ends.append(self._ends[-1] + self._file.write(content))
        self._digests += hashlib.blake2b(content, digest_size=16).digest()
        return len(self._ends) - 2

    def append_copies(self, file: BinaryIO, start: int, ends: NDArray[np.int64], digests: NDArray[np.int64]) -> None:
        """Copies nodes that follow each other in a file as `append` wrote them.

        Args:
            file: The file.
            start: Where the first of them begins.
            ends: Where each of them ends [m].
            digests: Their digests [m, 2].
        """
        self._ends.frombytes((ends - start + self._ends[-1]).tobytes())
        self._digests += digests.tobytes()
        file.seek(start)
        end = int(ends[-1])
        for position in range(start, end, _COPIED_BYTES):
            self._file.write(file.read(min(_COPIED_BYTES, end - position)))

    def read(self, number: int) -> SourceNode:
        """A node that was written."""
        self._file.flush()
        return next(_read(self._directory, [self._ends[number]], [self._ends[number + 1]]))

    def finish(self, order: NDArray[np.integer]) -> "SpooledNodes":
        """The nodes in an order of their numbers."""
        self._file.flush()
        ends, digests = np.asarray(self._ends), np.frombuffer(self._digests, dtype=np.int64).reshape(-1, 2)
        np.save(self._directory / _PLACES_FILE, np.stack((ends[order], ends[1:][order], *digests[order].T)))
        return SpooledNodes(self._directory, len(order))


class TextSpool:
    """A file of the texts of files that is being filled, in the folder of the nodes. A context manager."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / _TEXTS_FILE
        self._file = self._path.open("wb")
        self._places: dict[str, tuple[int, int]] = {}

    def __enter__(self) -> "TextSpool":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def append(self, path: str, text: str) -> None:
        """Writes the text of the file at a path."""
        self.append_encoded(path, text.encode())

    def append_encoded(self, path: str, content: bytes) -> None:
        """The same for a text in UTF-8."""
        self._places[path] = (self._file.tell(), self._file.write(content))

    def finish(self) -> "SpooledTexts":
        """The texts that were written."""
        self._file.flush()
        return SpooledTexts(self._path, self._places)


@dataclass(frozen=True, slots=True)
class SpooledTexts(Mapping[str, str]):
    """The texts of files by path, on disk; `places` have the offset and the size of each in bytes."""

    file: Path
    places: Mapping[str, tuple[int, int]]

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    @classmethod
    def in_folder(cls, directory: Path, places: Mapping[str, tuple[int, int]]) -> "SpooledTexts":
        """The texts that were moved to a folder."""
        return cls(directory / _TEXTS_FILE, places)

    def moved_to(self, directory: Path) -> "SpooledTexts":
        """The same in another folder of the file system."""
        return SpooledTexts(self.file.rename(directory / self.file.name), self.places)

    def with_texts(self, texts: Mapping[str, str], directory: Path) -> "SpooledTexts":
        """A copy in another folder, with other texts at some paths; nothing of those before is in it."""
        with self.file.open("rb") as file, TextSpool(directory) as spool:
            for path, (offset, size) in self.places.items():
                if path in texts:
                    spool.append(path, texts[path])
                else:
                    file.seek(offset)
                    spool.append_encoded(path, file.read(size))
            return spool.finish()

    def __getitem__(self, path: str) -> str:
        offset, size = self.places[path]
        with self.file.open("rb") as file:
            file.seek(offset)
            return file.read(size).decode()


@dataclass(frozen=True, slots=True)
class SpooledEnds:
    """The ends of edges to other trees, in a folder, as an index has them: without a file if there are none."""

    directory: Path

    @classmethod
    def written(cls, ends: Ends, directory: Path) -> "SpooledEnds":
        """Writes ends into a folder."""
        write_ends(directory, ends)
        return cls(directory)

    @property
    def files(self) -> tuple[Path, ...]:
        """The file, if there is one."""
        file = self.directory / ENDS_FILE
        return (file,) if file.exists() else ()

    def copy_to(self, directory: Path) -> None:
        """Copies them into another folder."""
        for file in self.files:
            shutil.copyfile(file, directory / file.name)

    def moved_to(self, directory: Path) -> "SpooledEnds":
        """The same in another folder of the file system."""
        for file in self.files:
            file.rename(directory / file.name)
        return SpooledEnds(directory)


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
        starts, ends = self._places[:2, np.fromiter(rows, dtype=np.int64)].tolist()
        return _read(self.directory, starts, ends)

    def spans(self, most_bytes: int) -> list[range]:
        """All rows as ranges of about `most_bytes` on disk or less.

        They end where the content of a node says so, and those without a changed node are those of an earlier build.
        """
        passed = np.concatenate(([0], np.cumsum(self._places[1] - self._places[0])))
        cuts = [0, *(np.flatnonzero(self._places[2] % ROWS_A_SPAN == 0) + 1).tolist(), self.count]
        for first, last in pairwise(cuts[:]):
            size = passed[last] - passed[first]
            count = min(last - first, -int(-size // most_bytes))
            cuts += np.searchsorted(passed, passed[first] + size * np.arange(1, count) / count).tolist()
        return [range(first, last) for first, last in pairwise(sorted({*cuts}))]

    def digest(self, rows: range) -> bytes:
        """A hash of the nodes of some rows."""
        return hashlib.blake2b(self._places[2:, rows.start : rows.stop].tobytes(), digest_size=16).digest()

    @property
    def files(self) -> tuple[Path, Path]:
        """The nodes, and their places among them."""
        return self.directory / _NODES_FILE, self.directory / _PLACES_FILE

    def moved_to(self, directory: Path) -> "SpooledNodes":
        """The same in another folder of the file system."""
        for file in self.files:
            file.rename(directory / file.name)
        return SpooledNodes(directory, self.count)

    def with_nodes(self, nodes: Mapping[int, SourceNode], directory: Path) -> "SpooledNodes":
        """A copy in another folder, with other nodes in some rows; nothing of those before is in it."""
        starts, ends, *_ = self._places
        digests = self._places[2:].T
        is_replaced = np.zeros(self.count, dtype=np.bool_)
        is_replaced[list(nodes)] = True
        # Nodes that stay are copied together as far as they follow each other on disk.
        begins_copy = is_replaced[1:] | is_replaced[:-1] | (starts[1:] != ends[:-1])
        with self.files[0].open("rb") as file, NodeSpool(directory) as spool:
            for row, following in pairwise([0, *(np.flatnonzero(begins_copy) + 1).tolist(), self.count]):
                if row in nodes:
                    spool.append(nodes[row])
                else:
                    spool.append_copies(file, int(starts[row]), ends[row:following], digests[row:following])
            return spool.finish(np.arange(self.count))

    def discard(self) -> None:
        """Removes them from the disk; they cannot be read afterwards."""
        (self.directory / _NODES_FILE).unlink()

    def byte_count(self, rows: range) -> int:
        """The bytes on disk of the nodes of some rows."""
        return int((self._places[1] - self._places[0])[rows.start : rows.stop].sum())

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
