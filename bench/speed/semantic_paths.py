"""Costs of the paths of a semantic search by the number of visible rows; `MEASURED` in the backend is based on it.

The baseline of the ratios is a search of FAISS over the vectors themselves, in single precision, of the same rows.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import faiss
import numpy as np
from numpy.typing import NDArray

from bench.shared.results import ABSENT, Grid
from bench.speed.corpus import ANSWERS, Corpus
from bench.speed.index import SCOPE, ensure_index
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.store.store import IndexStore
from groundwire_index.vectors.vector_file import VECTORS_FILE
from groundwire_index.vectors.vectors import VectorTable
from groundwire_server.backends.embedded.retrievers.semantic import MEASURED, Nearest, PathLimits, rank_by_similarity
from groundwire_server.query_embedding.query_vectors import unit_vector

_Found = TypeVar("_Found")
VISIBLE = (64, 256, 1_024, 4_096, 16_384, 50_000, 200_000, 1_000_000)
_MOST_SCORED = 16_384
"""Above this number of rows, scoring each row is too slow to be an option."""
_PATHS = {
    "each row's score": PathLimits(direct_rows=1 << 40, exact_rows=1 << 40, bands=()),
    "bytes": PathLimits(direct_rows=0, exact_rows=1 << 40, bands=()),
    "signs": PathLimits(direct_rows=0, exact_rows=0, bands=MEASURED.bands),
}


def measure_paths(corpus: Corpus, queries: int) -> Grid:
    """Median milliseconds of processor time on one thread, and recall@10 of the last path. Raises IngestError."""
    faiss.omp_set_num_threads(1)  # as in a server
    directory = IndexStore(ensure_index(corpus)).directory(SCOPE)
    vectors = LoadedIndex(directory).vectors
    assert vectors is not None
    flat = faiss.read_index(str(directory / VECTORS_FILE), faiss.IO_FLAG_MMAP_IFC)
    units = [unit_vector(np.asarray(vector)) for vector in corpus.query_vectors[:queries]]
    rows = []
    for visible in [count for count in VISIBLE if count < len(corpus)] + [len(corpus)]:
        for layout, mask in _masks(len(corpus), visible):
            rows.append([f"{visible:,} {layout}", *_cells(vectors, flat, units, mask, visible)])
    headings = ["visible rows", "vectors", *(f"{name} (ratio)" for name in _PATHS), f"recall@{ANSWERS}"]
    return Grid(f"Paths of a semantic search, ms of CPU: {len(corpus):,} nodes", headings, rows)


def _masks(count: int, visible: int) -> list[tuple[str, NDArray[np.bool_]]]:
    if visible == count:
        return [("(all)", np.ones(count, dtype=np.bool_))]
    apart, together = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
    apart[np.random.default_rng(1).choice(count, visible, replace=False)] = True
    together[:visible] = True
    return [("far apart", apart), ("in one piece", together)]


def _cells(
    vectors: VectorTable,
    flat: faiss.Index,
    queries: Sequence[NDArray[np.float64]],
    mask: NDArray[np.bool_],
    visible: int,
) -> list[str]:
    _, base = _timed(partial(_flat_search, flat, mask), queries)
    cells = [f"{base:.3f}"]
    found: dict[str, list[set[int]]] = {}
    for name, limits in _PATHS.items():
        if limits.direct_rows and visible > _MOST_SCORED:
            cells.append(ABSENT)
            continue
        nearest, spent = _timed(partial(_nearest, vectors, mask, limits), queries)
        found[name] = [{*one.hits.rows.tolist()} for one in nearest]
        cells.append(f"{spent:.3f} ({spent / base:.2f})")
    _, exact, likely = _PATHS
    recalls = [len(a & b) / len(a) for a, b in zip(found[exact], found[likely], strict=True)]
    return [*cells, f"{np.mean(recalls):.3f}"]


def _nearest(vectors: VectorTable, mask: NDArray[np.bool_], limits: PathLimits, query: NDArray[np.float64]) -> Nearest:
    return rank_by_similarity(vectors, query, mask, ANSWERS, limits)


def _flat_search(flat: faiss.Index, mask: NDArray[np.bool_], query: NDArray[np.float64]) -> None:
    bitmap = np.packbits(mask, bitorder="little")
    parameters = faiss.SearchParameters()
    parameters.sel = faiss.IDSelectorBitmap(len(bitmap), faiss.swig_ptr(bitmap))
    flat.search(query.astype(np.float32)[np.newaxis], ANSWERS, params=parameters)


def _timed(
    search: Callable[[NDArray[np.float64]], _Found], queries: Sequence[NDArray[np.float64]]
) -> tuple[list[_Found], float]:
    """The result of each query, and the median milliseconds of processor time."""
    search(queries[0])  # loads pages
    found, spent = [], []
    for query in queries:
        started = time.thread_time()
        found.append(search(query))
        spent.append(1_000.0 * (time.thread_time() - started))
    return found, float(np.median(spent))
