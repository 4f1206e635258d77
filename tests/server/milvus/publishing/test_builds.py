"""Builds that meet each other, die or lose Milvus: no version is ever half there, and nothing stays behind."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from groundwire_index.index_errors import BuildRefusedError, VersionNotFoundError
from groundwire_index.store.store import IndexStore
from groundwire_milvus.address import MilvusAddress
from groundwire_milvus.catalogue import Catalogue
from groundwire_milvus.entries import Entry, State, build_entry
from groundwire_milvus.publishing.claim import check_held, claimed, remove_leftovers
from groundwire_milvus.schema import CATALOGUE, EDGES_SCHEMA, FACTS_SCHEMA, building_alias
from groundwire_milvus.storage import MilvusStorage
from groundwire_milvus.storage_errors import StorageUnavailableError
from groundwire_milvus.store import MilvusStore
from support.builds import RECORDS, V1, V2, Stages, node
from support.milvus_builds import QUICK_BEATS, build_in_milvus, new_catalogue
from support.milvus_server import MilvusServer, milvus_server


@pytest.fixture
def catalogue(milvus: MilvusServer) -> Iterator[Catalogue]:
    catalogue = new_catalogue(milvus)
    yield catalogue
    catalogue.store.close()


def died(catalogue: Catalogue, *, number: str = "00000001", alias: bool = True) -> Entry:
    """What a build of V1 leaves in Milvus whose process was killed."""
    catalogue.ensure()
    build = build_entry(V1, number)
    catalogue.write_entry(build)
    for name, schema in ((build.collections.facts, FACTS_SCHEMA), (build.collections.edges, EDGES_SCHEMA)):
        catalogue.store.create(schema, name)
    if alias:
        catalogue.store.create_alias(building_alias(V1), build.collections.facts)
    return build


def only_versions_are_left(catalogue: Catalogue) -> None:
    collections = {name for entry in catalogue.versions() for name in entry.collections.all}
    assert set(catalogue.store.collections()) == {CATALOGUE, *collections}
    for scope in (V1, V2):
        assert catalogue.others(scope, State.BUILDING) == []
        assert catalogue.store.alias_target(building_alias(scope)) is None


def test_a_build_tells_how_far_it_is_and_leaves_no_files(tmp_path: Path, catalogue: Catalogue) -> None:
    stages = Stages()
    report = build_in_milvus(tmp_path, catalogue, RECORDS, stages=stages)
    assert (report.node_count, report.activated) == (3, True)
    published = ["nodes", "edges", "facts", "source texts"]
    assert list(stages.seen)[-6:] == [*(f"Publishing {name}" for name in published), "Verifying", "Activating"]
    document = catalogue.document(catalogue.require(V1))
    rows = document.nodes_state.rows + document.edges_state.rows + document.facts_state.rows
    assert stages.seen["Publishing nodes"] == (3, 3)
    assert stages.seen["Verifying"] == (rows, rows)
    assert IndexStore(tmp_path).versions(V1) == []
    assert [path.name for path in (tmp_path / "shop" / "main").iterdir() if path.is_dir()] == []
    only_versions_are_left(catalogue)


@pytest.mark.parametrize("failure", [RuntimeError("broken"), KeyboardInterrupt()])
def test_a_build_that_fails_leaves_nothing(tmp_path: Path, catalogue: Catalogue, failure: BaseException) -> None:
    with pytest.raises(type(failure)):
        build_in_milvus(tmp_path, catalogue, RECORDS, fails=failure)
    assert catalogue.versions() == []
    only_versions_are_left(catalogue)


def test_the_next_build_of_the_scope_removes_what_one_has_left_that_died(tmp_path: Path, catalogue: Catalogue) -> None:
    died(catalogue)
    died(catalogue, number="00000002", alias=False)
    assert catalogue.versions() == []
    build_in_milvus(tmp_path, catalogue, [node("a")], V2)
    assert [entry.scope for entry in catalogue.versions()] == [V2]
    only_versions_are_left(catalogue)


def test_a_version_whose_build_died_is_built_again(tmp_path: Path, catalogue: Catalogue) -> None:
    died(catalogue)
    build_in_milvus(tmp_path, catalogue, RECORDS)
    catalogue.verify(V1)
    only_versions_are_left(catalogue)


def test_what_a_build_left_that_died_as_it_ended_does_not_harm_the_version(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    build_in_milvus(tmp_path, catalogue, RECORDS)
    entry = catalogue.require(V1)
    catalogue.write_entry(build_entry(V1, entry.build))
    catalogue.store.create_alias(building_alias(V1), entry.collections.facts)
    build_in_milvus(tmp_path, catalogue, RECORDS, V2)
    catalogue.verify(V1)
    only_versions_are_left(catalogue)


def test_what_a_deletion_left_that_died_is_removed(tmp_path: Path, catalogue: Catalogue) -> None:
    build_in_milvus(tmp_path, catalogue, RECORDS, activate=False)
    entry = catalogue.require(V1)
    catalogue.delete(V1)
    catalogue.store.create(EDGES_SCHEMA, entry.collections.edges)
    build_in_milvus(tmp_path, catalogue, RECORDS, V2)
    only_versions_are_left(catalogue)


def test_a_build_asks_nothing_of_versions_that_were_deleted_long_ago(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_in_milvus(tmp_path, catalogue, [node("a")], activate=False)
    entry = catalogue.require(V1)
    catalogue.delete(V1)
    dropped: list[str] = []
    monkeypatch.setattr(catalogue.store, "drop", dropped.append)
    assert remove_leftovers(catalogue, V1, QUICK_BEATS) == []
    assert catalogue.others(V1, State.DELETED) == [replace(entry, state=State.DELETED, parts=1)]
    assert dropped == []


def test_deleting_a_version_whose_build_died_removes_what_it_left(tmp_path: Path, catalogue: Catalogue) -> None:
    died(catalogue)
    MilvusStorage(tmp_path, catalogue, seconds_between_beats=QUICK_BEATS).delete(V1)
    only_versions_are_left(catalogue)
    with pytest.raises(VersionNotFoundError):
        MilvusStorage(tmp_path, catalogue, seconds_between_beats=QUICK_BEATS).delete(V1)


def test_a_living_build_keeps_its_version_for_itself(tmp_path: Path, catalogue: Catalogue) -> None:
    with claimed(catalogue, V1, QUICK_BEATS) as build:
        with pytest.raises(BuildRefusedError, match="another build of version 'v1' of shop main is running"):
            build_in_milvus(tmp_path, catalogue, RECORDS)
        with pytest.raises(BuildRefusedError, match="'v1' is being built"):
            MilvusStorage(tmp_path, catalogue, seconds_between_beats=QUICK_BEATS).delete(V1)
        build_in_milvus(tmp_path, catalogue, RECORDS, V2)
        check_held(catalogue, build)
    assert [entry.scope for entry in catalogue.versions()] == [V2]
    only_versions_are_left(catalogue)


def test_of_two_builds_that_begin_at_once_one_goes_on(catalogue: Catalogue) -> None:
    catalogue.ensure()
    # The other has not written its entry yet when this one looks for builds.
    catalogue.store.create(EDGES_SCHEMA, "other")
    catalogue.store.create_alias(building_alias(V1), "other")
    with pytest.raises(BuildRefusedError, match="another build of version 'v1'"), claimed(catalogue, V1, QUICK_BEATS):
        pytest.fail("both have it")
    assert catalogue.store.alias_target(building_alias(V1)) == "other"
    assert catalogue.others(V1, State.BUILDING) == []


def test_a_build_that_was_taken_for_dead_does_not_become_a_version(catalogue: Catalogue) -> None:
    with claimed(catalogue, V1, QUICK_BEATS) as build:
        catalogue.store.drop_alias(building_alias(V1))
        with pytest.raises(BuildRefusedError, match="another build removed it"):
            check_held(catalogue, build)
    only_versions_are_left(catalogue)


@pytest.mark.slow
def test_a_build_that_loses_milvus_says_so_and_the_next_one_succeeds(tmp_path: Path) -> None:
    with milvus_server() as server:
        address = replace(server.address(), seconds=2.0, writing_seconds=2.0)
        catalogue = Catalogue(MilvusStore(address))

        stages = Stages(ends={"Publishing nodes": server.kill})
        with pytest.raises(StorageUnavailableError):
            build_in_milvus(tmp_path, catalogue, RECORDS, stages=stages)
        server.start()
        catalogue = Catalogue(MilvusStore(server.address()))
        assert catalogue.versions() == []
        build_in_milvus(tmp_path, catalogue, RECORDS)
        catalogue.verify(V1)
        only_versions_are_left(catalogue)


def test_a_milvus_that_is_away_is_told_before_anything_is_built(tmp_path: Path) -> None:
    catalogue = Catalogue(MilvusStore(MilvusAddress("http://127.0.0.1:1", seconds=1.0)))
    with pytest.raises(StorageUnavailableError, match="Milvus"):
        build_in_milvus(tmp_path, catalogue, RECORDS)
    assert not (tmp_path / "shop").exists()
