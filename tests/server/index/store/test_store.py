"""Versions on disk: published, activated, deleted, and what is refused."""

import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
from groundwire_index.nodes.node import Node
from groundwire_index.nodes.policies import POLICIES_FILE
from groundwire_index.operator_errors import OperatorError
from groundwire_index.scope import Scope
from groundwire_index.store import loaded
from groundwire_index.store.loaded import LoadedIndex, verify
from groundwire_index.store.manifest import Manifest, check_sizes
from groundwire_index.store.store import IndexStore

V1 = Scope("shop", "feature/tax", "v1")
V2 = replace(V1, active_index="v2")
ABSENT = replace(V1, active_index="v3")

Publish = Callable[[Scope], None]


@pytest.fixture
def store(tmp_path: Path) -> IndexStore:
    return IndexStore(tmp_path)


@pytest.fixture
def put(store: IndexStore, publish: Callable[..., None], make_node: Callable[..., Node]) -> Publish:
    """`put(scope)` publishes a version with one node, not active."""

    def put_version(scope: Scope) -> None:
        publish(store.data, [make_node("a", scope.active_index, scope=scope)], scope=scope, activate=False)

    return put_version


def refusal(call: Callable[[], object]) -> tuple[type[OperatorError], str]:
    with pytest.raises(OperatorError) as caught:
        call()
    return type(caught.value), str(caught.value)


GONE = (VersionDeletedError, "index 'v1' was deleted")


def test_an_empty_or_absent_data_directory_holds_nothing(store: IndexStore) -> None:
    for empty in (store, IndexStore(store.data / "absent")):
        assert list(empty.scopes()) == []
        assert empty.versions(V1) == []
        assert empty.active(V1) == ""


def test_a_published_version_is_listed_and_not_active(store: IndexStore, put: Publish) -> None:
    put(V1)
    assert store.versions(V1) == ["v1"]
    assert store.active(V1) == ""
    assert store.require(V1) == store.directory(V1)
    assert store.directory(V1).relative_to(store.data) == Path("shop") / "feature%2Ftax" / "v1"


def test_scopes_and_versions_are_sorted_and_keep_their_names(store: IndexStore, put: Publish) -> None:
    for repository, branch, version in [("b", "x", "2"), ("Ä/b", ".y", "1"), ("b", "a b", "1"), ("b", "x", "10")]:
        put(Scope(repository, branch, version))
    assert list(store.scopes()) == [Scope("b", "a b"), Scope("b", "x"), Scope("Ä/b", ".y")]
    assert store.versions(Scope("b", "x")) == ["10", "2"]


def test_activation_swaps_and_returns_the_version_before(store: IndexStore, put: Publish) -> None:
    put(V1)
    put(V2)
    assert store.activate(V1) == ""
    assert store.activate(V2) == "v1"
    assert store.active(V1) == "v2"
    assert store.activate(V2) == "v2"


@pytest.mark.parametrize(("age", "active_version"), [(0, "v2"), (3_600, "v1")])
def test_a_pointer_is_read_again_until_its_time_tells_it_from_the_next(
    store: IndexStore, age: int, active_version: str
) -> None:
    """A file that another one replaces may have its number and, within one tick of the clock, its time."""
    scope = Scope("shop", "main")
    pointer = store.data / "shop" / "main" / ".active"
    pointer.parent.mkdir(parents=True)
    pointer.write_text("v1")
    written = time.time() - age
    os.utime(pointer, (written, written))
    assert store.active(scope) == "v1"
    pointer.write_text("v2")
    os.utime(pointer, (written, written))
    assert store.active(scope) == active_version


@pytest.mark.parametrize("action", ["require", "activate", "delete"])
def test_an_absent_version_is_not_found(store: IndexStore, put: Publish, action: str) -> None:
    put(V1)
    expected = (VersionNotFoundError, "there is no index 'v3' in this scope")
    assert refusal(lambda: getattr(store, action)(ABSENT)) == expected


@pytest.mark.parametrize("action", ["require", "activate", "delete"])
def test_a_deleted_version_is_gone(store: IndexStore, put: Publish, action: str) -> None:
    put(V1)
    store.delete(V1)
    assert store.versions(V1) == []
    assert refusal(lambda: getattr(store, action)(V1)) == GONE


def test_a_tombstone_keeps_only_what_a_refusal_needs(store: IndexStore, put: Publish) -> None:
    put(V1)
    store.delete(V1)
    assert {path.name for path in store.tombstone(V1).iterdir()} == {POLICIES_FILE}


def test_the_active_version_is_not_deleted(store: IndexStore, put: Publish) -> None:
    put(V1)
    store.activate(V1)
    expected = (VersionActiveError, "index 'v1' is active; activate another first")
    assert refusal(lambda: store.delete(V1)) == expected
    LoadedIndex(store.require(V1))


@pytest.mark.parametrize(("deleted", "state"), [(False, "exists"), (True, "was deleted")])
def test_a_name_is_not_used_twice(store: IndexStore, put: Publish, deleted: bool, state: str) -> None:
    put(V1)
    if deleted:
        store.delete(V1)
    with pytest.raises(BuildRefusedError, match=f"version 'v1' of shop feature/tax {state}.*give another --version"):
        put(V1)
    assert store.versions(V1) == ([] if deleted else ["v1"])


def hidden(store: IndexStore) -> set[str]:
    return {path.name for path in store.directory(V1).parent.iterdir() if path.is_dir() and path.name.startswith(".")}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failed_build_leaves_nothing(store: IndexStore, error: type[BaseException]) -> None:
    def fail() -> None:
        with store.build(V1) as directory:
            (directory / "part").write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert store.versions(V1) == []
    assert hidden(store) == set()


def test_leftovers_of_a_killed_build_are_invisible_and_removed_by_the_next(store: IndexStore, put: Publish) -> None:
    put(V1)
    leftover = store.directory(V1).parent / ".building-killed"
    (leftover / "nested").mkdir(parents=True)
    (leftover / "part").write_text("half")
    assert store.versions(V1) == ["v1"]
    put(V2)
    assert hidden(store) == set()
    assert store.versions(V1) == ["v1", "v2"]


def test_a_second_build_of_a_scope_is_refused_while_one_runs(store: IndexStore, put: Publish) -> None:
    with store.build(V1) as directory:
        with pytest.raises(BuildRefusedError, match="another build of shop feature/tax is running; wait for it to end"):
            put(V2)
        put(replace(V2, branch="other"))
        assert directory.is_dir(), "the refused build must not remove the running one's directory"
    assert store.versions(V1) == ["v1"]
    put(V2)


def test_a_build_in_progress_is_invisible(store: IndexStore) -> None:
    with store.build(V1):
        assert store.versions(V1) == []
        assert not store.directory(V1).exists()


def test_a_reader_outlives_its_version(store: IndexStore, put: Publish) -> None:
    put(V1)
    index = LoadedIndex(store.require(V1))
    store.delete(V1)
    assert index.nodes.texts[0] == "v1"
    assert index.nodes.location(0).start_line == 1
    assert index.lexical is not None
    assert index.lexical.postings("v1").rows.tolist() == [0]


def test_a_damaged_version_is_not_activated(store: IndexStore, put: Publish) -> None:
    put(V1)
    put(V2)
    store.activate(V1)
    text = store.directory(V2) / "text.utf8"
    text.write_bytes(bytes(len(text.read_bytes())))
    with pytest.raises(IndexDamagedError, match=r"text\.utf8: its content does not match"):
        store.activate(V2)
    assert store.active(V1) == "v1"


@contextmanager
def write_lock(store: IndexStore, scope: Scope) -> Iterator[None]:
    descriptor = os.open(store.directory(scope).parent / ".write.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


def race(store: IndexStore, monkeypatch: pytest.MonkeyPatch, *actions: Callable[[], object]) -> list[object]:
    """Runs actions on V1 that all find it before any of them gets the lock; returns "done" or the error of each."""
    all_ready = threading.Barrier(len(actions) + 1, timeout=300)
    outcomes: list[object] = []
    thread_state = threading.local()
    require = store.require

    def require_and_wait(scope: Scope) -> Path:
        directory = require(scope)
        if not hasattr(thread_state, "waited"):
            thread_state.waited = True
            all_ready.wait()
        return directory

    def run(action: Callable[[], object]) -> None:
        try:
            action()
            outcomes.append("done")
        except (OperatorError, OSError) as error:
            outcomes.append(error)

    monkeypatch.setattr(store, "require", require_and_wait)
    with write_lock(store, V1):
        threads = [threading.Thread(target=run, args=(action,)) for action in actions]
        for thread in threads:
            thread.start()
        all_ready.wait()
    for thread in threads:
        thread.join(timeout=300)
    monkeypatch.undo()
    return outcomes


def test_of_two_deletions_at_a_time_one_is_told_that_the_version_is_gone(
    store: IndexStore, put: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(V1)
    outcomes = race(store, monkeypatch, lambda: store.delete(V1), lambda: store.delete(V1))
    assert outcomes.count("done") == 1
    assert [type(error) for error in outcomes if error != "done"] == [VersionDeletedError]


def test_a_deletion_and_an_activation_at_a_time_never_leave_a_pointer_to_nothing(
    store: IndexStore, put: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(V1)
    outcomes = race(store, monkeypatch, lambda: store.delete(V1), lambda: store.activate(V1))
    assert outcomes.count("done") == 1
    assert store.versions(V1) == ([store.active(V1)] if store.active(V1) else [])


def test_a_version_that_is_deleted_while_its_activation_reads_it_is_gone_not_damaged(
    store: IndexStore, put: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(V1)

    def verify_what_is_deleted(directory: Path) -> None:
        store.delete(V1)
        verify(directory)

    monkeypatch.setattr("groundwire_index.store.loaded.verify", verify_what_is_deleted)
    assert refusal(lambda: store.activate(V1)) == GONE


def test_a_version_whose_files_go_while_its_activation_reads_them_is_gone_too(
    store: IndexStore, put: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(V1)

    def then_delete(directory: Path, manifest: Manifest) -> None:
        check_sizes(directory, manifest)
        store.delete(V1)

    monkeypatch.setattr(loaded, "check_sizes", then_delete)
    assert refusal(lambda: store.activate(V1)) == GONE
