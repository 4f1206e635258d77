"""Which version answers whom: the Milvus backend says what the embedded one says of the same versions."""

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from groundwire_index.nodes.node import Node, NodeAccess
from groundwire_index.scope import Scope
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.store.store import IndexStore
from groundwire_milvus.catalogue import Catalogue
from groundwire_milvus.schema import CATALOGUE
from groundwire_milvus.serving.backend import MilvusBackend
from groundwire_milvus.serving.snapshot import MilvusSnapshot
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.backends.embedded.snapshot import EmbeddedSnapshot
from groundwire_server.domain.access.access import AccessContext, Bounds
from groundwire_server.domain.access.grants import UNLIMITED
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.access.name_sets import Names
from groundwire_server.domain.errors import BackendUnavailableError, GroundwireError, PreconditionError, Reason
from groundwire_server.domain.search.search import Filter
from support.calls import never_stop
from support.milvus_builds import copy_to_milvus, new_catalogue
from support.milvus_server import MilvusServer, milvus_server

PATIENCE_SECONDS = 300
UNPINNED = Scope("shop", "main")
V1, V2, V3, ABSENT = (replace(UNPINNED, active_index=version) for version in ("v1", "v2", "v3", "v4"))
SCOPES = [UNPINNED, V1, V2, V3, ABSENT, Scope("shop", "absent"), Scope("absent", "main", "v1")]
PUBLIC = AccessContext()
FINANCE = AccessContext(acl_tags_any=frozenset({"finance"}))
CALLERS = [
    PUBLIC,
    FINANCE,
    *(
        AccessContext(acl_tags_any=tags, bounds=Bounds(cases=Names(frozenset({case}))))
        for tags in (frozenset(), frozenset({"finance"}))
        for case in ("7", "8")
    ),
]
OPEN, HIDDEN = NodeAccess(), NodeAccess(acl_tags=("finance",))

Publish = Callable[..., None]
MakeNode = Callable[..., Node]
Told = tuple[object, ...]


def outcome_of(ask: Callable[[], object]) -> Told:
    """What a backend answers: a value, or a refusal."""
    try:
        return (ask(),)
    except GroundwireError as error:
        return type(error), error.reason, error.message, dict(error.metadata)


class Versions:
    """The same versions in a data folder and in Milvus, behind a backend each; that of Milvus remembers nothing."""

    def __init__(self, data: Path, catalogue: Catalogue, publish: Publish, make_node: MakeNode) -> None:
        self.data = data
        self.catalogue = catalogue
        self._publish = publish
        self._make_node = make_node
        seconds = itertools.count()
        self.embedded = EmbeddedBackend(data)
        self.milvus = MilvusBackend(catalogue.store.address, lambda: float(next(seconds)))

    def put(self, scope: Scope, access: NodeAccess = OPEN, case: str = "") -> None:
        """Publishes a version of one node, which is not active."""
        node = self._make_node("A", f"text of {scope.active_index}", access=access, case_id=case, scope=scope)
        self._publish(self.data, [node], scope=scope, activate=False)
        copy_to_milvus(LoadedIndex(IndexStore(self.data).require(scope)), self.catalogue, activate=False)

    def change(self, name: str, scope: Scope) -> Told:
        """Activates or deletes a version in both; what both say alike."""
        expected = outcome_of(lambda: getattr(self.embedded, name)(scope))
        assert outcome_of(lambda: getattr(self.milvus, name)(scope)) == expected
        return expected

    def compare(self) -> None:
        """Both say the same of every scope to every caller."""
        for caller, scope in itertools.product(CALLERS, SCOPES):
            for ask in ("open", "get_index"):
                expected, actual = (
                    outcome_of(partial(getattr(backend, ask), scope, caller))
                    for backend in (self.embedded, self.milvus)
                )
                assert _named(actual) == _named(expected), (caller, scope)
        for caller, branch in itertools.product(CALLERS, ("", "main", "absent")):
            listed = [
                backend.list_indexes("", branch, caller, UNLIMITED.scopes, never_stop)
                for backend in (self.embedded, self.milvus)
            ]
            assert listed[1] == listed[0]


def _named(answer: Told) -> Told:
    """An answer, with a snapshot by the name of its version."""
    return tuple(value.index if isinstance(value, EmbeddedSnapshot | MilvusSnapshot) else value for value in answer)


@pytest.fixture
def versions(milvus: MilvusServer, tmp_path: Path, publish: Publish, make_node: MakeNode) -> Iterator[Versions]:
    catalogue = new_catalogue(milvus)
    yield Versions(tmp_path, catalogue, publish, make_node)
    catalogue.store.close()


def test_versions_come_and_go_alike(versions: Versions) -> None:
    versions.compare()
    versions.put(V1, HIDDEN, "7")
    versions.put(V2, OPEN, "7")
    versions.compare()
    for name, scope in (
        ("delete", ABSENT),
        ("activate", ABSENT),
        ("activate", V1),
        ("delete", V1),
        ("activate", V2),
        ("delete", V1),
        ("delete", V1),
        ("activate", V1),
    ):
        versions.change(name, scope)
        versions.compare()


def test_a_version_deleted_while_it_is_read_is_gone(versions: Versions) -> None:
    versions.put(V1)
    snapshot = versions.milvus.open(V1, PUBLIC)
    versions.milvus.delete(V1)
    with pytest.raises(PreconditionError) as caught:
        snapshot.labels(np.asarray([0]))
    assert (caught.value.reason, caught.value.metadata) == (Reason.INDEX_GONE, V1.names)


def test_a_version_without_its_collections_is_not_activated(versions: Versions) -> None:
    versions.put(V1)
    versions.catalogue.store.drop(versions.catalogue.require(V1).collections.edges)
    with pytest.raises(PreconditionError) as caught:
        versions.milvus.activate(V1)
    assert caught.value.reason is Reason.INDEX_DAMAGED


def test_a_damaged_document_is_told_to_who_surely_sees_a_node(versions: Versions) -> None:
    for scope, access, case in ((V1, HIDDEN, "7"), (V2, OPEN, "7"), (V3, OPEN, "7")):
        versions.put(scope, access, case)
    versions.change("activate", V1)
    versions.change("activate", V2)
    entry = versions.catalogue.require(V1)
    (part,) = entry.part_rows([versions.catalogue.document(entry).to_content()[:-2]])
    versions.catalogue.store.upsert(CATALOGUE, [part])
    (IndexStore(versions.data).directory(V1) / "manifest.json").write_text("{}", encoding="utf-8")
    versions.compare()
    answers = {outcome_of(partial(versions.milvus.open, V1, caller))[1] for caller in (PUBLIC, FINANCE)}
    assert answers == {Reason.INDEX_NOT_FOUND, Reason.INDEX_DAMAGED}


def test_an_activation_elsewhere_is_seen_when_what_is_remembered_is_old(
    versions: Versions, milvus: MilvusServer
) -> None:
    versions.put(V1)
    versions.put(V2)
    now = [0.0]
    here = MilvusBackend(versions.catalogue.store.address, lambda: now[0])
    versions.milvus.activate(V1)
    assert here.open(UNPINNED, PUBLIC).index == "v1"
    arguments = UNPINNED, PUBLIC, Lifecycle.ACTIVE, Filter()
    versions.milvus.activate(V2)
    at_once = here.open_at_once(*arguments)
    assert at_once is not None
    assert at_once.index == "v1", "half a second is not over"
    now[0] += 1.0
    assert here.open_at_once(*arguments) is None, "only Milvus can tell"
    assert here.open(UNPINNED, PUBLIC).index == "v2"
    assert here.open_at_once(*arguments) is not None


@pytest.mark.slow
def test_a_milvus_that_is_away_is_told_as_unavailable(tmp_path: Path, publish: Publish, make_node: MakeNode) -> None:
    with milvus_server() as server:
        catalogue = new_catalogue(server)
        versions = Versions(tmp_path, catalogue, publish, make_node)
        versions.put(V1)
        backend = MilvusBackend(catalogue.store.address)
        snapshot = backend.open(V1, PUBLIC)
        backend.check_readable()
        server.kill()
        for ask in (
            lambda: snapshot.rows(["shop::main::cs::A"]),
            lambda: backend.open(V2, PUBLIC),
            lambda: backend.get_index(UNPINNED, PUBLIC),
            lambda: backend.list_indexes("", "", PUBLIC, UNLIMITED.scopes, never_stop),
            lambda: backend.activate(V1),
            lambda: backend.delete(V1),
        ):
            with pytest.raises(BackendUnavailableError):
                ask()
        with pytest.raises(OSError, match="Milvus"):
            backend.check_readable()
        server.start()
        assert _opened_at_last(backend).index == "v1"
        catalogue.store.close()


def _opened_at_last(backend: MilvusBackend) -> MilvusSnapshot:
    """A snapshot, once the lost connection is made anew."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return backend.open(V1, PUBLIC)
        except BackendUnavailableError:
            assert time.monotonic() < end
            time.sleep(0.05)
