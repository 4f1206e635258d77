"""The vectors of an index and their codes: a mapped FAISS flat inner-product index with one unit vector per row."""

from functools import cached_property
from pathlib import Path

import faiss
import numpy as np
from numpy.typing import NDArray

from groundwire_index.store.errors import IndexDamagedError
from groundwire_index.store.files import map_array
from groundwire_index.vectors.vector_codes import map_codes
from groundwire_index.vectors.vector_file import PRESENT_FILE, VECTORS_FILE


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
