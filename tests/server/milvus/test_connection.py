"""What the store promises, over a server that runs."""

import os
import uuid
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from groundwire_milvus.address import MilvusAddress
from groundwire_milvus.facts import fact_rows
from groundwire_milvus.packing import packed_sparse
from groundwire_milvus.schema import FACTS_SCHEMA, CollectionSchema, Field, FieldKind
from groundwire_milvus.storage_errors import (
    AliasTakenError,
    CollectionMissingError,
    RefusedError,
    StorageUnavailableError,
)
from groundwire_milvus.store import MilvusStore
from support import programs
from support.milvus_server import MilvusServer, milvus_server

SCHEMA = CollectionSchema(
    "row",
    (
        Field("row", FieldKind.INTEGER),
        Field("word", FieldKind.STRING, 100),
        Field("flag", FieldKind.FLAG),
        Field("digests", FieldKind.DIGESTS, 4),
        Field("vector", FieldKind.DENSE, 2),
        Field("sparse", FieldKind.SPARSE),
    ),
)
ROWS: list[dict[str, object]] = [
    {"row": 0, "word": "61", "flag": True, "digests": [], "vector": [1.0, 0.0]},
    {"row": 1, "word": "6162", "flag": False, "digests": ["aa"], "vector": [0.0, 1.0]},
    {"row": 2, "word": "62", "flag": True, "digests": ["aa", "bb"], "vector": [0.6, 0.8]},
]
for row, vector in zip(ROWS, ({1: 0.5}, {7: 0.25, 2: 1.0}, {7: 2.0}), strict=True):
    row["sparse"] = packed_sparse(vector)


@pytest.fixture
def store(milvus: MilvusServer) -> Iterator[MilvusStore]:
    store = MilvusStore(milvus.address(milvus.new_database()))
    yield store
    store.close()


@pytest.fixture
def filled(store: MilvusStore) -> str:
    name = f"filled_{uuid.uuid4().hex}"
    store.create(SCHEMA, name)
    store.insert(SCHEMA, name, ROWS)
    store.finish(SCHEMA, name)
    return name


def test_rows_come_back_by_field_with_their_types(store: MilvusStore, filled: str) -> None:
    rows = store.query(filled, "row in [0,2,5]", SCHEMA.names).in_order("row", [2, 0, 5])
    assert rows.integers("row").tolist() == [2, 0]
    assert rows.strings("word") == ["62", "61"]
    assert rows.flags("flag").tolist() == [True, True]
    assert rows.digests("digests") == [["aa", "bb"], []]
    np.testing.assert_array_equal(rows.dense("vector", 2), np.asarray([[0.6, 0.8], [1, 0]], dtype=np.float32))
    assert [row["sparse"] for row in rows] == [{7: 2.0}, {1: 0.5}]


def test_facts_are_found_by_their_keys(store: MilvusStore) -> None:
    store.create(FACTS_SCHEMA, "facts")
    rows = [row for number in range(300) for row in fact_rows(f"t/{number}", f"fact {number}", number)]
    store.insert(FACTS_SCHEMA, "facts", rows)
    store.finish(FACTS_SCHEMA, "facts")
    numbers = [*range(299, -1, -1), 7]
    facts = store.by_keys("facts", ["t/absent", *(f"t/{number}" for number in numbers)], ["content"])
    assert facts.strings("content") == [f"fact {number}" for number in range(299, -1, -1)]
    assert len(store.by_keys("facts", ["t/absent"], ["content"])) == len(store.by_keys("facts", [], ["content"])) == 0


def test_expressions_choose_rows(store: MilvusStore, filled: str) -> None:
    for expression, expected in (
        ("", [0, 1, 2]),
        ('word like "61%"', [0, 1]),
        ('word in ["61","62"] and flag == true', [0, 2]),
        ('array_contains_any(digests, ["bb"])', [2]),
        ("row >= 1 and row < 2", [1]),
    ):
        assert sorted(store.query(filled, expression, ["row"]).integers("row").tolist()) == expected
        assert store.count(filled, expression, strong=True) == len(expected)


def test_a_search_gives_rows_and_inner_products(store: MilvusStore, filled: str) -> None:
    queries = np.asarray([[0.0, 1.0], [1.0, 0.0]], dtype=np.float32)
    first, second = store.search(filled, "vector", queries, 2)
    assert (first.rows.tolist(), second.rows.tolist()) == ([1, 2], [0, 2])
    np.testing.assert_allclose(first.scores, [1.0, 0.8], atol=1e-6)
    (some,) = store.search(filled, "vector", queries[:1], 3, "flag == true")
    assert some.rows.tolist() == [2, 0]


def test_a_sparse_search_finds_only_what_shares_a_dimension(store: MilvusStore, filled: str) -> None:
    matches, none = store.search(filled, "sparse", [{7: 2.0}, {4_000_000_000: 1.0}], 10)
    assert matches.rows.tolist() == [2, 1]
    assert matches.scores.tolist() == [4.0, 0.5]
    assert none.rows.tolist() == []


def test_an_alias_belongs_to_one_collection_and_moves_in_one_step(store: MilvusStore, filled: str) -> None:
    store.create(SCHEMA, "other")
    assert store.alias_target("mine") is None
    store.create_alias("mine", filled)
    with pytest.raises(AliasTakenError, match="mine"):
        store.create_alias("mine", "other")
    assert store.alias_target("mine") == filled
    store.move_alias("mine", "other")
    assert store.alias_target("mine") == "other"
    store.drop_alias("mine")
    store.drop_alias("mine")
    assert store.alias_target("mine") is None


def test_rows_are_replaced_and_removed(store: MilvusStore, filled: str) -> None:
    store.upsert(filled, [{**ROWS[0], "word": "7a", "sparse": {1: 0.5}}])
    store.delete_rows(filled, "row in [1]")
    rows = store.query(filled, "", ["row", "word"], strong=True).in_order("row", [0, 1, 2])
    assert rows.strings("word") == ["7a", "62"]


def test_a_dropped_collection_is_missing(store: MilvusStore, filled: str) -> None:
    store.drop(filled)
    assert store.collections() == []
    assert not store.has(filled)
    with pytest.raises(CollectionMissingError, match=filled):
        store.query(filled, "row in [1]", ["row"])


def test_what_milvus_refuses_is_told_on_one_line(store: MilvusStore, filled: str) -> None:
    with pytest.raises(StorageUnavailableError, match=r"Milvus: .*code") as caught:
        store.query(filled, "nothing == 1", ["row"])
    assert "\n" not in str(caught.value)


class UnloadingStore(MilvusStore):
    """A store whose collections are unloaded again the first times that they have been loaded."""

    loads, unloads = 0, 2

    def load(self, collection: str) -> None:
        """Loads a collection, perhaps in vain."""
        super().load(collection)
        self.loads += 1
        if self.loads <= self.unloads:
            self.unload(collection)

    def unload(self, collection: str) -> None:
        """Lets a collection not be loaded."""
        self.write(lambda client, limit: client.release_collection(collection, timeout=limit))


def test_a_collection_that_is_unloaded_again_before_it_is_asked_is_loaded_again(
    store: MilvusStore, filled: str
) -> None:
    unloading = UnloadingStore(store.address)
    unloading.unload(filled)
    assert unloading.query(filled, "row in [1]", ["word"]).strings("word") == ["6162"]
    assert unloading.loads == 1 + unloading.unloads
    unloading.close()


class NeverLoadingStore(MilvusStore):
    """A store whose collections stay unloaded."""

    def load(self, collection: str) -> None:
        """Loads nothing."""


def test_a_collection_that_stays_unloaded_is_told_once_loading_has_taken_too_long(
    store: MilvusStore, filled: str
) -> None:
    store.write(lambda client, limit: client.release_collection(filled, timeout=limit))
    never = NeverLoadingStore(replace(store.address, writing_seconds=0.1))
    with pytest.raises(RefusedError) as caught:
        never.query(filled, "row in [1]", ["word"])
    assert caught.value.code == 101
    never.close()


def test_loading_pymilvus_changes_neither_the_environment_nor_the_log(
    store: MilvusStore, filled: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CollectionMissingError):
        store.query("missing", "row in [1]", ["row"])
    assert capfd.readouterr() == ("", "")
    assert "PYTHON_DOTENV_DISABLED" not in os.environ


def test_pymilvus_is_loaded_only_when_milvus_is_asked() -> None:
    ended = programs.run("milvus_missing")
    assert (ended.returncode, ended.stdout) == (2, "[]\n")
    assert ended.stderr == 'error: pymilvus is not installed; pip install "groundwire[server,milvus]"\n'


@pytest.mark.slow
def test_a_server_that_is_away_is_told_within_the_time_and_served_again_after() -> None:
    with milvus_server() as server:
        store = MilvusStore(server.address(seconds=60))
        hasty = MilvusStore(MilvusAddress(server.uri, token="root:SECRET", seconds=0.2))
        hasty.check()
        store.create(SCHEMA, "kept")
        store.insert(SCHEMA, "kept", ROWS)
        store.finish(SCHEMA, "kept")
        server.stop()
        with pytest.raises(StorageUnavailableError):
            hasty.query("kept", "row in [1]", ["row"])
        server.resume()
        server.kill()
        with pytest.raises(StorageUnavailableError) as caught:
            hasty.query("kept", "row in [1]", ["row"])
        assert "SECRET" not in f"{caught.value}{hasty.address}"
        with pytest.raises(StorageUnavailableError):
            MilvusStore(hasty.address).check()
        server.start()
        # After a restart the collection is not loaded.
        assert store.query("kept", "row in [1]", ["word"]).strings("word") == ["6162"]
