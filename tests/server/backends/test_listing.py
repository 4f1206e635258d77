"""What a caller may not see is not opened for it: not in a listing, and not when it names it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from groundwire_index.nodes.node import Node, NodeAccess
from groundwire_index.nodes.policies import POLICIES_FILE
from groundwire_index.scope import Scope
from groundwire_index.store.loaded import LoadedIndex, open_version
from groundwire_index.store.store import IndexStore
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.backends.embedded.graph import Graph
from groundwire_server.backends.embedded.pool import KnownPolicies
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.grants import UNLIMITED, Scopes
from groundwire_server.domain.errors import DeadlineError, NotFoundError, Reason
from support.calls import never_stop

PUBLIC = AccessContext()
FINANCE = AccessContext(acl_tags_any=frozenset({"finance"}))
HIDDEN = NodeAccess(acl_tags=("finance",))
VERSIONS = 12
SHOP_ONLY = Scopes.parse(["shop::*"])


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Scope]:
    """The versions that were opened since."""
    scopes: list[Scope] = []

    def noted(directory: Path, scope: Scope) -> LoadedIndex:
        scopes.append(scope)
        return open_version(directory, scope)

    monkeypatch.setattr("groundwire_server.backends.embedded.pool.open_version", noted)
    return scopes


@pytest.fixture(scope="module")
def data(
    tmp_path_factory: pytest.TempPathFactory, publish: Callable[..., None], make_node: Callable[..., Node]
) -> Path:
    """A public version of `shop main`, and many of `shop hidden` for finance and of `vault open` for everybody."""
    data = tmp_path_factory.mktemp("listed")
    public = Scope("shop", "main", "v1")
    publish(data, [make_node("A", scope=public)], scope=public)
    for number in range(VERSIONS):
        hidden, other = Scope("shop", "hidden", f"v{number}"), Scope("vault", "open", f"v{number}")
        publish(data, [make_node("A", scope=hidden, access=HIDDEN)], scope=hidden)
        publish(data, [make_node("A", scope=other)], scope=other)
    return data


def listed(backend: EmbeddedBackend, access: AccessContext, scopes: Scopes) -> list[str]:
    return [summary.branch for summary in backend.list_indexes("", "", access, scopes, never_stop)]


def test_a_listing_opens_what_it_lists_alone(data: Path, opened: list[Scope]) -> None:
    backend = EmbeddedBackend(data)
    assert listed(backend, PUBLIC, SHOP_ONLY) == ["main"]
    assert opened == [Scope("shop", "main", "v1")]
    assert listed(backend, FINANCE, SHOP_ONLY) == ["hidden"] * VERSIONS + ["main"]
    assert len(opened) == 1 + VERSIONS


def test_a_listing_loads_no_graph_and_any_other_opening_does(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph takes memory in each process and time to load, which a walk is not to wait for."""
    begun: list[Graph] = []
    monkeypatch.setattr(Graph, "begin", lambda graph: begun.append(graph))
    backend = EmbeddedBackend(data)
    assert backend.list_indexes("", "", PUBLIC, UNLIMITED.scopes, never_stop)
    backend.get_index(Scope("shop", "main"), PUBLIC)
    assert begun == []
    backend.open(Scope("shop", "main"), PUBLIC)
    assert len(begun) == 1


def test_what_is_not_granted_is_not_even_looked_into(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    directories = "groundwire_index.store.store._visible_directories"

    def noted(parent: Path) -> list[Path]:
        read.append(parent.relative_to(data))
        return [path for path in parent.iterdir() if path.is_dir() and not path.name.startswith(".")]

    def noted_active(_: IndexStore, scope: Scope) -> str:
        read.append(Path(scope.repository, scope.branch))
        return "v1"

    monkeypatch.setattr(directories, noted)
    granted = Scopes.parse(["shop::main"])
    assert listed(EmbeddedBackend(data), PUBLIC, granted) == ["main"]
    assert read == [Path(), Path("shop"), Path("shop/main")]
    read.clear()
    monkeypatch.setattr(IndexStore, "active", noted_active)
    assert EmbeddedBackend(data).scopes(UNLIMITED.scopes, granted) == [Scope("shop", "main")]
    assert read == [Path(), Path("shop"), Path("shop/main")]


def test_the_policies_of_what_is_hidden_are_read_once(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def noted(path: Path) -> bytes:
        read.append(path.name)
        with path.open("rb") as file:
            return file.read()

    backend = EmbeddedBackend(data)
    monkeypatch.setattr(Path, "read_bytes", noted)
    hidden = Scopes.parse(["shop::hidden"])
    assert listed(backend, PUBLIC, hidden) == []
    assert read == [POLICIES_FILE] * VERSIONS
    assert listed(backend, PUBLIC, hidden) == []
    assert len(read) == VERSIONS


@pytest.mark.parametrize("passed", [0, 1, VERSIONS])
def test_a_listing_stops_where_nobody_waits_for_it(data: Path, opened: list[Scope], passed: int) -> None:
    left = passed

    def checkpoint() -> None:
        nonlocal left
        if left == 0:
            raise DeadlineError
        left -= 1

    with pytest.raises(DeadlineError):
        EmbeddedBackend(data).list_indexes("", "", FINANCE, UNLIMITED.scopes, checkpoint)
    assert len(opened) == max(0, passed - 1)


@pytest.mark.parametrize("version", ["", "v3", "v99"])
def test_who_sees_nothing_of_a_version_never_has_it_opened(data: Path, opened: list[Scope], version: str) -> None:
    backend = EmbeddedBackend(data)
    hidden, absent = Scope("shop", "hidden", version), Scope("shop", "absent", version)
    for ask in (backend.open, backend.get_index):
        messages: list[str] = []
        for scope in (hidden, absent):
            with pytest.raises(NotFoundError) as caught:
                ask(scope, PUBLIC)
            assert caught.value.reason is Reason.SCOPE_NOT_FOUND
            messages.append(caught.value.message)
        assert messages[0] == messages[1]
    assert opened == []
    if version != "v99":
        assert backend.open(hidden, FINANCE).index == version or not version
        assert len(opened) == 1


def test_policies_are_kept_as_far_as_they_fit_and_as_long_as_they_stay(data: Path, tmp_path: Path) -> None:
    store = IndexStore(shutil.copytree(data, tmp_path, dirs_exist_ok=True))
    directory_v1, directory_v2 = (store.directory(Scope("shop", "hidden", version)) for version in ("v1", "v2"))
    policies = KnownPolicies(most_classes=3)
    for directory in (directory_v1, directory_v2, directory_v1):
        assert policies.any_visible(directory, FINANCE)
        assert not policies.any_visible(directory, PUBLIC)
    assert len(policies._kept) == 1
    (directory_v1 / POLICIES_FILE).write_text("[{}]")
    assert policies.any_visible(directory_v1, PUBLIC)
    (directory_v1 / POLICIES_FILE).unlink()
    assert not policies.any_visible(directory_v1, FINANCE)
