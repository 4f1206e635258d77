"""The files of an index that are published whole, for exact search and edges between repositories."""

import io
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from groundwire_index.nodes.source_texts import SOURCE_FILES
from groundwire_index.repository_edges.ends import ENDS_FILE
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.store.manifest import FileEntry
from groundwire_milvus.whole_files import (
    CLASS_NUMBER,
    CLASSES_FILE,
    ENDS_ROWS_FILE,
    ROW_NUMBER,
    column_entry,
    file_facts,
)


class PublishedFiles:
    """Source texts, ends if the index has some, and the columns that they are read with."""

    def __init__(self, index: LoadedIndex, classes: NDArray[np.int32]) -> None:
        """`classes` [n] is the class of each node. Raises IndexDamagedError when the ends are damaged."""
        self._directory = index.directory
        names = {*SOURCE_FILES, ENDS_FILE}
        self._stored = [entry for entry in index.manifest.files if entry.name in names]
        self._columns: dict[str, NDArray[np.integer]] = {CLASSES_FILE: classes.astype(CLASS_NUMBER)}
        if any(entry.name == ENDS_FILE for entry in self._stored):
            row_by_key = index.ends.row_by_key
            rows = [row_by_key.get(key, -1) for key in index.ends.ends.keys]
            self._columns[ENDS_ROWS_FILE] = np.asarray(rows, dtype=ROW_NUMBER)

    def facts(self) -> Iterator[tuple[str, str]]:
        """The facts of all files: the key and the content of each."""
        for entry in self._stored:
            with (self._directory / entry.name).open("rb") as file:
                yield from file_facts(entry.name, file)
        for name, column in self._columns.items():
            yield from file_facts(name, io.BytesIO(column.tobytes()))

    def entries(self) -> tuple[FileEntry, ...]:
        """The entries of all files."""
        return *self._stored, *(column_entry(name, column) for name, column in self._columns.items())
