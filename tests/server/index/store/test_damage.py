"""Damaged directories are refused with a message that names the file: at once by size and shape, in full by verify."""

import hashlib
import json
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from groundwire_index.nodes.node import Edge, Node, NodeAccess
from groundwire_index.nodes.policies import POLICIES_FILE, POLICY_COLUMN
from groundwire_index.scope import Scope
from groundwire_index.store.errors import IndexDamagedError
from groundwire_index.store.loaded import ACCESS_FILES, LoadedIndex, verify
from groundwire_index.store.manifest import CHECKSUM_FILE, MANIFEST_FILE, Manifest
from groundwire_index.store.store import IndexStore
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.grants import UNLIMITED
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.errors import NotFoundError, PreconditionError, Reason
from groundwire_server.domain.search.search import Filter
from support.calls import never_stop

V1 = Scope("shop", "main", "v1")


@pytest.fixture
def version(tmp_path: Path, publish: Callable[..., None], make_node: Callable[..., Node]) -> Path:
    """The directory of an index with every kind of file; active."""
    nodes = [
        make_node(
            f"N{number}",
            f"get user {number}",
            path="src/a.cs",
            symbol="S",
            service_name=f"s{number}",
            metadata={"k": 1},
        )
        for number in range(5)
    ]
    vectors = [(1.0, float(number)) for number in range(5)]
    publish(tmp_path, nodes, [Edge(nodes[0].id, nodes[1].id, "Calls")], vectors)
    return IndexStore(tmp_path).directory(V1)


def sealed_files(version: Path) -> list[Path]:
    return [version / entry.name for entry in Manifest.read(version).files]


def refused(call: Callable[[Path], object], version: Path) -> str:
    with pytest.raises(IndexDamagedError) as caught:
        call(version)
    return str(caught.value)


def test_a_sound_index_opens_and_verifies(version: Path) -> None:
    LoadedIndex(version)
    verify(version)


def test_a_file_that_is_missing_truncated_or_longer_is_refused_at_once(version: Path) -> None:
    for path in sealed_files(version):
        content = path.read_bytes()
        damages: list[tuple[bytes | None, str]] = [(None, "is missing"), (content + b"\0", "the manifest says")]
        if content:
            damages += [(content[:-1], "the manifest says"), (b"", "has 0 bytes")]
        for damaged, told in damages:
            if damaged is None:
                path.unlink()
            else:
                path.write_bytes(damaged)
            for call in (LoadedIndex, verify):
                message = refused(call, version)
                assert message.startswith(f"{path.name}: ")
                assert told in message
        path.write_bytes(content)
    verify(version)


def test_a_flipped_bit_in_any_file_is_found_by_verify(version: Path) -> None:
    rng = random.Random(3)
    for path in sealed_files(version):
        content = bytearray(path.read_bytes())
        for position in {0, len(content) - 1, rng.randrange(len(content))} if content else set():
            bit = 1 << rng.randrange(8)
            content[position] ^= bit
            path.write_bytes(content)
            assert refused(verify, version) == f"{path.name}: its content does not match the manifest's checksum"
            content[position] ^= bit
        path.write_bytes(content)
    verify(version)


def test_a_flipped_bit_never_ends_an_opening_in_another_error(version: Path) -> None:
    """Opening checks few checksums: a flipped bit may go unnoticed, but what is noticed is told as damage."""
    rng = random.Random(4)
    for path in sealed_files(version):
        content = bytearray(path.read_bytes())
        # The first bytes hold the headers, whose damage other libraries report in their own ways.
        for position in {6, 8, 10, 21, 61, *(rng.randrange(128) for _ in range(4))}:
            if position >= len(content):
                continue
            bit = 1 << rng.randrange(8)
            content[position] ^= bit
            path.write_bytes(content)
            with suppress(IndexDamagedError):
                LoadedIndex(version)
            content[position] ^= bit
        path.write_bytes(content)


def sizes_as_they_are(version: Path) -> list[dict[str, object]]:
    """The files of the manifest with the sizes that they have now."""
    entries = json.loads((version / MANIFEST_FILE).read_bytes())["files"]
    return [{**entry, "bytes": (version / entry["name"]).stat().st_size} for entry in entries]


def edit_manifest(version: Path, **changes: object) -> None:
    """Forges the manifest with a checksum that fits."""
    manifest = json.loads((version / MANIFEST_FILE).read_bytes())
    forged = json.dumps({**manifest, **changes})
    (version / MANIFEST_FILE).write_text(forged)
    (version / CHECKSUM_FILE).write_text(f"{hashlib.sha256(forged.encode()).hexdigest()}  {MANIFEST_FILE}\n")


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        pytest.param(lambda path: path.unlink(), "not an index", id="no manifest"),
        pytest.param(lambda path: path.write_bytes(b""), "manifest.json", id="empty manifest"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:-20]), "manifest.json", id="torn manifest"),
        pytest.param(lambda path: path.write_bytes(b"\xff\xfe"), "manifest.json", id="no text"),
        pytest.param(lambda path: path.write_text("[]"), "manifest.json", id="another document"),
        pytest.param(lambda path: edit_manifest(path.parent, surprise=1), "surprise", id="unknown field"),
        pytest.param(lambda path: edit_manifest(path.parent, node_count="5"), "node_count", id="wrong type"),
        pytest.param(lambda path: edit_manifest(path.parent, format="other-index"), "other-index 6", id="other format"),
        pytest.param(
            lambda path: edit_manifest(path.parent, format_version=7), "groundwire-index 7", id="newer version"
        ),
        pytest.param(lambda path: edit_manifest(path.parent, node_count=4), "id", id="fewer nodes than there are"),
        pytest.param(lambda path: edit_manifest(path.parent, edge_count=2), "edges.from.bin", id="more edges"),
    ],
)
def test_a_foreign_or_torn_manifest_is_refused(version: Path, damage: Callable[[Path], None], told: str) -> None:
    damage(version / MANIFEST_FILE)
    for call in (LoadedIndex, verify):
        assert told in refused(call, version)


def test_an_older_format_says_what_to_do(version: Path) -> None:
    """Its manifest has other fields, and is refused for its format rather than for them."""
    edit_manifest(version, format_version=1, tokenizer="code-1", term_count=7)
    assert "this server reads groundwire-index 6; build the index anew" in refused(verify, version)


@pytest.mark.parametrize(
    ("name", "dtype", "forged", "told"),
    [
        ("categories.bin", np.int32, 1 << 20, "categories.bin: kind names values that categories.values.utf8 does not"),
        ("categories.bin", np.int32, -1, "categories.bin: kind names values"),
        ("categories.starts.bin", np.int64, 1, "categories.starts.bin: does not divide the values"),
        ("reading_order.bin", np.int32, 5, "reading_order.bin: names rows or documents that there are not"),
        ("names.terms.offsets.bin", np.int64, 1, "names.terms.utf8: has"),
        ("trigrams.terms.offsets.bin", np.int64, 1, "trigrams.terms.utf8: has"),
        ("metadata_terms.terms.offsets.bin", np.int64, 1, "metadata_terms.terms.utf8: has"),
        ("code.terms.offsets.bin", np.int64, 1, "code.terms.utf8: has"),
        ("prose.terms.offsets.bin", np.int64, 1, "prose.terms.utf8: has"),
    ],
)
def test_numbers_that_point_nowhere_are_refused_at_once(
    version: Path, name: str, dtype: type[np.generic], forged: int, told: str
) -> None:
    numbers = np.fromfile(version / name, dtype=dtype)
    numbers[0] = forged
    numbers.tofile(version / name)
    forge_checksums(version)
    assert refused(LoadedIndex, version).startswith(told)


@pytest.mark.parametrize(
    ("starts_of", "told"),
    [
        *((name, f"{name}.rows.bin: has") for name in ("names", "trigrams", "metadata_terms", "code", "prose")),
        ("names.of_rows", "names.of_rows.bin: has"),
        ("service_edges", "service_edges.starts.bin: does not divide the 1 edges of service_edges.bin"),
    ],
)
def test_a_last_start_that_lies_elsewhere_is_refused_at_once(version: Path, starts_of: str, told: str) -> None:
    path = version / f"{starts_of}.starts.bin"
    starts = np.fromfile(path, dtype=np.int64)
    for forged in (-1, starts[-1] + 1, 1 << 62):
        np.asarray([*starts[:-1], forged], dtype=np.int64).tofile(path)
        forge_checksums(version)
        assert refused(LoadedIndex, version).startswith(told)


def test_a_saturated_row_that_there_is_not_is_refused_at_once(version: Path) -> None:
    for forged in (-1, 5):
        np.asarray([forged], dtype=np.int32).tofile(version / "code.frequent.saturated.bin")
        edit_manifest(version, files=sizes_as_they_are(version))
        assert refused(LoadedIndex, version) == "code.frequent.saturated.bin: names rows that do not exist"


def test_a_change_of_the_manifest_is_refused_at_once(version: Path) -> None:
    manifest = version / MANIFEST_FILE
    manifest.write_text(manifest.read_text().replace('"Calls"', '"Cells"'))
    for call in (LoadedIndex, verify):
        assert refused(call, version) == "manifest.json: its content does not match manifest.sha256"


PUBLIC, FINANCE = AccessContext(), AccessContext(acl_tags_any=frozenset({"finance"}))


@pytest.fixture
def guarded(tmp_path: Path, publish: Callable[..., None], make_node: Callable[..., Node]) -> Path:
    """The directory of an index in which finance sees one node more than everybody does; active."""
    hidden = make_node("N0", "salaries", access=NodeAccess(acl_tags=("finance",)))
    bound = make_node("N1", "prices", collection_id="red", metadata={"workflow_id": "w"})
    gone = make_node("N2", "gone", deleted=True, collection_id="blue", metadata={"workflow_id": "v"})
    publish(tmp_path, [hidden, bound, gone])
    return IndexStore(tmp_path).directory(V1)


def forge_checksums(version: Path) -> None:
    """Writes a manifest by which the files are as they shall be."""
    entries = json.loads((version / MANIFEST_FILE).read_bytes())["files"]
    files = [
        {"name": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in ((entry["name"], (version / entry["name"]).read_bytes()) for entry in entries)
    ]
    edit_manifest(version, files=files)


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
            assert snapshot.view.visibility.count == 0
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


@pytest.mark.parametrize(
    "elsewhere", [Scope("shop", "main", "v2"), Scope("shop", "other", "v1"), Scope("other", "main", "v1")], ids=str
)
def test_a_directory_moved_to_another_name_is_foreign_there(version: Path, tmp_path: Path, elsewhere: Scope) -> None:
    """Its manifest and its ids name another version; a response would name an index that was not asked."""
    store = IndexStore(tmp_path)
    store.directory(elsewhere).parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(version, store.directory(elsewhere))
    with pytest.raises(PreconditionError) as caught:
        EmbeddedBackend(tmp_path).open(elsewhere, AccessContext())
    assert caught.value.reason is Reason.INDEX_DAMAGED
    with pytest.raises(IndexDamagedError):
        store.activate(elsewhere)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda version: (version / "text.utf8").write_bytes(b""), id="truncated"),
        pytest.param(lambda version: (version / MANIFEST_FILE).unlink(), id="without manifest"),
        pytest.param(lambda version: edit_manifest(version, format_version=1), id="of another format"),
    ],
)
def test_a_server_tells_damage_and_goes_on_with_the_others(
    version: Path,
    tmp_path: Path,
    damage: Callable[[Path], object],
    publish: Callable[..., None],
    make_node: Callable[..., Node],
) -> None:
    sound = Scope("shop", "main", "v2")
    publish(tmp_path, [make_node("N0")], scope=sound, activate=False)
    damage(version)
    backend = EmbeddedBackend(tmp_path)
    with pytest.raises(PreconditionError) as caught:
        backend.open(V1, AccessContext())
    assert caught.value.reason is Reason.INDEX_DAMAGED
    assert dict(caught.value.metadata) == {"repository": "shop", "branch": "main", "active_index": "v1"}
    assert backend.open(sound, AccessContext()).index == "v2"
    assert [
        summary.version for summary in backend.list_indexes("", "", AccessContext(), UNLIMITED.scopes, never_stop)
    ] == ["v2"]


def test_damage_is_told_only_to_those_who_may_see_the_index(
    tmp_path: Path, publish: Callable[..., None], make_node: Callable[..., Node]
) -> None:
    publish(tmp_path, [make_node("N0", access=NodeAccess(acl_tags=("finance",)))])
    directory = IndexStore(tmp_path).directory(V1)
    (directory / "text.utf8").write_bytes(b"damage")
    backend = EmbeddedBackend(tmp_path)
    with pytest.raises(NotFoundError) as hidden:
        backend.open(V1, AccessContext())
    assert hidden.value.reason is Reason.SCOPE_NOT_FOUND
    with pytest.raises(PreconditionError):
        backend.open(V1, AccessContext(acl_tags_any=frozenset({"finance"})))
    (directory / POLICIES_FILE).unlink()
    with pytest.raises(NotFoundError):
        backend.open(V1, AccessContext(acl_tags_any=frozenset({"finance"})))
