"""Versions in Milvus: which there are, which is active, and what is left of deleted ones."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from groundwire_index.index_errors import (
    BuildRefusedError,
    IndexDamagedError,
    VersionActiveError,
    VersionDeletedError,
    VersionNotFoundError,
)
from groundwire_index.nodes.node import NodeAccess
from groundwire_index.scope import Scope
from groundwire_ingest.records import StatedAccess
from groundwire_milvus import catalogue as catalogue_module
from groundwire_milvus import store as store_module
from groundwire_milvus.catalogue import SECONDS_REMEMBERED, Catalogue
from groundwire_milvus.entries import State, build_entry, entry_key
from groundwire_milvus.publishing import publish as publish_module
from groundwire_milvus.schema import CATALOGUE, version_key
from groundwire_milvus.storage import MilvusStorage
from groundwire_milvus.store import MilvusStore
from groundwire_milvus.verification import check_contents
from support.builds import RECORDS, V1, V2, node
from support.milvus_builds import build_in_milvus, new_catalogue
from support.milvus_server import MilvusServer

OTHER = Scope("x/größe", 'a "b', "v1")
UNPINNED = replace(V1, active_index="")


@pytest.fixture
def catalogue(milvus: MilvusServer) -> Iterator[Catalogue]:
    catalogue = new_catalogue(milvus)
    yield catalogue
    catalogue.store.close()


def test_a_milvus_without_a_catalogue_holds_nothing(catalogue: Catalogue) -> None:
    assert catalogue.versions() == []
    assert catalogue.active(V1) == ""
    assert catalogue.entry(V1) is None
    with pytest.raises(VersionNotFoundError, match="there is no index 'v1'"):
        catalogue.activate(V1)
    with pytest.raises(VersionNotFoundError):
        catalogue.delete(V1)


def test_versions_are_listed_and_one_of_each_scope_is_active(tmp_path: Path, catalogue: Catalogue) -> None:
    build_in_milvus(tmp_path, catalogue, RECORDS)
    build_in_milvus(tmp_path, catalogue, [node("a")], V2, activate=False)
    build_in_milvus(tmp_path, catalogue, [node("a")], OTHER)
    assert [entry.scope for entry in catalogue.versions()] == [V1, V2, OTHER]
    assert [entry.scope for entry in catalogue.versions(V1)] == [V1, V2]
    assert (catalogue.active(V1), catalogue.active(OTHER)) == ("v1", "v1")
    assert catalogue.activate(V2) == "v1"
    assert (catalogue.active(V1), catalogue.active(OTHER)) == ("v2", "v1")
    listed = MilvusStorage(tmp_path, catalogue).listed()
    assert [(entry.repository, entry.version, entry.active) for entry in listed] == [
        ("shop", "v1", False),
        ("shop", "v2", True),
        ("x/größe", "v1", True),
    ]
    assert [(entry.node_count, entry.edge_count, entry.embedder) for entry in listed] == [
        (3, 2, "hash"),
        (1, 0, "hash"),
        (1, 0, "hash"),
    ]


def test_another_server_sees_an_activation_once_it_asks_again(tmp_path: Path, catalogue: Catalogue) -> None:
    now = [0.0]
    reader = Catalogue(catalogue.store, clock=lambda: now[0])
    build_in_milvus(tmp_path, catalogue, [node("a")])
    assert reader.active(V1) == "v1"
    build_in_milvus(tmp_path, catalogue, [node("a")], V2)
    assert reader.active(V1) == "v1"
    now[0] += SECONDS_REMEMBERED
    assert reader.active(V1) == "v2"


def test_more_versions_than_one_answer_holds_are_all_listed(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (catalogue_module, store_module):
        monkeypatch.setattr(module, "MOST_ROWS", 4)
    catalogue.ensure()
    scopes = [Scope(f"team-{number:02}", "main", "v1") for number in range(40)]
    for scope in scopes:
        catalogue.write_entry(replace(build_entry(scope, "b"), key=entry_key(version_key(scope)), state=State.READY))
    assert [entry.scope for entry in catalogue.versions()] == scopes
    assert catalogue.scopes() == {replace(scope, active_index="") for scope in scopes}


def test_scopes_are_read_at_most_twice_a_second(tmp_path: Path, catalogue: Catalogue) -> None:
    now = [0.0]
    reader = Catalogue(catalogue.store, clock=lambda: now[0])
    assert reader.scopes() == set()
    build_in_milvus(tmp_path, catalogue, [node("a")])
    build_in_milvus(tmp_path, catalogue, [node("a")], V2)
    assert reader.scopes() == set(), "half a second is not over"
    now[0] += SECONDS_REMEMBERED
    assert reader.scopes() == {UNPINNED}
    build_in_milvus(tmp_path, catalogue, [node("a")], OTHER, activate=False)
    assert reader.scopes() == {UNPINNED}
    reader.activate(OTHER)
    assert reader.scopes() == {UNPINNED, replace(OTHER, active_index="")}, "what is activated here is known at once"


def test_a_name_is_not_used_twice(tmp_path: Path, catalogue: Catalogue) -> None:
    build_in_milvus(tmp_path, catalogue, [node("a")], activate=False)
    with pytest.raises(BuildRefusedError, match=r"version 'v1' .* exists in Milvus"):
        build_in_milvus(tmp_path, catalogue, [node("a")])
    catalogue.delete(V1)
    with pytest.raises(BuildRefusedError, match=r"version 'v1' .* was deleted in Milvus"):
        build_in_milvus(tmp_path, catalogue, [node("a")])


def test_a_deleted_version_leaves_its_policies_alone(tmp_path: Path, catalogue: Catalogue) -> None:
    # So many policies that document and tombstone take several parts of the catalogue each.
    access = [StatedAccess("t", (f"tag-{number}",) * 3, (), 0) for number in range(1_200)]
    records = [node(f"a/{number}", "", access=stated_access) for number, stated_access in enumerate(access)]
    build_in_milvus(tmp_path, catalogue, records, activate=False)
    entry = catalogue.require(V1)
    assert entry.parts > 1
    policies = catalogue.policies(entry)
    assert NodeAccess("t", ("tag-7",)) in policies
    catalogue.delete(V1)
    with pytest.raises(VersionDeletedError, match="'v1' was deleted"):
        catalogue.require(V1)
    with pytest.raises(VersionDeletedError):
        catalogue.activate(V1)
    with pytest.raises(VersionDeletedError):
        catalogue.delete(V1)
    tombstone = catalogue.entry(V1)
    assert tombstone is not None
    assert (tombstone.state, catalogue.policies(tombstone)) == (State.DELETED, policies)
    assert catalogue.versions() == []
    assert catalogue.store.collections() == [CATALOGUE]
    assert catalogue.store.count(CATALOGUE, strong=True) == 1 + tombstone.parts


def test_the_active_version_is_not_deleted(tmp_path: Path, catalogue: Catalogue) -> None:
    build_in_milvus(tmp_path, catalogue, [node("a")])
    with pytest.raises(VersionActiveError, match="'v1' is active; activate another first"):
        catalogue.delete(V1)
    catalogue.verify(V1)


def test_a_version_that_lacks_rows_is_damaged(tmp_path: Path, catalogue: Catalogue) -> None:
    build_in_milvus(tmp_path, catalogue, RECORDS, activate=False)
    nodes = catalogue.require(V1).collections.nodes
    catalogue.store.delete_rows(nodes, "row in [1]")
    with pytest.raises(IndexDamagedError, match=r"nodes: has 2 rows; the catalogue says 3"):
        catalogue.activate(V1)
    assert catalogue.active(V1) == ""
    assert "has 2 rows" in MilvusStorage(tmp_path, catalogue).listed()[0].damage
    catalogue.store.drop(nodes)
    with pytest.raises(IndexDamagedError, match="nodes: is missing in Milvus"):
        catalogue.verify(V1)
    catalogue.delete(V1)


@pytest.mark.parametrize("collection", ["nodes", "edges", "facts"])
def test_a_row_of_another_content_is_found_by_its_checksum(
    tmp_path: Path, catalogue: Catalogue, collection: str
) -> None:
    build_in_milvus(tmp_path, catalogue, RECORDS)
    catalogue.verify(V1)
    entry = catalogue.require(V1)
    name = getattr(entry.collections, collection)
    number = "row" if collection == "nodes" else "number"
    (row,) = catalogue.store.query(name, f"{number} in [1]", ["*"])
    field = "label" if collection == "nodes" else "content"
    catalogue.store.upsert(name, [{**row, field: row[field] + "A"}])
    with pytest.raises(IndexDamagedError, match=f"{collection}: its content does not match"):
        catalogue.verify(V1)


def test_a_sample_reads_some_pages_and_finds_damage_in_them(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish_module, "ROWS_A_BATCH", 1)
    build_in_milvus(tmp_path, catalogue, [node(str(number)) for number in range(12)])
    entry = catalogue.require(V1)
    document, name = catalogue.document(entry), entry.collections.nodes
    assert document.nodes_state.pages == tuple(range(12))
    progress: list[tuple[int, int]] = []
    check_contents(catalogue.store, entry.collections, document, lambda *done: progress.append(done), most_pages=5)
    few = sum(min(5, len(state.pages)) for state in (document.nodes_state, document.edges_state, document.facts_state))
    assert progress[-1] == (few, few)
    rows = list(catalogue.store.query(name, "row >= 0", ["*"]))
    catalogue.store.upsert(name, [{**row, "label": row["label"] + "A"} for row in rows[:8]])
    with pytest.raises(IndexDamagedError, match="nodes: its content does not match"):  # 4 of 12 pages are sound
        check_contents(catalogue.store, entry.collections, document, most_pages=5)
    catalogue.store.delete_rows(name, "row in [3]")
    with pytest.raises(IndexDamagedError, match="has 11 rows; the catalogue says 12"):
        check_contents(catalogue.store, entry.collections, document, most_pages=1)


def test_a_document_that_lacks_a_part_is_damaged(tmp_path: Path, catalogue: Catalogue) -> None:
    build_in_milvus(tmp_path, catalogue, [node("a")])
    entry = catalogue.require(V1)
    with pytest.raises(IndexDamagedError, match="lacks parts of index 'v1'"):
        catalogue.document(replace(entry, parts=3))
    content = catalogue.document(entry).to_content()
    for damaged, has_policies in (
        (content.replace('"node_count":1', '"node_count":2'), True),
        ("{}", False),
        ("", False),
    ):
        (part,) = entry.part_rows([damaged])
        catalogue.store.upsert(CATALOGUE, [part])
        with pytest.raises(IndexDamagedError, match="does not match its checksum"):
            catalogue.document(entry)
        assert bool(catalogue.policies(entry)) is has_policies


class Meanwhile(MilvusStore):
    """A store that lets something else happen once, just before the first request of a kind."""

    happens: Callable[[], object] | None = None

    def _meanwhile(self) -> None:
        happens, self.happens = self.happens, None
        if happens is not None:
            happens()

    def move_alias(self, alias: str, collection: str) -> None:
        self._meanwhile()
        super().move_alias(alias, collection)

    def upsert(self, collection: str, rows: Sequence[Mapping[str, object]]) -> None:
        self._meanwhile()
        super().upsert(collection, rows)


@pytest.mark.parametrize("before", ["", "v2"])
@pytest.mark.parametrize("gone", [True, False], ids=["gone", "going"])
def test_a_version_that_is_deleted_while_it_is_activated_is_not_active(
    tmp_path: Path, catalogue: Catalogue, before: str, gone: bool
) -> None:
    build_in_milvus(tmp_path, catalogue, [node("a")], activate=False)
    build_in_milvus(tmp_path, catalogue, [node("a")], V2, activate=bool(before))
    store = Meanwhile(catalogue.store.address)
    deleted = replace(catalogue.require(V1), state=State.DELETED)
    store.happens = lambda: catalogue.delete(V1) if gone else catalogue.write_entry(deleted)
    activating = Catalogue(store)
    with pytest.raises(VersionDeletedError):
        activating.activate(V1)
    assert activating.active(V1) == before
    store.close()


def test_a_version_that_is_activated_while_it_is_deleted_stays(tmp_path: Path, catalogue: Catalogue) -> None:
    build_in_milvus(tmp_path, catalogue, RECORDS, activate=False)
    store = Meanwhile(catalogue.store.address)
    store.happens = lambda: catalogue.activate(V1)
    with pytest.raises(VersionActiveError):
        Catalogue(store).delete(V1)
    assert catalogue.active(V1) == "v1"
    catalogue.verify(V1)
    store.close()
