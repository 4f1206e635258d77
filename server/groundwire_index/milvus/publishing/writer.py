"""Writes the rows of a collection in batches, and notes what it must hold after that."""

from collections.abc import Mapping

from groundwire_index.milvus.checksum import RowChecksum
from groundwire_index.milvus.document import CollectionState
from groundwire_index.milvus.schema import CollectionSchema
from groundwire_index.milvus.store import MilvusStore

BYTES_A_BATCH = 4 << 20
ROWS_A_BATCH = 2_000


class CollectionWriter:
    """Fills a new collection, row after row in the order of their numbers, which count from 0."""

    def __init__(self, store: MilvusStore, schema: CollectionSchema, name: str) -> None:
        self._store = store
        self._schema = schema
        self._name = name
        self._checksum = RowChecksum(schema)
        self._batch: list[Mapping[str, object]] = []
        self._bytes = 0
        self._pages: list[int] = []
        self.rows = 0

    def add(self, row: Mapping[str, object]) -> None:
        """Writes the next row, at the latest with the end. Raises StorageUnavailableError."""
        if not self._batch:
            self._pages.append(self.rows)
        self._batch.append(row)
        self._bytes += self._checksum.add(row)
        self.rows += 1
        if self._bytes >= BYTES_A_BATCH or len(self._batch) >= ROWS_A_BATCH:
            self._write()

    def finish(self) -> CollectionState:
        """Writes what is left, and makes the collection readable. Raises StorageUnavailableError."""
        self._write()
        self._store.finish(self._schema, self._name)
        return CollectionState(self.rows, self._checksum.hexdigest(), tuple(self._pages))

    def _write(self) -> None:
        if self._batch:
            self._store.insert(self._name, self._batch)
            self._batch, self._bytes = [], 0
