"""From a built index to the collections of one version in Milvus."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from groundwire_index.milvus.dense_index import DenseIndex
from groundwire_index.milvus.document import VersionDocument
from groundwire_index.milvus.facts import fact_rows
from groundwire_index.milvus.publishing.classes import Classes, lengths_of, reference_length
from groundwire_index.milvus.publishing.edge_rows import edge_rows
from groundwire_index.milvus.publishing.fact_contents import facts
from groundwire_index.milvus.publishing.node_rows import NodeRows
from groundwire_index.milvus.publishing.writer import CollectionWriter
from groundwire_index.milvus.schema import (
    EDGES_SCHEMA,
    FACTS_SCHEMA,
    CollectionSchema,
    VersionCollections,
    nodes_schema,
)
from groundwire_index.milvus.store import MilvusStore
from groundwire_index.progress import Progress, ProgressCallback
from groundwire_index.store.errors import BuildRefusedError
from groundwire_index.store.loaded import LoadedIndex

Value = TypeVar("Value")

LEAST_DIMENSION = 2
"""Of vectors in Milvus."""
_ROWS_BETWEEN_REPORTS = 256


def publish(
    index: LoadedIndex,
    store: MilvusStore,
    collections: VersionCollections,
    progress: Progress,
    dense_index: DenseIndex | None = None,
) -> VersionDocument:
    """Copies an index into the collection of facts, which is empty, and the others, which are not there yet.

    `dense_index` is that of the vectors, FLAT unless given.
    Returns what the catalogue is to hold of it. Raises BuildRefusedError for an index that Milvus cannot hold, and
    StorageUnavailableError; then some of it is left.
    """
    space, count = index.manifest.vector_space, index.manifest.node_count
    dimension = None if space is None else space.dimension
    if dimension is not None and dimension < LEAST_DIMENSION:
        raise BuildRefusedError(
            f"Milvus holds vectors of at least {LEAST_DIMENSION} dimensions; these have {dimension}"
        )
    dense_index = dense_index or DenseIndex()
    classes = Classes(index)
    fact_writer = CollectionWriter(store, FACTS_SCHEMA, collections.facts)

    def add_fact(key: str, content: str) -> None:
        for row in fact_rows(key, content, fact_writer.rows):
            fact_writer.add(row)

    with progress.stage("Publishing nodes") as report:
        nodes = _new(store, nodes_schema(dimension, dense_index), collections.nodes)
        for row in _reported(NodeRows(index, classes, add_fact), report, count):
            nodes.add(row)
        nodes_state = nodes.finish()
    with progress.stage("Publishing edges") as report:
        edges = _new(store, EDGES_SCHEMA, collections.edges)
        for row in _reported(edge_rows(index, classes.of_rows), report):
            edges.add(row)
        edges_state = edges.finish()
    with progress.stage("Publishing facts") as report:
        for fact in _reported(facts(index, classes.of_rows), report):
            add_fact(fact.key, fact.content)
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
    )


def _new(store: MilvusStore, schema: CollectionSchema, name: str) -> CollectionWriter:
    store.create(schema, name)
    return CollectionWriter(store, schema, name)


def _reported(values: Iterable[Value], report: ProgressCallback, total: int = 0) -> Iterator[Value]:
    """The values, counted as they pass; a total of 0 is unknown."""
    count = 0
    for count, value in enumerate(values, start=1):
        if count % _ROWS_BETWEEN_REPORTS == 0:
            report(count, total)
        yield value
    report(count, total)
