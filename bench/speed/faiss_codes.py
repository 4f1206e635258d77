"""FAISS's own codes of vectors as the first stage of a semantic search: what docs/adr/0041 compares with ours.

Both are made without training, since what is trained on rows would let hidden rows change an answer: the scalar
quantiser has a fixed range, RaBitQ a fixed centre, and the vectors are rotated by the fixed rotation of the index.
"""

from collections.abc import Callable, Mapping

import faiss
import numpy as np
from numpy.typing import NDArray

from groundwire_index.vectors.rotation import rotated

_RANGE = 6.0
"""Components beyond so many root mean squares are cut off by the scalar quantiser."""
_ROWS_A_BLOCK = 50_000
PROPOSED = 1_000
"""How many rows are proposed; all of them would then be scored."""

Propose = Callable[[NDArray[np.bool_], NDArray[np.float64]], NDArray[np.int64]]
"""The rows proposed among those of a mask [n] for a unit query [dimension]."""


def faiss_codes(vectors: NDArray[np.float32]) -> Mapping[str, Propose]:
    """What proposes rows of unit vectors [n, dimension], by name."""
    faiss.omp_set_num_threads(1)  # as the paths that it is compared with
    dimension = vectors.shape[1]
    largest = np.float32(_RANGE / np.sqrt(dimension))
    ends = np.stack([np.full(dimension, -largest), np.full(dimension, largest)])
    quantiser = faiss.IndexScalarQuantizer(dimension, faiss.ScalarQuantizer.QT_8bit_uniform, faiss.METRIC_INNER_PRODUCT)
    quantiser.train(ends)
    rabitq = faiss.IndexRaBitQ(dimension, faiss.METRIC_INNER_PRODUCT)
    rabitq.train(np.zeros((2, dimension), dtype=np.float32))
    for start in range(0, len(vectors), _ROWS_A_BLOCK):
        components = rotated(vectors[start : start + _ROWS_A_BLOCK]).astype(np.float32)
        quantiser.add(components.clip(-largest, largest))
        rabitq.add(components)
    of_four_bits = faiss.RaBitQSearchParameters()
    of_four_bits.qb = 4
    return {
        "FAISS SQ8": _proposing(quantiser, faiss.SearchParameters()),
        "FAISS RaBitQ": _proposing(rabitq, of_four_bits),
    }


def _proposing(index: faiss.Index, parameters: faiss.SearchParameters) -> Propose:
    def propose(mask: NDArray[np.bool_], query: NDArray[np.float64]) -> NDArray[np.int64]:
        bits = np.packbits(mask, bitorder="little")
        parameters.sel = None if mask.all() else faiss.IDSelectorBitmap(len(mask), faiss.swig_ptr(bits))
        wanted = min(PROPOSED, int(np.count_nonzero(mask)))
        rows: NDArray[np.int64] = index.search(
            rotated(query[np.newaxis]).astype(np.float32), wanted, params=parameters
        )[1][0]
        return rows

    return propose
