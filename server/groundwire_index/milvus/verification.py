"""Reads what the collections of a version hold, and checks that it is what was written."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import SystemRandom
from typing import Any

import numpy as np

from groundwire_index.milvus.document import CollectionState, VersionDocument
from groundwire_index.milvus.errors import CollectionMissingError
from groundwire_index.milvus.rows import Rows
from groundwire_index.milvus.schema import (
    EDGES_SCHEMA,
    FACTS_SCHEMA,
    CollectionSchema,
    Field,
    FieldKind,
    VersionCollections,
    nodes_schema,
)
from groundwire_index.milvus.store import MilvusStore
from groundwire_index.store.errors import IndexDamagedError


class RowChecksum:
    """The SHA-256 of rows of one collection, one after the other."""

    def __init__(self, schema: CollectionSchema) -> None:
        self._fields = schema.fields
        self._sha256 = hashlib.sha256()

    def add(self, row: Mapping[str, Any]) -> int:
        """Adds the next row; returns how many bytes it has, about."""
        contents = [_bytes_of(field, row[field.name]) for field in self._fields]
        self._sha256.update(b"".join(part for own in contents for part in (len(own).to_bytes(8, "little"), own)))
        return sum(map(len, contents))

    def hexdigest(self) -> str:
        """The checksum of all rows so far."""
        return self._sha256.hexdigest()


def _bytes_of(field: Field, value: Any) -> bytes:  # noqa: ANN401 - a value of any field
    match field.kind:
        case FieldKind.INTEGER:
            return int(value).to_bytes(8, "little", signed=True)
        case FieldKind.FLAG:
            return bytes([bool(value)])
        case FieldKind.STRING:
            return str(value).encode()
        case FieldKind.DIGESTS:
            return "\0".join(value).encode()
        case FieldKind.DENSE:
            return np.asarray(value, dtype="<f4").tobytes()
        case FieldKind.SPARSE:
            dimensions = sorted(value)
            values = [value[dimension] for dimension in dimensions]
            return np.asarray(dimensions, dtype="<u4").tobytes() + np.asarray(values, dtype="<f4").tobytes()


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
        found = store.query(collection, expression, wanted, seconds=store.address.writing_seconds)
        page = found.in_order(order, span)
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
            checksum = RowChecksum(schema)
            for row in page:
                checksum.add(row)
            if checksum.hexdigest() != state.checksums[number]:
                place = f"from row {state.pages[number]:,} on"
                raise IndexDamagedError(f"{name}: its content does not match the catalogue's checksum, {place}")
            done += len(page)
            report(done, total)


def _drawn(count: int, most: int | None) -> Sequence[int]:
    return range(count) if most is None or count <= most else sorted(SystemRandom().sample(range(count), most))
