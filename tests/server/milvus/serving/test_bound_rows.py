"""What a caller with bounds sees when it is more than one answer of Milvus holds."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from groundwire_index.lexical.lexical import CODE, PROSE
from groundwire_index.nodes.node import Node, NodeAccess
from groundwire_index.nodes.reading_order import NO_DOCUMENT
from groundwire_index.scope import Scope
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.store.store import IndexStore
from groundwire_milvus.address import MilvusAddress
from groundwire_milvus.dense_index import DenseIndex
from groundwire_milvus.document import ClassCounts, CollectionState, VersionDocument
from groundwire_milvus.packing import hexed
from groundwire_milvus.rows import Rows
from groundwire_milvus.schema import UNUSED, UNUSED_VECTOR, CollectionSchema, VersionCollections, nodes_schema
from groundwire_milvus.serving.version import OpenVersion
from groundwire_milvus.serving.visibility import CallerVisibility
from groundwire_milvus.storage_errors import StorageUnavailableError
from groundwire_milvus.store import MOST_ROWS, MilvusStore
from groundwire_server.domain.access.access import Bounds
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.access.name_sets import Names
from support.milvus_server import MilvusServer

SCOPE = Scope("shop", "main", "v1")
FIELDS = ("row", "class", "document", "collection_id", "code_length", "prose_length", UNUSED)
SCHEMA = CollectionSchema("row", tuple(field for field in nodes_schema(None).fields if field.name in FIELDS))
COLLECTIONS = VersionCollections("0" * 20, "0" * 8)
ROWS = MOST_ROWS + 2_000
ROWS_BETWEEN_OTHERS = 20
ROWS_AT_A_TIME = 4_000
PATIENCE_SECONDS = 300


def red_caller(
    store: MilvusStore, folder: Path, publish: Callable[..., None], make_node: Callable[..., Node]
) -> CallerVisibility:
    """What a caller bound to the collection `red` sees of ROWS nodes of one class."""
    publish(folder, [make_node("A", "text", scope=SCOPE)], scope=SCOPE)
    manifest = LoadedIndex(IndexStore(folder).require(SCOPE)).manifest
    nothing = CollectionState(0, (), ())
    document = VersionDocument(
        manifest=replace(manifest, node_count=ROWS),
        policies=(NodeAccess(),),
        classes=(ClassCounts(0, False, ROWS, 0, 0, 0),),
        code_reference_length=1.0,
        prose_reference_length=1.0,
        dense_index=DenseIndex(),
        edges=(),
        documents=(),
        nodes_state=nothing,
        edges_state=nothing,
        facts_state=nothing,
    )
    bounds = Bounds(collections=Names(frozenset({"red"})))
    return CallerVisibility(OpenVersion(store, COLLECTIONS, document), np.asarray([True]), bounds)


def test_all_rows_within_the_bounds_are_counted(
    milvus: MilvusServer, tmp_path: Path, publish: Callable[..., None], make_node: Callable[..., Node]
) -> None:
    store = MilvusStore(milvus.address(milvus.new_database()))
    is_red = [row % ROWS_BETWEEN_OTHERS != 0 for row in range(ROWS)]
    store.create(SCHEMA, COLLECTIONS.nodes)
    for first in range(0, ROWS, ROWS_AT_A_TIME):
        numbers = range(first, min(first + ROWS_AT_A_TIME, ROWS))
        store.insert(
            SCHEMA,
            COLLECTIONS.nodes,
            [
                {
                    "row": row,
                    "class": 0,
                    "document": NO_DOCUMENT,
                    "collection_id": hexed("red" if is_red[row] else "blue"),
                    "code_length": row,
                    "prose_length": 1,
                    UNUSED: list(UNUSED_VECTOR),
                }
                for row in numbers
            ],
        )
    store.finish(SCHEMA, COLLECTIONS.nodes)
    seen = red_caller(store, tmp_path, publish, make_node).of(Lifecycle.ACTIVE)
    red = np.flatnonzero(is_red)
    assert seen.count == len(red) > MOST_ROWS
    assert seen.rows is not None
    assert seen.rows.rows.tolist() == red.tolist()
    assert (seen.words(CODE, ()).mean_length, seen.words(PROSE, ()).mean_length) == (red.sum() / len(red), 1.0)
    store.close()


class SlowStore(MilvusStore):
    """A store over nothing, which gives one row or fails once it may go on; counts how often rows are asked for."""

    def __init__(self) -> None:
        super().__init__(MilvusAddress("http://127.0.0.1:9"))
        self.reads_begun = threading.Semaphore(0)
        self.reads = 0
        self.fails = True
        self.go_on = threading.Event()

    def count(self, collection: str, expression: str = "", *, strong: bool = False) -> int:
        return 1

    def query(
        self,
        collection: str,
        expression: str,
        fields: Sequence[str],
        *,
        strong: bool = False,
        seconds: float | None = None,
    ) -> Rows:
        self.reads += 1
        self.reads_begun.release()
        assert self.go_on.wait(PATIENCE_SECONDS)
        if self.fails:
            raise StorageUnavailableError("away")
        return Rows([dict.fromkeys(fields, 0)])


def test_of_threads_that_ask_at_a_time_one_reads(
    tmp_path: Path, publish: Callable[..., None], make_node: Callable[..., Node]
) -> None:
    store = SlowStore()
    caller = red_caller(store, tmp_path, publish, make_node)
    with ThreadPoolExecutor(4) as threads:
        first = threads.submit(caller.of, Lifecycle.ACTIVE)
        assert store.reads_begun.acquire(timeout=PATIENCE_SECONDS)
        others = [threads.submit(caller.of, lifecycle) for lifecycle in Lifecycle]
        assert not caller.is_known
        store.go_on.set()
        with pytest.raises(StorageUnavailableError, match="away"):
            first.result(PATIENCE_SECONDS)
        wait(others, PATIENCE_SECONDS)
        assert not caller.is_known
        before, store.fails = store.reads, False
        store.go_on.clear()
        again = [threads.submit(caller.of, Lifecycle.ACTIVE) for _ in range(4)]
        assert store.reads_begun.acquire(timeout=PATIENCE_SECONDS)
        store.go_on.set()
        assert {future.result(PATIENCE_SECONDS).count for future in again} == {1}
    assert (store.reads, caller.is_known) == (before + 1, True)
