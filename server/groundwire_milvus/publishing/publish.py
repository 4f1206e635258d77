"""From a built index to the collections of one version in Milvus."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sized
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from groundwire_index.index_errors import BuildRefusedError
from groundwire_index.progress import Progress, ProgressCallback
from groundwire_index.store.loaded import LoadedIndex
from groundwire_milvus.dense_index import EXACT, DenseIndex
from groundwire_milvus.document import CollectionState, VersionDocument
from groundwire_milvus.facts import fact_rows
from groundwire_milvus.packing import EDGE, EDGES_A_CHUNK, INCOMING, OUTGOING, chunk_key, near_keys, packed_edges
from groundwire_milvus.publishing.classes import Classes, lengths_of, reference_length
from groundwire_milvus.publishing.fact_contents import facts
from groundwire_milvus.publishing.node_rows import NodeRows
from groundwire_milvus.publishing.published_files import PublishedFiles
from groundwire_milvus.schema import (
    DIGEST_LENGTH,
    EDGES_SCHEMA,
    FACTS_SCHEMA,
    UNUSED,
    UNUSED_VECTOR,
    CollectionSchema,
    FieldKind,
    VersionCollections,
    nodes_schema,
)
from groundwire_milvus.store import MilvusStore
from groundwire_milvus.verification import page_checksum

ROWS_A_BLOCK = 1 << 18
"""Rows whose edges are gathered at once, for which all edges are read."""


def edge_rows(index: LoadedIndex, classes: NDArray[np.int32]) -> Iterator[dict[str, object]]:
    """The rows, in order of node and direction; `classes` [n] is the class of each node."""
    number = 0
    for first in range(0, index.manifest.node_count, ROWS_A_BLOCK):
        near, edges = _of_rows(index, classes, first, first + ROWS_A_BLOCK)
        starts = np.concatenate(([0], np.flatnonzero(np.diff(near)) + 1, [len(near)]))
        for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            for chunk, place in enumerate(range(start, end, EDGES_A_CHUNK)):
                yield {
                    "key": chunk_key(int(near[start]), chunk),
                    "number": number,
                    "near": int(near[start]),
                    "content": packed_edges(edges[place : min(place + EDGES_A_CHUNK, end)]),
                    UNUSED: list(UNUSED_VECTOR),
                }
                number += 1


def _of_rows(
    index: LoadedIndex, classes: NDArray[np.int32], first: int, end: int
) -> tuple[NDArray[np.int64], NDArray[np.void]]:
    """The near ends [m] and edges [m] of the rows from `first` up to `end`, by (near end, type, far end)."""
    nears: list[NDArray[np.int64]] = []
    sides: list[NDArray[np.void]] = []
    for direction, near, far in (
        (OUTGOING, index.edges.from_rows, index.edges.to_rows),
        (INCOMING, index.edges.to_rows, index.edges.from_rows),
    ):
        positions = np.flatnonzero((near >= first) & (near < end))
        side = np.empty(len(positions), dtype=EDGE)
        side["type"] = index.edges.types.take(positions)
        side["far"] = far.take(positions)
        side["confidence"] = index.edges.confidences.take(positions)
        side["line"] = index.edges.lines.take(positions)
        side["far_class"] = classes.take(side["far"])
        side["position"] = positions
        nears.append(near_keys(near.take(positions), direction))
        sides.append(side)
    ends, edges = np.concatenate(nears), np.concatenate(sides)
    order = np.lexsort((edges["far"], edges["type"], ends))
    return ends.take(order), edges.take(order)


BYTES_A_BATCH = 4 << 20
ROWS_A_BATCH = 2_000
WRITES_AT_ONCE = 2
_ITEM_BYTES = {FieldKind.STRING: 1, FieldKind.DIGESTS: DIGEST_LENGTH, FieldKind.DENSE: 4, FieldKind.SPARSE: 1}
"""The bytes of an item of fields that have items; of characters that are not ASCII it is too few."""


class CollectionWriter:
    """Fills a new collection, row after row in the order of their numbers, which count from 0.

    Threads of the pool write while the next rows are made.
    """

    def __init__(self, store: MilvusStore, schema: CollectionSchema, name: str, pool: Executor) -> None:
        self._store = store
        self._schema = schema
        self._name = name
        self._pool = pool
        self._lengths = [(field.name, _ITEM_BYTES[field.kind]) for field in schema.fields if field.kind in _ITEM_BYTES]
        self._batch: list[Mapping[str, object]] = []
        self._bytes = 0
        self._pages: list[int] = []
        self._checksums: list[str] = []
        self._writing: deque[Future[None]] = deque()
        self.rows = 0

    def add(self, row: Mapping[str, object]) -> None:
        """Writes the next row, at the latest with the end. Raises StorageUnavailableError."""
        if not self._batch:
            self._pages.append(self.rows)
        self._batch.append(row)
        self._bytes += sum(len(cast("Sized", row[name])) * size for name, size in self._lengths)
        self.rows += 1
        if self._bytes >= BYTES_A_BATCH or len(self._batch) >= ROWS_A_BATCH:
            self._write()

    def finish(self) -> CollectionState:
        """Writes what is left, and makes the collection readable. Raises StorageUnavailableError."""
        if self._batch:
            self._write()
        for writing in self._writing:
            writing.result()
        self._store.finish(self._schema, self._name)
        return CollectionState(self.rows, tuple(self._pages), tuple(self._checksums))

    def _write(self) -> None:
        if len(self._writing) == WRITES_AT_ONCE:
            self._writing.popleft().result()
        self._writing.append(self._pool.submit(self._store.insert, self._schema, self._name, self._batch))
        self._checksums.append(page_checksum(self._schema, self._batch))
        self._batch, self._bytes = [], 0


Value = TypeVar("Value")

LEAST_DIMENSION = 2
"""Of vectors in Milvus."""
_ROWS_BETWEEN_REPORTS = 256


def publish(
    index: LoadedIndex,
    store: MilvusStore,
    collections: VersionCollections,
    progress: Progress,
    dense_index: DenseIndex = EXACT,
) -> VersionDocument:
    """Copies an index into the collection of facts, which is empty, and the others, which are not there yet.

    `dense_index` is that of the vectors. Returns what the catalogue is to hold of it. Raises BuildRefusedError for an
    index that Milvus cannot hold, and StorageUnavailableError; then some of it is left.
    """
    space, count = index.manifest.vector_space, index.manifest.node_count
    dimension = None if space is None else space.dimension
    if dimension is not None and dimension < LEAST_DIMENSION:
        raise BuildRefusedError(
            f"Milvus holds vectors of at least {LEAST_DIMENSION} dimensions; these have {dimension}"
        )
    classes = Classes(index)
    with ThreadPoolExecutor(WRITES_AT_ONCE, thread_name_prefix="groundwire-publish") as pool:
        fact_writer = CollectionWriter(store, FACTS_SCHEMA, collections.facts, pool)

        def add_fact(key: str, content: str) -> None:
            for row in fact_rows(key, content, fact_writer.rows):
                fact_writer.add(row)

        def filled(schema: CollectionSchema, name: str, rows: Iterable[Mapping[str, object]]) -> CollectionState:
            store.create(schema, name)
            writer = CollectionWriter(store, schema, name, pool)
            for row in rows:
                writer.add(row)
            return writer.finish()

        with progress.stage("Publishing nodes", "nodes") as report:
            nodes = _reported(NodeRows(index, classes, add_fact), report, count)
            nodes_state = filled(nodes_schema(dimension, dense_index), collections.nodes, nodes)
        with progress.stage("Publishing edges", "rows") as report:
            edges_state = filled(EDGES_SCHEMA, collections.edges, _reported(edge_rows(index, classes.of_rows), report))
        with progress.stage("Publishing facts", "facts") as report:
            for key, content in _reported(facts(index, classes.of_rows), report):
                add_fact(key, content)
        published_files = PublishedFiles(index, classes.of_rows)
        with progress.stage("Publishing source texts", "pieces") as report:
            for key, content in _reported(published_files.facts(), report):
                add_fact(key, content)
            facts_state = fact_writer.finish()
    return VersionDocument(
        manifest=replace(index.manifest, files=()),
        policies=index.policies.classes,
        classes=classes.counts(),
        code_reference_length=reference_length(lengths_of(index.lexical, count)),
        prose_reference_length=reference_length(lengths_of(index.prose, count)),
        dense_index=dense_index,
        edges=classes.edges(),
        documents=classes.documents(),
        nodes_state=nodes_state,
        edges_state=edges_state,
        facts_state=facts_state,
        files=published_files.entries(),
    )


def _reported(values: Iterable[Value], report: ProgressCallback, total: int = 0) -> Iterator[Value]:
    """The values, counted as they pass; a total of 0 is unknown."""
    count = 0
    for count, value in enumerate(values, start=1):
        if count % _ROWS_BETWEEN_REPORTS == 0:
            report(count, total)
        yield value
    report(count, total)
