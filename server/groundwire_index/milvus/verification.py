"""Checks that the collections of a version hold what was written."""

from collections.abc import Callable

from groundwire_index.milvus.checksum import RowChecksum
from groundwire_index.milvus.document import CollectionState, VersionDocument
from groundwire_index.milvus.errors import CollectionMissingError
from groundwire_index.milvus.pages import pages
from groundwire_index.milvus.schema import (
    EDGES_SCHEMA,
    FACTS_SCHEMA,
    CollectionSchema,
    VersionCollections,
    nodes_schema,
)
from groundwire_index.milvus.store import MilvusStore
from groundwire_index.store.errors import IndexDamagedError


def states_of(
    collections: VersionCollections, document: VersionDocument
) -> list[tuple[str, CollectionSchema, CollectionState]]:
    """Name, schema and expected state of each collection of a version."""
    space = document.manifest.vector_space
    return [
        (collections.nodes, nodes_schema(None if space is None else space.dimension), document.nodes_state),
        (collections.edges, EDGES_SCHEMA, document.edges_state),
        (collections.facts, FACTS_SCHEMA, document.facts_state),
    ]


def check_counts(store: MilvusStore, collections: VersionCollections, document: VersionDocument) -> None:
    """Raises IndexDamagedError unless every collection is there with its number of rows."""
    for name, _, state in states_of(collections, document):
        try:
            found = store.count(name, strong=True)
        except CollectionMissingError as error:
            raise IndexDamagedError(f"{name}: is missing in Milvus") from error
        if found != state.rows:
            raise IndexDamagedError(f"{name}: has {found:,} rows; the catalogue says {state.rows:,}")


def check_contents(
    store: MilvusStore,
    collections: VersionCollections,
    document: VersionDocument,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Reads every row and compares the checksums. Raises IndexDamagedError. Tells `report` of rows done, and all."""
    check_counts(store, collections, document)
    states = states_of(collections, document)
    total, done = sum(state.rows for _, _, state in states), 0
    for name, schema, state in states:
        checksum = RowChecksum(schema)
        for page in pages(store, name, schema.order, state, schema.names):
            for row in page:
                checksum.add(row)
            done += len(page)
            report(done, total)
        if checksum.hexdigest() != state.sha256:
            raise IndexDamagedError(f"{name}: its content does not match the catalogue's checksum")
