"""The vectors of an index in a flat inner-product index of FAISS: written row by row, in any order, and then mapped."""

import os
import struct
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

import faiss
import numpy as np
from numpy.typing import NDArray

from groundwire_index.files.durable_files import map_array, write_array
from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.vectors.vector_codes import map_codes, write_codes

VECTORS_FILE = "vectors.faiss"
PRESENT_FILE = "vectors.present.bin"

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_HEADER = struct.Struct("<4siqqqBiQ")
_UNUSED = 1 << 20  # the value of two fields that the format no longer uses
_INNER_PRODUCT = 0


class VectorFile:
    """The vectors [count, dimension] of an index that is being written; rows that are never written have no vector.

    Use it as a context manager: at its end it writes which rows have a vector, and the codes of all vectors.
    """

    def __init__(self, directory: Path, count: int, dimension: int) -> None:
        self._directory = directory
        self._dimension = dimension
        self._present = np.zeros(count, dtype=np.bool_)
        self._descriptor = os.open(directory / VECTORS_FILE, _FLAGS, 0o644)
        header = _HEADER.pack(b"IxFI", dimension, count, _UNUSED, _UNUSED, True, _INNER_PRODUCT, count * dimension)
        self._write(header, 0)
        os.ftruncate(self._descriptor, self._place(count))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        os.close(self._descriptor)
        if error is None:
            write_array(self._directory / PRESENT_FILE, self._present)
            write_codes(self._directory, self._written())

    def put(self, rows: NDArray[np.integer], vectors: NDArray[np.float32]) -> None:
        """Writes unit vectors [m, dimension] to rows [m], which ascend; consecutive rows in one write."""
        cuts = np.flatnonzero(np.diff(rows) != 1) + 1
        for own_rows, own_vectors in zip(np.split(rows, cuts), np.split(vectors, cuts), strict=True):
            if len(own_rows):
                self._write(np.ascontiguousarray(own_vectors, dtype="<f4").tobytes(), self._place(int(own_rows[0])))
        self._present[rows] = True

    def _written(self) -> NDArray[np.float32]:
        """The vectors [count, dimension] in the file; those of rows without one are 0."""
        shape = (len(self._present), self._dimension)
        if 0 in shape:  # which cannot be mapped
            return np.zeros(shape, dtype=np.float32)
        return np.memmap(self._directory / VECTORS_FILE, np.float32, "r", _HEADER.size, shape)

    def _write(self, content: bytes, place: int) -> None:
        rest = memoryview(content)
        os.lseek(self._descriptor, place, os.SEEK_SET)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    def _place(self, row: int) -> int:
        return _HEADER.size + row * self._dimension * 4


class VectorTable:
    """The mapped vectors of an index. `rows` is [n, dimension] float32, a view of the mapped file."""

    def __init__(self, directory: Path, count: int, dimension: int) -> None:
        """Maps the vectors. Raises IndexDamagedError."""
        try:
            # IO_FLAG_MMAP alone would copy a flat index into memory.
            index = faiss.read_index(str(directory / VECTORS_FILE), faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError as error:
            raise IndexDamagedError(f"{VECTORS_FILE}: {error}") from error
        if not isinstance(index, faiss.IndexFlat) or (index.ntotal, index.d) != (count, dimension):
            raise IndexDamagedError(f"{VECTORS_FILE}: does not hold {count} flat vectors of dimension {dimension}")
        self._index = index  # holds the mapping
        self.rows: NDArray[np.float32] = faiss.rev_swig_ptr(index.get_xb(), count * dimension).reshape(count, dimension)
        self.present = map_array(directory / PRESENT_FILE, np.bool_, (count,))
        self.codes = map_codes(directory, count, dimension)

    @cached_property
    def complete(self) -> bool:
        """True when every row has a vector."""
        return bool(self.present.all())
