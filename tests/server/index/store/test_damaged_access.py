"""Damage to the files that decide access is found when an index is opened, and shows nobody anything."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from groundwire_index.nodes.node import Node, NodeAccess
from groundwire_index.nodes.policies import POLICY_COLUMN
from groundwire_index.scope import Scope
from groundwire_index.store.loaded import ACCESS_FILES, LoadedIndex, verify
from groundwire_index.store.store import IndexStore
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.errors import PreconditionError, Reason
from groundwire_server.domain.search.search import Filter
from support.damage import edit_manifest, forge_checksums, refused, sizes_as_they_are

V1 = Scope("shop", "main", "v1")
PUBLIC, FINANCE = AccessContext(), AccessContext(acl_tags_any=frozenset({"finance"}))


@pytest.fixture
def guarded(tmp_path: Path, publish: Callable[..., None], make_node: Callable[..., Node]) -> Path:
    """The directory of an index in which finance sees one node more than everybody does; active."""
    hidden = make_node("N0", "salaries", access=NodeAccess(acl_tags=("finance",)))
    bound = make_node("N1", "prices", collection_id="red", metadata={"workflow_id": "w"})
    gone = make_node("N2", "gone", deleted=True, collection_id="blue", metadata={"workflow_id": "v"})
    publish(tmp_path, [hidden, bound, gone])
    return IndexStore(tmp_path).directory(V1)


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


@pytest.mark.parametrize("name", ACCESS_FILES)
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(zero, id="zeroed"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[::-1]), id="swapped"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:-1]), id="truncated"),
    ],
)
def test_what_decides_who_sees_what_is_checked_whole_at_opening(
    guarded: Path, name: str, damage: Callable[[Path], object]
) -> None:
    damage(guarded / name)
    for call in (LoadedIndex, verify):
        assert refused(call, guarded).startswith(f"{name}: ")


def test_the_policies_of_another_index_are_refused(
    guarded: Path, tmp_path: Path, publish: Callable[..., None], make_node: Callable[..., Node]
) -> None:
    """They have the sizes that the manifest says, and one class that lets everybody in."""
    other = Scope("shop", "open", "v1")
    nodes = [make_node(f"N{number}", scope=other, access=NodeAccess(acl_tags=("finance",))) for number in range(2)]
    publish(tmp_path, [*nodes, make_node("N2", scope=other)], scope=other)
    swapped = (IndexStore(tmp_path).directory(other) / POLICY_COLUMN).read_bytes()
    assert len(swapped) == (guarded / POLICY_COLUMN).stat().st_size
    (guarded / POLICY_COLUMN).write_bytes(swapped)
    backend = EmbeddedBackend(tmp_path)
    for access in (PUBLIC, FINANCE):
        with pytest.raises(PreconditionError) as caught:
            backend.open(V1, access)
        assert caught.value.reason is Reason.INDEX_DAMAGED


def test_access_files_that_the_manifest_does_not_name_are_refused(guarded: Path) -> None:
    for name in ACCESS_FILES:
        kept = [entry for entry in sizes_as_they_are(guarded) if entry["name"] != name]
        edit_manifest(guarded, files=kept)
        assert refused(LoadedIndex, guarded).endswith("is not in the manifest")


def test_a_column_of_zeros_shows_nothing_even_if_the_manifest_vouches_for_it(guarded: Path, tmp_path: Path) -> None:
    zero(guarded / POLICY_COLUMN)
    forge_checksums(guarded)
    verify(guarded)
    backend = EmbeddedBackend(tmp_path)
    for access in (PUBLIC, FINANCE):
        for lifecycle in Lifecycle:
            snapshot = backend.open(V1, access, lifecycle)
            assert snapshot.selection.visibility.count == 0
            ids = [f"shop::main::cs::N{number}" for number in range(3)]
            assert snapshot.rows(ids) == {}
            with pytest.raises(PermissionError):
                snapshot.texts(np.arange(3))
        assert backend.open(V1, access, filter_=Filter(tenant_ids=("",))).node_count == 0


@pytest.mark.parametrize("code", [-1, 3])
def test_a_code_of_no_policy_class_is_refused_even_if_the_manifest_vouches_for_it(guarded: Path, code: int) -> None:
    codes = np.fromfile(guarded / POLICY_COLUMN, dtype=np.int32)
    codes[0] = code
    codes.tofile(guarded / POLICY_COLUMN)
    forge_checksums(guarded)
    assert refused(LoadedIndex, guarded) == "policy.bin: names policy classes that policies.json does not have"
