"""The vectors of an index: a FAISS flat inner-product index, mapped, with one unit vector a row."""

from pathlib import Path

import faiss
import numpy as np
from numpy.typing import NDArray

from groundwire_server.index.errors import IndexDamagedError
from groundwire_server.index.files import map_array, write_array

VECTORS_FILE = "vectors.faiss"
PRESENT_FILE = "vectors.present.bin"


def write_vectors(directory: Path, vectors: NDArray[np.float32], present: NDArray[np.bool_]) -> None:
    """Writes vectors [n, dimension] of unit length, and for each row whether it has one (a text may be empty)."""
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors, dtype=np.float32))
    faiss.write_index(index, str(directory / VECTORS_FILE))
    write_array(directory / PRESENT_FILE, present)


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
        self._index = index
        self.rows: NDArray[np.float32] = faiss.rev_swig_ptr(index.get_xb(), count * dimension).reshape(count, dimension)
        self.present = map_array(directory / PRESENT_FILE, np.bool_, (count,))

    def scan(
        self, query: NDArray[np.float32], mask: NDArray[np.bool_], width: int
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """FAISS's own top `width` inner products with a query [dimension] among the rows of a mask [n].

        Approximate in the last bits and in no defined order among ties; at most `width` scores, descending, and rows.
        """
        bits = np.packbits(mask, bitorder="little")
        parameters = faiss.SearchParameters(sel=faiss.IDSelectorBitmap(bits))  # type: ignore[call-arg, arg-type]
        scores, rows = self._index.search(query[np.newaxis, :], width, params=parameters)
        # Selectors are not trusted: what they let through is checked against the mask again.
        admitted = (rows[0] >= 0) & mask[rows[0]]
        return scores[0][admitted], rows[0][admitted]
