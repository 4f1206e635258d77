"""Which version answers whom: pins, activation, deletion, and names that nobody may learn."""

import os
import stat
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from groundwire_index.nodes.node import Edge, Node, NodeAccess
from groundwire_index.scope import Scope
from groundwire_index.store.loaded import LoadedIndex, open_version
from groundwire_index.store.store import IndexStore
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.backends.embedded.pool import IndexPool
from groundwire_server.domain.access.access import AccessContext, Bounds
from groundwire_server.domain.access.grants import UNLIMITED
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.access.name_sets import Names
from groundwire_server.domain.errors import (
    BackendUnavailableError,
    GroundwireError,
    NotFoundError,
    PreconditionError,
    Reason,
)
from groundwire_server.domain.indexes import MAX_NAMES, IndexNames, IndexSummary
from groundwire_server.domain.search.search import Filter
from groundwire_server.domain.texts.texts import StoredText, TextSize
from support.calls import never_stop
from support.listed_candidates import texts_of

UNPINNED = Scope("shop", "main")
V1, V2, V3 = (replace(UNPINNED, active_index=version) for version in ("v1", "v2", "v3"))
PUBLIC = AccessContext()
FINANCE = AccessContext(acl_tags_any=frozenset({"finance"}))
OPEN = NodeAccess()
HIDDEN = NodeAccess(acl_tags=("finance",))
NOBODY = 65_534

Put = Callable[..., None]


@pytest.fixture
def backend(tmp_path: Path) -> EmbeddedBackend:
    return EmbeddedBackend(tmp_path)


@pytest.fixture
def put(tmp_path: Path, publish: Callable[..., None], make_node: Callable[..., Node]) -> Put:
    """`put(scope, access, activate=...)` publishes one node that demands this access."""

    def put_version(scope: Scope, access: NodeAccess = OPEN, *, activate: bool = False) -> None:
        node = make_node("A", f"text of {scope.active_index}", access=access, scope=scope)
        publish(tmp_path, [node], scope=scope, activate=activate)

    return put_version


def listing(backend: EmbeddedBackend, repository: str, branch: str, access: AccessContext) -> tuple[IndexSummary, ...]:
    return backend.list_indexes(repository, branch, access, UNLIMITED.scopes, never_stop)


Refusal = tuple[type[GroundwireError], Reason, str, dict[str, str]]


def refusal(call: Callable[[], object]) -> Refusal:
    with pytest.raises(GroundwireError) as caught:
        call()
    error = caught.value
    return type(error), error.reason, error.message, dict(error.metadata)


def renamed(original: Refusal, old: Scope, new: Scope) -> Refusal:
    """The refusal with one scope's names in place of another's."""
    pairs = [(getattr(old, name), getattr(new, name)) for name in ("repository", "branch", "active_index")]
    kind, reason, message, metadata = original
    swap = dict(pair for pair in pairs if pair[0])
    return (
        kind,
        reason,
        message.replace(f"'{old.active_index}'", f"'{new.active_index}'") if old.active_index else message,
        {key: swap.get(value, value) for key, value in metadata.items()},
    )


def test_an_unpinned_scope_is_answered_by_the_active_version(backend: EmbeddedBackend, put: Put) -> None:
    put(V1, activate=True)
    assert backend.open(UNPINNED, PUBLIC).index == "v1"
    put(V2)
    assert backend.open(UNPINNED, PUBLIC).index == "v1"
    assert backend.activate(V2) == "v1"
    assert backend.open(UNPINNED, PUBLIC).index == "v2"
    assert backend.open(V1, PUBLIC).index == "v1"


def test_a_snapshot_stays_what_it_was(backend: EmbeddedBackend, put: Put) -> None:
    put(V1, activate=True)
    snapshot = backend.open(UNPINNED, PUBLIC)
    put(V2, activate=True)
    backend.delete(V1)
    (stored,) = texts_of(snapshot, ["shop::main::cs::A"])
    assert stored.text == "text of v1"
    assert snapshot.index == "v1"


def test_a_deleted_version_is_gone_for_those_who_could_see_it(backend: EmbeddedBackend, put: Put) -> None:
    put(V1, HIDDEN)
    put(V2, activate=True)
    backend.open(V1, FINANCE)
    backend.delete(V1)
    kind, reason, _, metadata = refusal(lambda: backend.open(V1, FINANCE))
    assert (kind, reason, metadata["active_index"]) == (PreconditionError, Reason.INDEX_GONE, "v1")
    never = refusal(lambda: backend.open(V3, PUBLIC))
    assert renamed(refusal(lambda: backend.open(V1, PUBLIC)), V1, V3) == never
    assert never[:2] == (NotFoundError, Reason.INDEX_NOT_FOUND)


@contextmanager
def as_nobody(data: Path) -> Iterator[None]:
    """Runs as a user whom the rights of files bind, who owns the data folder; root is bound by none."""
    user = os.geteuid()
    if user == 0:
        for path in (data, *data.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        for parent in data.parents:
            parent.chmod(parent.stat().st_mode | stat.S_IXGRP | stat.S_IXOTH)
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)


def test_folders_without_rights_break_nothing_else(backend: EmbeddedBackend, put: Put, tmp_path: Path) -> None:
    put(V1)
    put(V2, activate=True)
    for repository in ("closed", "closed-pointer", "closed-version"):
        put(Scope(repository, "main", "v1"), activate=True)
    locked = [tmp_path / "closed", tmp_path / "closed-pointer/main/.active", tmp_path / "closed-version/main/v1"]
    modes = {path: path.stat().st_mode for path in (*locked, tmp_path / "shop/main")}
    with as_nobody(tmp_path):
        try:
            for path in locked:
                path.chmod(0)
            listed = listing(backend, "", "", PUBLIC)
            assert [(index.repository, index.active) for index in listed] == [
                ("closed-pointer", False), ("shop", False), ("shop", True)]  # fmt: skip
            assert Scope("closed", "main") not in backend.scopes(UNLIMITED.scopes, UNLIMITED.scopes)
            for repository in ("closed", "closed-pointer", "closed-version"):
                open_hidden = partial(backend.open, Scope(repository, "main"), PUBLIC)
                assert refusal(open_hidden)[:2] == (NotFoundError, Reason.SCOPE_NOT_FOUND)
            (tmp_path / "shop/main").chmod(0o500)
            for change in (backend.activate, backend.delete):
                assert refusal(partial(change, V1))[:2] == (BackendUnavailableError, Reason.BACKEND_UNAVAILABLE)
            assert backend.open(V1, PUBLIC).index == "v1"
        finally:
            for path, mode in modes.items():
                path.chmod(mode)


def test_a_change_that_the_store_refuses_names_its_reason_and_version(backend: EmbeddedBackend, put: Put) -> None:
    put(V1)
    put(V2, activate=True)
    assert refusal(lambda: backend.delete(V2))[:2] == (PreconditionError, Reason.INDEX_ACTIVE)
    backend.delete(V1)
    absent = ((V1, PreconditionError, Reason.INDEX_GONE), (V3, NotFoundError, Reason.INDEX_NOT_FOUND))
    for change in (backend.activate, backend.delete):
        for scope, kind, reason in absent:
            refused = refusal(partial(change, scope))
            assert (refused[0], refused[1], refused[3]) == (kind, reason, scope.names)


def bound(case: str) -> AccessContext:
    return AccessContext(bounds=Bounds(cases=Names(frozenset({case}))))


@pytest.fixture
def put_case(tmp_path: Path, publish: Callable[..., None], make_node: Callable[..., Node]) -> Put:
    """`put_case(scope, case, activate=...)` publishes one public node of the case."""

    def put_version(scope: Scope, case: str, *, activate: bool = False) -> None:
        publish(tmp_path, [make_node("A", case_id=case, scope=scope)], scope=scope, activate=activate)

    return put_version


@pytest.mark.parametrize("ask", ["open", "get_index"])
def test_a_scope_without_a_node_within_bounds_looks_like_one_that_never_was(
    backend: EmbeddedBackend, put_case: Put, ask: str
) -> None:
    put_case(V1, "7", activate=True)
    put_case(V2, "")
    open_ = getattr(backend, ask)
    for hidden in (UNPINNED, V1, V2, V3):
        refused = refusal(partial(open_, hidden, bound("8")))
        assert refused[:2] == (NotFoundError, Reason.SCOPE_NOT_FOUND)
        never = replace(hidden, branch="absent")
        assert renamed(refused, hidden, never) == refusal(partial(open_, never, bound("8")))
    assert refusal(partial(open_, V2, bound("7")))[1] is Reason.INDEX_NOT_FOUND
    assert open_(V1, bound("7")) is not None
    assert [index.version for index in listing(backend, "", "", bound("7"))] == ["v1"]
    assert listing(backend, "", "", bound("8")) == ()


def test_to_a_bound_caller_a_deleted_version_was_never_there(backend: EmbeddedBackend, put_case: Put) -> None:
    """What is left of it tells policies alone, not what was in which case."""
    put_case(V1, "7")
    put_case(V2, "7", activate=True)
    backend.delete(V1)
    assert refusal(lambda: backend.open(V1, PUBLIC))[1] is Reason.INDEX_GONE
    assert renamed(refusal(lambda: backend.open(V1, bound("7"))), V1, V3) == refusal(
        lambda: backend.open(V3, bound("7"))
    )


def test_to_a_bound_caller_a_damaged_version_was_never_there(
    backend: EmbeddedBackend, put_case: Put, tmp_path: Path
) -> None:
    put_case(V1, "7")
    put_case(V2, "7", activate=True)
    (IndexStore(tmp_path).directory(V1) / "flags.bin").write_bytes(b"")
    assert refusal(lambda: backend.open(V1, PUBLIC))[1] is Reason.INDEX_DAMAGED
    assert renamed(refusal(lambda: backend.open(V1, bound("7"))), V1, V3) == refusal(
        lambda: backend.open(V3, bound("7"))
    )


@pytest.mark.parametrize("ask", ["open", "get_index"])
def test_a_hidden_scope_looks_like_one_that_never_was(backend: EmbeddedBackend, put: Put, ask: str) -> None:
    put(V1, HIDDEN, activate=True)
    put(V2, HIDDEN)
    open_ = getattr(backend, ask)
    for hidden in (UNPINNED, V1, V2, V3):
        refused = refusal(partial(open_, hidden, PUBLIC))
        assert refused[:2] == (NotFoundError, Reason.SCOPE_NOT_FOUND)
        for never in (replace(hidden, repository="absent"), replace(hidden, branch="absent")):
            assert renamed(refused, hidden, never) == refusal(partial(open_, never, PUBLIC))


@pytest.mark.parametrize("ask", ["open", "get_index"])
def test_a_hidden_version_of_a_visible_scope_looks_like_one_that_never_was(
    backend: EmbeddedBackend, put: Put, ask: str
) -> None:
    put(V1, activate=True)
    put(V2, HIDDEN)
    refused = refusal(lambda: getattr(backend, ask)(V2, PUBLIC))
    assert refused[:2] == (NotFoundError, Reason.INDEX_NOT_FOUND)
    assert renamed(refused, V2, V3) == refusal(lambda: getattr(backend, ask)(V3, PUBLIC))


def test_a_visible_version_answers_its_pin_when_the_active_one_is_hidden(backend: EmbeddedBackend, put: Put) -> None:
    put(V1)
    put(V2, HIDDEN, activate=True)
    assert backend.open(V1, PUBLIC).index == "v1"
    assert refusal(lambda: backend.open(UNPINNED, PUBLIC))[1] is Reason.SCOPE_NOT_FOUND


def test_a_scope_without_an_active_version_answers_pins_only(backend: EmbeddedBackend, put: Put) -> None:
    put(V1)
    assert backend.open(V1, PUBLIC).index == "v1"
    assert refusal(lambda: backend.open(UNPINNED, PUBLIC))[1] is Reason.SCOPE_NOT_FOUND


def test_listing_tells_what_the_caller_sees_in_order(
    backend: EmbeddedBackend, put: Put, tmp_path: Path, publish: Callable[..., None], make_node: Callable[..., Node]
) -> None:
    put(Scope("b", "main", "v1"), activate=True)
    put(Scope("a", "x", "v10"))
    put(Scope("a", "x", "v9"), activate=True)
    put(Scope("a", "hidden", "v1"), HIDDEN, activate=True)
    listed = [(s.repository, s.branch, s.version, s.active) for s in listing(backend, "", "", PUBLIC)]
    assert listed == [("a", "x", "v10", False), ("a", "x", "v9", True), ("b", "main", "v1", True)]
    assert [s.branch for s in listing(backend, "a", "", FINANCE)] == ["hidden", "x", "x"]
    assert [s.repository for s in listing(backend, "", "main", PUBLIC)] == ["b"]
    assert listing(backend, "a", "main", PUBLIC) == ()


def test_a_summary_counts_what_the_caller_sees(
    backend: EmbeddedBackend, tmp_path: Path, publish: Callable[..., None], make_node: Callable[..., Node]
) -> None:
    hidden = make_node("C", kind="sql", language="tsql", access=HIDDEN, path="db/tax/t.sql")
    nodes = [make_node("A", language="csharp", path="src/tax/a.cs"), make_node("B", path="README"), hidden]
    edges = [Edge(nodes[0].id, other.id, "Calls") for other in nodes[:2]]
    publish(tmp_path, nodes, [*edges, Edge(nodes[0].id, hidden.id, "ReadsFrom")], [(1, 0, 0)] * 3)
    (public, public_names), (finance, names) = (backend.get_index(UNPINNED, access) for access in (PUBLIC, FINANCE))
    assert public_names == IndexNames(
        kinds=("cs",), languages=("csharp",), edge_types=("Calls",), folders=("src/tax/",)
    )
    assert names == IndexNames(("cs", "sql"), ("csharp", "tsql"), ("Calls", "ReadsFrom"), ("db/tax/", "src/tax/"))
    assert (public.node_count, public.edge_count) == (2, 2)
    assert (finance.node_count, finance.edge_count) == (3, 3)
    assert replace(finance, node_count=2, edge_count=2) == public
    assert public == IndexSummary(
        repository="shop",
        branch="main",
        version="v1",
        active=True,
        created=public.created,
        source="test",
        node_count=2,
        edge_count=2,
        embedder="",
        embedder_fingerprint="",
        dimension=3,
        lexical=True,
        token_counter="words",
        link_template="",
    )


def test_of_too_many_names_none_is_told(
    backend: EmbeddedBackend, tmp_path: Path, publish: Callable[..., None], make_node: Callable[..., Node]
) -> None:
    nodes = [
        make_node("A", kind=f"k{number}", language=f"l{number % MAX_NAMES}", path=f"f{number}/a/b")
        for number in range(MAX_NAMES + 1)
    ]
    publish(tmp_path, nodes)
    _, names = backend.get_index(UNPINNED, PUBLIC)
    assert (names.kinds, len(names.languages), names.edge_types, names.folders) == ((), MAX_NAMES, (), ())


def test_texts_and_sizes_are_told_of_visible_nodes_only(
    backend: EmbeddedBackend, tmp_path: Path, publish: Callable[..., None], make_node: Callable[..., Node]
) -> None:
    seen = make_node("A", "zwölf Wörter", path="ä/b.cs", symbol="Ä", token_count=7)
    hidden = make_node("B", "secret", access=HIDDEN)
    publish(tmp_path, [seen, hidden])
    snapshot = backend.open(UNPINNED, PUBLIC)
    ids = [hidden.id, "absent", seen.id, seen.id]
    rows = snapshot.rows(ids)
    assert list(rows) == [seen.id]
    assert snapshot.text_sizes(np.asarray([rows[seen.id]])) == [TextSize(tokens=7, chars=12, bytes=14 + 2 + 2 * 7)]
    assert texts_of(snapshot, ids) == [StoredText("zwölf Wörter", 7, seen.location, "Ä")]


@pytest.mark.parametrize("action", ["activate", "delete"])
def test_administration_tells_an_absent_version(backend: EmbeddedBackend, put: Put, action: str) -> None:
    put(V1, activate=True)
    assert refusal(lambda: getattr(backend, action)(V2))[:2] == (NotFoundError, Reason.INDEX_NOT_FOUND)


def test_a_damaged_version_is_not_activated(backend: EmbeddedBackend, put: Put, tmp_path: Path) -> None:
    put(V1, activate=True)
    put(V2)
    (tmp_path / "shop" / "main" / "v2" / "text.utf8").write_bytes(b"x" * len("text of v2"))
    kind, reason, message, metadata = refusal(lambda: backend.activate(V2))
    assert (kind, reason, metadata) == (PreconditionError, Reason.INDEX_DAMAGED, V2.names)
    assert "text.utf8" in message
    assert backend.open(UNPINNED, PUBLIC).index == "v1"


def test_only_the_most_recently_used_indexes_stay_open(
    tmp_path: Path, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def noted(directory: Path, scope: Scope) -> LoadedIndex:
        opened.append(scope.active_index)
        return open_version(directory, scope)

    monkeypatch.setattr("groundwire_server.backends.embedded.pool.open_version", noted)
    pool = IndexPool(IndexStore(tmp_path), max_open=2)
    for scope in (V1, V2, V3):
        put(scope)
    for scope in (V1, V2, V1, V3, V1, V2):
        assert pool.view(scope, PUBLIC).index.manifest.version == scope.active_index
    assert opened == ["v1", "v2", "v3", "v2"]


def test_readers_are_answered_while_versions_come_and_go(backend: EmbeddedBackend, put: Put) -> None:
    """Each read is whole: the snapshot's text is that of the version which the snapshot names."""
    put(replace(UNPINNED, active_index="v000"), activate=True)
    done = threading.Event()
    answers: set[str] = set()

    def read() -> None:
        while not done.is_set():
            snapshot = backend.open(UNPINNED, PUBLIC)
            (stored,) = texts_of(snapshot, ["shop::main::cs::A"])
            assert stored.text == f"text of {snapshot.index}"
            answers.add(snapshot.index)

    with ThreadPoolExecutor(2) as readers:
        reading = [readers.submit(read) for _ in range(2)]
        try:
            for number in range(1, 15):
                put(replace(UNPINNED, active_index=f"v{number:03}"), activate=True)
                backend.delete(replace(UNPINNED, active_index=f"v{number - 1:03}"))
        finally:
            done.set()
        for reader in reading:
            reader.result()
    assert len(answers) > 1


def test_a_version_is_opened_at_once_only_where_it_is_known_what_the_caller_sees(
    backend: EmbeddedBackend, put_case: Put
) -> None:
    """The event loop asks this, so nothing may be computed or read."""
    put_case(V1, "7", activate=True)
    active, deleted = (
        partial(backend.open_at_once, UNPINNED, lifecycle=lifecycle, filter_=Filter())
        for lifecycle in (Lifecycle.ACTIVE, Lifecycle.DELETED)
    )
    backend.open(UNPINNED, bound("7"), Lifecycle.ACTIVE, Filter())
    assert active(bound("7")) is not None
    assert deleted(bound("7")) is None, "other rows"
    backend.open(UNPINNED, bound("7"), Lifecycle.DELETED, Filter())
    assert deleted(bound("7")) is not None
    assert active(bound("8")) is None, "another caller"
