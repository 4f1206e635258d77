"""Copies of source texts: each is made once, is bounded, leaves no file, and is complete or an error."""

import gc
import io
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.nodes.node import Node
from groundwire_index.nodes.source_texts import SOURCE_FILES, SourceRuns
from groundwire_index.scope import Scope
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.store.manifest import FileEntry
from groundwire_index.store.store import IndexStore
from groundwire_milvus.catalogue import Catalogue
from groundwire_milvus.document import VersionDocument
from groundwire_milvus.facts import FILE_PIECE, fact_key
from groundwire_milvus.publishing.claim import claimed
from groundwire_milvus.publishing.publish import publish as publish_in_milvus
from groundwire_milvus.serving import backend as backend_module
from groundwire_milvus.serving import source_copies
from groundwire_milvus.serving.backend import MilvusBackend
from groundwire_milvus.storage_errors import StorageUnavailableError
from groundwire_milvus.store import MilvusStore
from groundwire_milvus.whole_files import CLASSES_FILE, PIECE_BYTES, copy_file, file_facts
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.errors import (
    BackendUnavailableError,
    DeadlineError,
    InvalidRequestError,
    PreconditionError,
    Reason,
)
from groundwire_server.domain.search.search import Filter
from groundwire_server.domain.text_search.text_search import TextSearchRequest
from support.builds import Stages
from support.calls import never_stop
from support.engines import engine_over
from support.milvus_builds import QUICK_BEATS, copy_to_milvus, new_catalogue
from support.milvus_server import MilvusServer

PATIENCE_SECONDS = 300
SCOPES = [Scope("shop", branch, "v1") for branch in ("main", "next")]
CALLER = AccessContext()
CALLS = 12
TEXTS, TEXT_BYTES = 12, 100_000
"""Together more than a piece."""

Publish = Callable[..., None]
MakeNode = Callable[..., Node]


def nodes(make_node: MakeNode, scope: Scope) -> list[Node]:
    chance = Random(7)
    return [
        make_node(f"N{number}", chance.randbytes(TEXT_BYTES // 2).hex(), path=f"src/{number}.txt", scope=scope)
        for number in range(TEXTS)
    ]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, publish: Publish, make_node: MakeNode) -> Path:
    """A folder with both versions."""
    folder = tmp_path_factory.mktemp("data")
    for scope in SCOPES:
        publish(folder, nodes(make_node, scope), scope=scope)
    return folder


def loaded(data: Path, scope: Scope) -> LoadedIndex:
    return LoadedIndex(IndexStore(data).require(scope))


@pytest.fixture(scope="module")
def catalogue(milvus: MilvusServer, data: Path) -> Iterator[Catalogue]:
    """The catalogue of a database with both versions, which tests leave as they are."""
    catalogue = new_catalogue(milvus)
    for scope in SCOPES:
        copy_to_milvus(loaded(data, scope), catalogue)
    yield catalogue
    catalogue.store.close()


@pytest.fixture
def own_catalogue(milvus: MilvusServer) -> Iterator[Catalogue]:
    """The catalogue of an empty database."""
    catalogue = new_catalogue(milvus)
    yield catalogue
    catalogue.store.close()


@pytest.fixture(scope="module")
def size(data: Path) -> int:
    """The bytes of a copy."""
    entries = loaded(data, SCOPES[0]).manifest.files
    return sum(entry.bytes for entry in entries if entry.name in SOURCE_FILES)


class Copying:
    """Copies files, and notes their names. `begun` is set when one begins, and none goes on before `may_go_on`."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.begun, self.may_go_on = threading.Event(), threading.Event()
        self.may_go_on.set()

    def __call__(self, store: MilvusStore, facts: str, entry: FileEntry, directory: Path) -> None:
        self.names.append(entry.name)
        self.begun.set()
        assert self.may_go_on.wait(PATIENCE_SECONDS)
        copy_file(store, facts, entry, directory)


@pytest.fixture
def copying(monkeypatch: pytest.MonkeyPatch) -> Copying:
    copying = Copying()
    monkeypatch.setattr(source_copies, "copy_file", copying)
    return copying


def backend_of(catalogue: Catalogue, most_source_bytes: int) -> MilvusBackend:
    return MilvusBackend(catalogue.store.address, most_source_bytes=most_source_bytes)


def begun(backend: MilvusBackend, scope: Scope) -> Future[SourceRuns]:
    """The copy of a version, which may be under way."""
    runs = backend.open(scope, CALLER).all_source_runs()
    assert runs is not None
    return runs


def runs_of(backend: MilvusBackend, scope: Scope) -> SourceRuns:
    return begun(backend, scope).result(PATIENCE_SECONDS)


def refusal_of(backend: MilvusBackend, scope: Scope) -> PreconditionError:
    request = TextSearchRequest(scope=scope, access=CALLER, pattern="abc", max_matches=1)
    with pytest.raises(PreconditionError) as caught:
        engine_over(backend).search_text(request, never_stop)
    return caught.value


def test_calls_that_come_while_a_version_is_copied_wait_for_that_copy(
    catalogue: Catalogue, data: Path, size: int, copying: Copying
) -> None:
    backend = backend_of(catalogue, size)
    copying.may_go_on.clear()
    futures = [begun(backend, SCOPES[0]) for _ in range(CALLS)]
    assert copying.begun.wait(PATIENCE_SECONDS)
    with ThreadPoolExecutor(CALLS) as threads:
        runs = [threads.submit(runs_of, backend, SCOPES[0]) for _ in range(CALLS)]
        copying.may_go_on.set()
        contents = {bytes(run.result(PATIENCE_SECONDS).content) for run in runs}
    assert contents == {(loaded(data, SCOPES[0]).directory / SOURCE_FILES[0]).read_bytes()}
    assert {id(future) for future in futures} == {id(futures[0])}
    assert sorted(copying.names) == sorted(SOURCE_FILES)


def test_a_copy_has_no_name_in_the_temporary_folder_once_it_is_complete(
    catalogue: Catalogue, size: int, copying: Copying, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    copying.may_go_on.clear()
    future = begun(backend_of(catalogue, size), SCOPES[0])
    assert copying.begun.wait(PATIENCE_SECONDS)
    (folder,) = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    copying.may_go_on.set()
    runs = future.result(PATIENCE_SECONDS)
    assert list(tmp_path.iterdir()) == []
    assert len(bytes(runs.content)) > PIECE_BYTES


def test_the_copy_that_was_not_used_for_longest_makes_room(catalogue: Catalogue, size: int, copying: Copying) -> None:
    backend = backend_of(catalogue, 2 * size - 1)
    first = runs_of(backend, SCOPES[0])
    runs_of(backend, SCOPES[0])
    assert len(copying.names) == len(SOURCE_FILES)
    second = runs_of(backend, SCOPES[1])
    assert bytes(first.content) == bytes(second.content)
    assert bytes(runs_of(backend, SCOPES[0]).content) == bytes(first.content)
    assert len(copying.names) == 3 * len(SOURCE_FILES)
    both = backend_of(catalogue, 2 * size)
    copying.names.clear()
    for scope in (*SCOPES, *SCOPES):
        runs_of(both, scope)
    assert len(copying.names) == 2 * len(SOURCE_FILES)


def test_calls_for_several_versions_in_turn_begin_no_copy_twice(
    catalogue: Catalogue, size: int, copying: Copying
) -> None:
    backend = backend_of(catalogue, size)
    copying.may_go_on.clear()
    futures = [begun(backend, scope) for scope in SCOPES * CALLS]
    assert copying.begun.wait(PATIENCE_SECONDS)
    assert len({id(future) for future in futures}) == len(SCOPES)
    assert len(copying.names) == 1, "the second version has no room beside the first"
    copying.may_go_on.set()
    assert {len(future.result(PATIENCE_SECONDS).rows) for future in futures} == {TEXTS}
    assert sorted(copying.names) == sorted(SOURCE_FILES * len(SCOPES))


def test_a_copy_that_is_just_complete_counts_once(catalogue: Catalogue, size: int) -> None:
    """The other copy is made while the calls that wait for the first one are told."""
    backend = backend_of(catalogue, 2 * size)
    first, others = begun(backend, SCOPES[0]), list[SourceRuns]()
    is_other_made = threading.Event()

    def begin_other(_: Future[SourceRuns]) -> None:
        others.append(runs_of(backend, SCOPES[1]))
        is_other_made.set()

    first.add_done_callback(begin_other)
    assert is_other_made.wait(PATIENCE_SECONDS)
    assert len(others) == 1
    assert begun(backend, SCOPES[0]) is first


def test_a_call_that_must_stop_asks_for_no_more_rows(catalogue: Catalogue, size: int) -> None:
    def must_stop() -> None:
        raise DeadlineError

    backend = backend_of(catalogue, size)
    snapshot = backend.open(SCOPES[0], CALLER, filter_=Filter(path_prefixes=("src/",)))
    runs = runs_of(backend, SCOPES[0])
    assert len(snapshot.selected_source_runs(runs, never_stop).rows) == TEXTS
    with pytest.raises(DeadlineError):
        snapshot.selected_source_runs(runs, must_stop)


def test_texts_that_are_larger_than_all_copies_may_be_are_refused_without_their_size(
    catalogue: Catalogue, size: int, caplog: pytest.LogCaptureFixture
) -> None:
    backend = backend_of(catalogue, size - 1)
    refusal = [refusal_of(backend, SCOPES[0]) for _ in range(CALLS)][-1]
    assert refusal.reason is Reason.SOURCES_MISSING
    assert "milvus_source_bytes" in refusal.message
    assert str(size) not in refusal.message
    assert caplog.text.count(str(size)) == 1


def test_after_a_failure_the_next_call_copies_anew(
    catalogue: Catalogue, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise StorageUnavailableError("away")

    backend = backend_of(catalogue, size)
    with monkeypatch.context() as patched:
        patched.setattr(source_copies, "copy_file", fails)
        with pytest.raises(BackendUnavailableError, match=r"does not answer") as caught:
            runs_of(backend, SCOPES[0])
        assert caught.value.cause == "away"
    with monkeypatch.context() as patched:
        patched.setattr(tempfile, "tempdir", "/nowhere")
        with pytest.raises(BackendUnavailableError) as caught:
            runs_of(backend, SCOPES[0])
        assert "temporary folder" in caught.value.cause
    assert len(runs_of(backend, SCOPES[0]).rows) == TEXTS


def test_damaged_pieces_are_told_as_a_damaged_index(own_catalogue: Catalogue, data: Path, size: int) -> None:
    scope = SCOPES[0]
    copy_to_milvus(loaded(data, scope), own_catalogue)
    store, collection = own_catalogue.store, own_catalogue.require(scope).collections.facts
    backend = backend_of(own_catalogue, size)
    runs_of(backend, scope)  # what is copied stays readable
    content = (loaded(data, scope).directory / SOURCE_FILES[2]).read_bytes()
    (replaced,) = [fact for _, fact in file_facts(SOURCE_FILES[2], io.BytesIO(content[:-4] + b"\1\0\0\0"))]
    key = fact_key(FILE_PIECE, f"{SOURCE_FILES[2]}/0")
    for broken in (replaced, replaced[:-8], "?", ""):
        row = dict(next(iter(store.by_keys(collection, [key], ["number", "parts", "unused"]))))
        store.upsert(collection, [{**row, "key": key, "content": broken}])
        runs_of(backend, scope)
        assert refusal_of(backend_of(own_catalogue, size), scope).reason is Reason.INDEX_DAMAGED
    for name in (CLASSES_FILE, SOURCE_FILES[0]):
        store.delete_rows(collection, f'key == "{fact_key(FILE_PIECE, f"{name}/0")}"')
        assert refusal_of(backend_of(own_catalogue, size), scope).reason is Reason.INDEX_DAMAGED


def test_a_version_that_was_published_without_its_files_says_so_and_answers_the_rest(
    own_catalogue: Catalogue, data: Path, size: int
) -> None:
    scope = SCOPES[0]
    with claimed(own_catalogue, scope, QUICK_BEATS) as build:
        document = publish_in_milvus(loaded(data, scope), own_catalogue.store, build.collections, Stages())
        older = VersionDocument.from_content(replace(document, files=()).to_content())
        own_catalogue.make_ready(build, older)
    backend = backend_of(own_catalogue, size)
    snapshot = backend.open(scope, CALLER)
    assert snapshot.all_source_runs() is None
    refusal = refusal_of(backend, scope)
    assert (refusal.reason, "build it anew" in refusal.message) == (Reason.SOURCES_MISSING, True)
    assert not snapshot.ends.ends
    assert snapshot.node_count == TEXTS


def test_the_copy_of_a_deleted_version_is_dropped(
    own_catalogue: Catalogue, data: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the version is no longer among the open ones."""
    for scope in SCOPES:
        copy_to_milvus(loaded(data, scope), own_catalogue, activate=False)
    monkeypatch.setattr(backend_module, "MAX_OPEN_INDEXES", 1)
    backend = backend_of(own_catalogue, 2 * size)
    snapshot = backend.open(SCOPES[0], CALLER)
    copy = weakref.ref(runs_of(backend, SCOPES[0]).content)
    backend.open(SCOPES[1], CALLER)
    assert copy() is not None
    backend.delete(SCOPES[0])
    gc.collect()
    assert copy() is None
    again = snapshot.all_source_runs()
    assert again is not None
    with pytest.raises(PreconditionError) as caught:
        again.result(PATIENCE_SECONDS)
    assert caught.value.reason is Reason.INDEX_GONE


def test_no_copy_is_used_for_a_version_of_a_milvus_that_was_set_up_anew(
    own_catalogue: Catalogue, data: Path, size: int, copying: Copying
) -> None:
    """The version has the same name there, and other rows perhaps."""
    scope, now, store = SCOPES[0], [0.0], own_catalogue.store
    copy_to_milvus(loaded(data, scope), own_catalogue, activate=False)
    backend = MilvusBackend(store.address, lambda: now[0], size)
    older = runs_of(backend, scope)
    for collection in store.collections():
        store.drop(collection)
    copy_to_milvus(loaded(data, scope), Catalogue(store), activate=False)
    now[0] += 1
    assert runs_of(backend, scope) is not older
    assert len(copying.names) == 2 * len(SOURCE_FILES)


def test_a_search_over_more_than_fits_copies_one_version_after_the_other(
    catalogue: Catalogue, size: int, copying: Copying
) -> None:
    backend = backend_of(catalogue, size)
    request = TextSearchRequest(scope=Scope("", ""), scopes=tuple(SCOPES), access=CALLER, pattern="0", max_matches=1)
    result = engine_over(backend).search_text(request, never_stop)
    assert len(result.files) == len(SCOPES) * TEXTS
    assert sorted(copying.names) == sorted(SOURCE_FILES * len(SCOPES))


def test_a_malformed_pattern_begins_no_copy(catalogue: Catalogue, size: int, copying: Copying) -> None:
    request = TextSearchRequest(scope=SCOPES[0], access=CALLER, pattern="(", regex=True, max_matches=1)
    with pytest.raises(InvalidRequestError):
        engine_over(backend_of(catalogue, size)).search_text(request, never_stop)
    assert copying.names == []


def test_without_a_thread_for_it_the_next_call_begins_the_copy(
    catalogue: Catalogue, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_thread(*_: object, **__: object) -> threading.Thread:
        raise RuntimeError("can't start new thread")

    backend = backend_of(catalogue, size)
    with monkeypatch.context() as patched:
        patched.setattr(source_copies, "Thread", no_thread)
        with pytest.raises(BackendUnavailableError):
            begun(backend, SCOPES[0])
    assert len(runs_of(backend, SCOPES[0]).rows) == TEXTS


def test_texts_that_cannot_be_mapped_are_no_damage(
    catalogue: Catalogue, size: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_memory(_: Path) -> SourceRuns:
        raise IndexDamagedError("sources.utf8: Cannot allocate memory")

    monkeypatch.setattr(source_copies, "open_source_texts", no_memory)
    with pytest.raises(BackendUnavailableError):
        runs_of(backend_of(catalogue, size), SCOPES[0])
    assert "Cannot allocate memory" in caplog.text, "perhaps no call waits for the copy any more"
