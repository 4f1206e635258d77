"""Reads what the collections of a version hold, and checks that it is what was written."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from random import SystemRandom
from typing import Any

import numpy as np

from groundwire_index.index_errors import IndexDamagedError
from groundwire_milvus.document import CollectionState, VersionDocument
from groundwire_milvus.packing import SPARSE_ENTRY, packed_sparse
from groundwire_milvus.rows import Rows, SparseVector
from groundwire_milvus.schema import (
    EDGES_SCHEMA,
    FACTS_SCHEMA,
    CollectionSchema,
    Field,
    FieldKind,
    VersionCollections,
    nodes_schema,
)
from groundwire_milvus.storage_errors import CollectionMissingError
from groundwire_milvus.store import MilvusStore


def page_checksum(schema: CollectionSchema, rows: Iterable[Mapping[str, Any]]) -> str:
    """The SHA-256 of rows of one collection, one after the other: of each field the length of its bytes, and these.

    Sparse vectors are as they are written, or as they are read.
    """
    page = list(rows)
    columns = [_contents(field, [row[field.name] for row in page]) for field in schema.fields]
    return hashlib.sha256(b"".join(chain.from_iterable(zip(*columns, strict=True)))).hexdigest()


def _contents(field: Field, values: Sequence[Any]) -> list[bytes]:
    """The bytes of each value, after their length."""
    match field.kind:
        case FieldKind.INTEGER:
            pairs = np.full((len(values), 2), 8, dtype="<i8")
            pairs[:, 1] = values
            return [pair.tobytes() for pair in pairs]
        case FieldKind.FLAG:
            contents = [bytes([bool(value)]) for value in values]
        case FieldKind.STRING:
            contents = [value.encode() for value in values]
        case FieldKind.DIGESTS:
            contents = ["\0".join(value).encode() for value in values]
        case FieldKind.DENSE:
            contents = [np.asarray(value, dtype="<f4").tobytes() for value in values]
        case FieldKind.SPARSE:
            contents = list(map(_sparse_contents, values))
    return [len(content).to_bytes(8, "little") + content for content in contents]


def _sparse_contents(vector: bytes | SparseVector) -> bytes:
    entries = np.frombuffer(vector if isinstance(vector, bytes) else packed_sparse(vector), dtype=SPARSE_ENTRY)
    return entries["dimension"].tobytes() + entries["value"].tobytes()


def pages(
    store: MilvusStore,
    collection: str,
    order: str,
    state: CollectionState,
    fields: Sequence[str],
    numbers: Sequence[int] | None = None,
) -> Iterator[Rows]:
    """Some fields of all rows in the order of the field `order`, which is read as well; `numbers` for some pages only.

    As much is read at a time as was written at a time.
    Raises IndexDamagedError where a row lacks, StorageUnavailableError and CollectionMissingError.
    """
    wanted = sorted({order, *fields})
    for number in range(len(state.pages)) if numbers is None else numbers:
        span = state.span(number)
        expression = f"{order} >= {span.start} and {order} < {span.stop}"
        page_rows = store.query(collection, expression, wanted, seconds=store.address.writing_seconds)
        page = page_rows.in_order(order, span)
        if len(page) != len(span):
            raise IndexDamagedError(f"{collection}: lacks {len(span) - len(page):,} of its rows from {span.start:,} on")
        yield page


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
            stored_rows = store.count(name, strong=True)
        except CollectionMissingError as error:
            raise IndexDamagedError(f"{name}: is missing in Milvus") from error
        if stored_rows != state.rows:
            raise IndexDamagedError(f"{name}: has {stored_rows:,} rows; the catalogue says {state.rows:,}")


def check_contents(
    store: MilvusStore,
    collections: VersionCollections,
    document: VersionDocument,
    report: Callable[[int, int], None] = lambda done, total: None,
    most_pages: int | None = None,
) -> None:
    """Counts the rows, and compares the checksum of each page, or of `most_pages` of each collection, drawn at random.

    Raises IndexDamagedError. Tells `report` of rows done, and all.
    """
    check_counts(store, collections, document)
    drawn = [
        (name, schema, state, _drawn(len(state.pages), most_pages))
        for name, schema, state in states_of(collections, document)
    ]
    total, done = sum(len(state.span(number)) for _, _, state, numbers in drawn for number in numbers), 0
    for name, schema, state, numbers in drawn:
        read = pages(store, name, schema.order, state, schema.names, numbers)
        for number, page in zip(numbers, read, strict=True):
            if page_checksum(schema, page) != state.checksums[number]:
                place = f"from row {state.pages[number]:,} on"
                raise IndexDamagedError(f"{name}: its content does not match the catalogue's checksum, {place}")
            done += len(page)
            report(done, total)


def _drawn(count: int, most: int | None) -> Sequence[int]:
    return range(count) if most is None or count <= most else sorted(SystemRandom().sample(range(count), most))
