"""The requests to Milvus: rows, searches, collections, indexes and aliases, each with its types."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire_milvus.client import Client, insert_columns, milvus_indexes, milvus_schema
from groundwire_milvus.connection import MilvusConnection
from groundwire_milvus.rows import Key, Rows, SparseVector
from groundwire_milvus.schema import UNUSED, UNUSED_VECTOR, CollectionSchema
from groundwire_milvus.storage_errors import AliasTakenError, RefusedError, StorageUnavailableError

MOST_ROWS = 16_384
"""How many rows one request gives at most, which is a limit of Milvus."""
_COUNT = "count(*)"
_INDEXED, _NOT_INDEXED = "Finished", "Failed"
_PAUSES = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Seconds between two looks at an index that is being made."""
_ALIAS_MISSING = (100, 1600)
_NO_PARAMETERS: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Hits:
    """The result of one query vector, best first: primary keys [m] and inner products [m] in single precision."""

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]

    def rest(self, limit: int, size: int) -> float:
        """The score that no other row of a range of some size exceeds; -inf where all of them were found."""
        return -np.inf if len(self.rows) < limit or size <= limit else float(self.scores[-1])

    def contenders(self, count: int, factor: float, error: float) -> NDArray[np.int64]:
        """The rows that can be among the best `count` by exact scores.

        No exact score is above the product here times `factor` plus `error`, when none is below the product itself.
        """
        if len(self.rows) <= count:
            return self.rows
        contends: NDArray[np.bool_] = self.scores * factor + error >= self.scores[count - 1]
        return self.rows[contends]


class MilvusStore(MilvusConnection):
    """Everything that is asked of one database of a Milvus. Its methods raise as `MilvusConnection` says."""

    def query(
        self,
        collection: str,
        expression: str,
        fields: Sequence[str],
        *,
        strong: bool = False,
        seconds: float | None = None,
    ) -> Rows:
        """The fields of all rows that meet an expression, in no order. Of more than MOST_ROWS rows some lack.

        `strong` waits for everything that was written before; what never changes needs it not.
        """
        read_rows = self.ask_loaded(
            collection,
            lambda client, limit: client.query(
                collection,
                filter=expression,
                output_fields=list(fields),
                timeout=limit,
                **({} if list(fields) == [_COUNT] else {"limit": MOST_ROWS}),
                consistency_level=_consistency(strong),
            ),
            seconds,
        )
        return Rows(list(read_rows))

    def by_keys(self, collection: str, keys: Sequence[Key], fields: Sequence[str]) -> Rows:
        """The fields of edges or facts with these keys, in the order of the distinct keys; absent ones left out.

        Strings must need no escape, as those of `packing` do not. Asks once for up to MOST_ROWS keys.
        """
        distinct, wanted = list(dict.fromkeys(keys)), ("key", *fields)
        read_rows: list[Mapping[str, Any]] = []
        for start in range(0, len(distinct), MOST_ROWS):
            some = distinct[start : start + MOST_ROWS]
            read_rows += self.select(collection, UNUSED, len(UNUSED_VECTOR), among("key", some), len(some), wanted)
        return Rows(read_rows).in_order("key", distinct)

    def select(
        self, collection: str, vector: str, dimension: int, expression: str, count: int, fields: Sequence[str]
    ) -> Rows:
        """As `query`, for at most `count` rows, at most MOST_ROWS, of a collection with an exact index of `vector`.

        It is a search in which all scores are 0. For a query Milvus passes over all keys before the last that it finds.
        """
        (hits,) = self._found(collection, vector, [[0.0] * dimension], count, expression, fields)
        return Rows([hit["entity"] for hit in hits])

    def count(self, collection: str, expression: str = "", *, strong: bool = False) -> int:
        """How many rows meet an expression."""
        counted = self.query(collection, expression, [_COUNT], strong=strong)
        return int(counted.integers(_COUNT)[0])

    def search(
        self,
        collection: str,
        field_name: str,
        queries: NDArray[np.float32] | Sequence[SparseVector],
        limit: int,
        expression: str = "",
        parameters: Mapping[str, int] = _NO_PARAMETERS,
    ) -> list[Hits]:
        """For each query vector the `limit` rows of greatest inner product among those that pass.

        Of sparse vectors, rows that share no dimension with a query are not found. `parameters` are those of the index
        for a search; an index that is not exact may give others, and fewer.
        """
        if not len(queries) or limit <= 0:
            return [Hits(np.empty(0, dtype=np.int64), np.empty(0)) for _ in queries]
        hits_of_queries = self._found(collection, field_name, queries, limit, expression, (), parameters)
        return [
            Hits(np.asarray(hits.ids, dtype=np.int64), np.asarray(hits.distances, np.float64))
            for hits in hits_of_queries
        ]

    def _found(
        self,
        collection: str,
        field_name: str,
        queries: NDArray[np.float32] | Sequence[object],
        limit: int,
        expression: str,
        fields: Sequence[str],
        parameters: Mapping[str, int] = _NO_PARAMETERS,
    ) -> Client:
        """The hits of each query, with fields, as pymilvus tells them."""
        return self.ask_loaded(
            collection,
            lambda client, seconds: client.search(
                collection,
                data=list(queries),
                filter=expression,
                limit=limit,
                anns_field=field_name,
                output_fields=list(fields),
                search_params={"metric_type": "IP", "params": dict(parameters)},
                timeout=seconds,
                consistency_level=_consistency(strong=False),
            ),
        )

    def create(self, schema: CollectionSchema, name: str) -> None:
        """Makes an empty collection, which cannot be read until `finish` or `make_readable`. Its name must be new."""
        self.write(
            lambda client, limit: client.create_collection(
                name, schema=milvus_schema(schema), consistency_level="Bounded", timeout=limit
            )
        )

    def finish(self, schema: CollectionSchema, name: str) -> None:
        """Makes what was inserted durable and the collection readable."""
        self.write(lambda client, limit: client.flush(name, timeout=limit))
        self.make_readable(schema, name)

    def make_readable(self, schema: CollectionSchema, name: str) -> None:
        """Indexes a collection and loads it; nothing happens to one that is readable."""
        if not self.write(lambda client, limit: client.list_indexes(name, timeout=limit)):
            self.write(lambda client, limit: client.create_index(name, milvus_indexes(schema), limit, sync=False))
        self._wait_for_indexes(name)
        self.load(name)

    def _wait_for_indexes(self, name: str) -> None:
        """Waits until all that a collection holds is indexed; pymilvus itself would wait for ever."""
        deadline = time.monotonic() + self.address.writing_seconds
        indexes: list[str] = self.write(lambda client, limit: client.list_indexes(name, timeout=limit))
        for index in indexes:
            pauses = chain(_PAUSES, repeat(_PAUSES[-1]))
            while (state := self._index_state(name, index)) != _INDEXED:
                if state == _NOT_INDEXED or time.monotonic() > deadline:
                    raise StorageUnavailableError(f"Milvus does not index {name}: the index {index} is {state}")
                time.sleep(next(pauses))

    def _index_state(self, name: str, index: str) -> str:
        description = self.write(lambda client, limit: client.describe_index(name, index, timeout=limit))
        return str(description["state"])

    def insert(self, schema: CollectionSchema, collection: str, rows: Sequence[Mapping[str, object]]) -> None:
        """Writes new rows: their values by field. Of rows that have a key already it is not known what becomes."""
        self.write(lambda client, limit: insert_columns(client, schema, collection, rows, limit))

    def upsert(self, collection: str, rows: Sequence[Mapping[str, object]]) -> None:
        """Writes rows in place of those of the same keys."""
        self.ask_loaded(
            collection, lambda client, limit: client.upsert(collection, list(map(dict, rows)), timeout=limit)
        )

    def delete_rows(self, collection: str, expression: str) -> None:
        """Removes the rows that meet an expression."""
        self.ask_loaded(collection, lambda client, limit: client.delete(collection, filter=expression, timeout=limit))

    def drop(self, collection: str) -> None:
        """Removes a collection with everything in it; nothing happens where there is none."""
        self.write(lambda client, limit: client.drop_collection(collection, timeout=limit))

    def has(self, collection: str) -> bool:
        """True if there is such a collection or alias."""
        return bool(self.ask(lambda client, limit: client.has_collection(collection, timeout=limit)))

    def collections(self) -> list[str]:
        """The names of all collections, sorted."""
        return sorted(self.ask(lambda client, limit: client.list_collections(timeout=limit)))

    def alias_target(self, alias: str) -> str | None:
        """The collection that an alias names; None when there is no such alias."""
        try:
            description = self.ask(lambda client, limit: client.describe_alias(alias, timeout=limit))
        except RefusedError as error:
            if error.code in _ALIAS_MISSING:
                return None
            raise
        target: str | None = description.get("collection_name")
        return target or None

    def create_alias(self, alias: str, collection: str) -> None:
        """Gives a collection an alias that is free. Raises AliasTakenError; of two callers one succeeds."""
        try:
            self.ask_of(collection, lambda client, limit: client.create_alias(collection, alias, timeout=limit))
        except RefusedError as error:
            if self.alias_target(alias) in (None, collection):
                raise
            raise AliasTakenError(f"the alias {alias} belongs to another collection") from error

    def move_alias(self, alias: str, collection: str) -> None:
        """Moves an alias to another collection, in one step; creates it where there is none."""
        if self.alias_target(alias) is None:
            self.create_alias(alias, collection)
        else:
            self.ask_of(collection, lambda client, limit: client.alter_alias(collection, alias, timeout=limit))

    def drop_alias(self, alias: str) -> None:
        """Removes an alias; nothing happens where there is none."""
        if self.alias_target(alias) is not None:
            self.ask(lambda client, limit: client.drop_alias(alias, timeout=limit))


def among(field_name: str, values: Sequence[Key]) -> str:
    """The expression that a field has one of some values, which are not quoted: strings must need no escape."""
    listed = ",".join(f'"{value}"' if isinstance(value, str) else str(value) for value in values)
    return f"{field_name} in [{listed}]"


def _consistency(strong: bool) -> str:
    return "Strong" if strong else "Bounded"
