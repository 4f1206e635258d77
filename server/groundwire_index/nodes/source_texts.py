"""The texts of the files that nodes come from, whole, and which node holds each line: what exact search reads.

All files are one UTF-8 blob, sorted by path, and each line of it ends with a line feed. The lines of a file are divided
into runs. The lines of a run belong to one node, so whoever may see the node may see them. A node whose file has no
text of its own, as in a source of records, is a file by itself.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_index.files.durable_files import map_array, write_array
from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.nodes.node_table import NodeTable
from groundwire_index.nodes.source_signatures import SIGNATURES_FILE, BlockSignatures, open_signatures, write_signatures

_CONTENT, _STARTS, _NUMBERS = "sources.utf8", "sources.starts.bin", "sources.numbers.bin"
SOURCE_FILES = (_CONTENT, _STARTS, _NUMBERS, SIGNATURES_FILE)
"""The files that `open_source_texts` opens."""
_COLUMNS = ("rows", "first_lines", "files", "paths")
_UNKNOWN_PATH = np.iinfo(np.int32).min
"""What is added to the row of a node without a path, to make a number of its own before those of paths."""


@dataclass(frozen=True, slots=True, eq=False)
class SourceRuns:
    """Runs of lines [m], sorted by path and line.

    Attributes:
        content: The blob of all files.
        signatures: Those of the blocks of `content`.
        starts: Where in `content` each run begins, in bytes.
        ends: Where each run ends, behind its last line feed.
        rows: The node that holds the lines of each run.
        first_lines: The number of each run's first line in its file, 1-based.
        files: A number for each run that is the same for the runs of one file, ascending.
        paths: The same for the runs of one path, which has several files where nodes overlap.
    """

    content: memoryview
    signatures: BlockSignatures
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    rows: NDArray[np.int32]
    first_lines: NDArray[np.int32]
    files: NDArray[np.int32]
    paths: NDArray[np.int32]

    def selected(self, is_selected: NDArray[np.bool_]) -> "SourceRuns":
        """The runs whose rows are selected; `is_selected` [rows] is by row."""
        if is_selected.all():
            return self
        kept = np.flatnonzero(is_selected.take(self.rows))
        return SourceRuns(
            self.content,
            self.signatures,
            self.starts.take(kept),
            self.ends.take(kept),
            self.rows.take(kept),
            self.first_lines.take(kept),
            self.files.take(kept),
            self.paths.take(kept),
        )


def write_source_texts(directory: Path, nodes: NodeTable, texts: Mapping[str, str]) -> None:
    """Writes the files of an index; `texts` has the text of each file that has one, by path."""
    ends: list[NDArray[np.int64]] = [np.zeros(1, dtype=np.int64)]
    numbers: list[NDArray[np.int32]] = [np.zeros((len(_COLUMNS), 0), dtype=np.int32)]
    with (directory / _CONTENT).open("wb") as file:
        for number, lines in enumerate(_files(nodes, texts)):
            runs = lines.runs()
            of_file, of_path = np.full((2, len(runs.rows)), ((number,), (lines.path,)))
            numbers.append(np.stack((runs.rows, runs.first_lines, of_file, of_path)).astype(np.int32))
            ends.append(file.tell() + runs.ends)
            file.write(runs.content)
    write_array(directory / _STARTS, np.concatenate(ends))
    write_array(directory / _NUMBERS, np.concatenate(numbers, axis=1))
    write_signatures(directory, map_array(directory / _CONTENT, np.uint8, (None,)))


def open_source_texts(directory: Path) -> SourceRuns:
    """All runs of an index, mapped. Raises IndexDamagedError."""
    starts = map_array(directory / _STARTS, np.int64, (None,), least=1)
    numbers = map_array(directory / _NUMBERS, np.int32, (len(_COLUMNS), len(starts) - 1))
    content = map_array(directory / _CONTENT, np.uint8, (None,))
    if starts[0] != 0 or starts[-1] != len(content):
        raise IndexDamagedError(f"{_CONTENT}: has {len(content)} bytes; its runs end at {starts[-1]}")
    return SourceRuns(content.data, open_signatures(directory, len(content)), starts[:-1], starts[1:], *numbers)


@dataclass(frozen=True, slots=True, eq=False)
class _FileRuns:
    """The runs of one file [m]: its content, where each run ends in it, and its row and first line."""

    content: bytes
    ends: NDArray[np.int64]
    rows: NDArray[np.int64]
    first_lines: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _NodeLines:
    """A node and its lines in its file, both ends included; 0 where they are unknown."""

    row: int
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class _FileLines:
    """A file: the number of its path, its text, its nodes in the order of their lines, and the text's first line."""

    path: int
    text: str
    nodes: tuple[_NodeLines, ...]
    first_line: int = 1

    def runs(self) -> _FileRuns:
        """The runs of the file.

        A line belongs to the innermost node around it, which is the one with the fewest lines. A line that no node is
        around belongs to the first node of the file.
        """
        content = self.text.replace("\r\n", "\n").encode()
        if not content.endswith(b"\n"):
            content += b"\n"
        line_ends = np.flatnonzero(np.frombuffer(content, dtype=np.uint8) == ord("\n")) + 1
        owners = np.full(len(line_ends), self.nodes[0].row, dtype=np.int64)
        # An inner node is written over those around it. Of nodes of the same lines the first one in the index counts.
        for node in sorted(self.nodes, key=lambda node: (node.start_line - node.end_line, -node.row)):
            if node.start_line > 0:
                owners[node.start_line - self.first_line : node.end_line - self.first_line + 1] = node.row
        last_lines = np.append(np.flatnonzero(owners[1:] != owners[:-1]), len(owners) - 1)
        first_lines = np.concatenate(([0], last_lines[:-1] + 1))
        return _FileRuns(content, line_ends[last_lines], owners[last_lines], self.first_line + first_lines)


def _files(nodes: NodeTable, texts: Mapping[str, str]) -> Iterator[_FileLines]:
    """The files of an index by path; nodes of a file without a text follow each other by their lines."""
    paths = nodes.categories["path"]
    start_lines, end_lines = nodes.numbers["start_line"], nodes.numbers["end_line"]
    in_order = np.lexsort((np.arange(len(paths.codes)), start_lines, paths.codes))
    codes = paths.codes.take(in_order)
    borders = [*np.flatnonzero(np.diff(codes, prepend=-1)).tolist(), len(codes)]
    for first, behind_last in pairwise(borders):
        code, rows = int(codes[first]), in_order[first:behind_last]
        columns = rows.tolist(), start_lines.take(rows).tolist(), end_lines.take(rows).tolist()
        nodes_of_path = tuple(map(_NodeLines, *columns))
        path = paths.values[code]
        text = texts.get(path)
        if text is not None:
            yield _FileLines(code, text, nodes_of_path)
            continue
        for node in nodes_of_path:
            if nodes.texts.byte_length(node.row):
                number = code if path else _UNKNOWN_PATH + node.row
                alone = (_NodeLines(node.row, 0, 0),)
                yield _FileLines(number, nodes.texts[node.row], alone, max(1, node.start_line))
