"""Damaged directories are refused with a message that names the file: at once by size and shape, in full by verify."""

import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.nodes.node import Edge, Node, NodeAccess
from groundwire_index.nodes.policies import POLICIES_FILE
from groundwire_index.scope import Scope
from groundwire_index.store.loaded import LoadedIndex, verify
from groundwire_index.store.manifest import FORMAT_VERSION, MANIFEST_FILE, Manifest
from groundwire_index.store.store import IndexStore
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.grants import UNLIMITED
from groundwire_server.domain.errors import NotFoundError, PreconditionError, Reason
from support.calls import never_stop
from support.damage import edit_manifest, forge_checksums, refused, sizes_as_they_are

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


def test_a_sound_index_opens_and_verifies(version: Path) -> None:
    LoadedIndex(version)
    verify(version)


def test_a_file_that_is_missing_truncated_or_longer_is_refused_at_once(version: Path) -> None:
    for path in sealed_files(version):
        content = path.read_bytes()
        damages: list[tuple[bytes | None, str]] = [(None, "is missing"), (content + b"\0", "the manifest says")]
        if content:
            damages += [(content[:-1], "the manifest says"), (b"", "has 0 bytes")]
        for damaged, message_part in damages:
            if damaged is None:
                path.unlink()
            else:
                path.write_bytes(damaged)
            for call in (LoadedIndex, verify):
                message = refused(call, version)
                assert message.startswith(f"{path.name}: ")
                assert message_part in message
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


@pytest.mark.parametrize(
    ("damage", "message_part"),
    [
        pytest.param(lambda path: path.unlink(), "not an index", id="no manifest"),
        pytest.param(lambda path: path.write_bytes(b""), "manifest.json", id="empty manifest"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:-20]), "manifest.json", id="torn manifest"),
        pytest.param(lambda path: path.write_bytes(b"\xff\xfe"), "manifest.json", id="no text"),
        pytest.param(lambda path: path.write_text("[]"), "manifest.json", id="another document"),
        pytest.param(lambda path: edit_manifest(path.parent, surprise=1), "surprise", id="unknown field"),
        pytest.param(lambda path: edit_manifest(path.parent, node_count="5"), "node_count", id="wrong type"),
        pytest.param(
            lambda path: edit_manifest(path.parent, format="other-index"),
            f"other-index {FORMAT_VERSION}",
            id="other format",
        ),
        pytest.param(
            lambda path: edit_manifest(path.parent, format_version=FORMAT_VERSION + 1),
            f"groundwire-index {FORMAT_VERSION + 1}",
            id="newer version",
        ),
        pytest.param(lambda path: edit_manifest(path.parent, node_count=4), "id", id="fewer nodes than there are"),
        pytest.param(lambda path: edit_manifest(path.parent, edge_count=2), "edges.from.bin", id="more edges"),
    ],
)
def test_a_foreign_or_torn_manifest_is_refused(
    version: Path, damage: Callable[[Path], None], message_part: str
) -> None:
    damage(version / MANIFEST_FILE)
    for call in (LoadedIndex, verify):
        assert message_part in refused(call, version)


def test_an_older_format_says_what_to_do(version: Path) -> None:
    """Manifests of long ago have other fields, and are refused for their format rather than for them."""
    for older, fields in ((1, {"tokenizer": "code-1", "term_count": 7}), (FORMAT_VERSION - 1, {})):
        edit_manifest(version, format_version=older, **fields)
        newest = f"this server reads groundwire-index {FORMAT_VERSION}; build the index anew"
        expected = f"format groundwire-index {older}; {newest}"
        assert expected in refused(verify, version)


@pytest.mark.parametrize(
    ("name", "dtype", "forged", "message_part"),
    [
        ("categories.bin", np.int32, 1 << 20, "categories.bin: kind names values that categories.values.utf8 does not"),
        ("categories.bin", np.int32, -1, "categories.bin: kind names values"),
        ("categories.starts.bin", np.int64, 1, "categories.starts.bin: does not divide the values"),
        ("reading_order.bin", np.int32, 5, "reading_order.bin: names rows or documents that do not exist"),
        ("names.terms.offsets.bin", np.int64, 1, "names.terms.utf8: has"),
        ("trigrams.terms.offsets.bin", np.int64, 1, "trigrams.terms.utf8: has"),
        ("metadata_terms.terms.offsets.bin", np.int64, 1, "metadata_terms.terms.utf8: has"),
        ("code.terms.offsets.bin", np.int64, 1, "code.terms.utf8: has"),
        ("prose.terms.offsets.bin", np.int64, 1, "prose.terms.utf8: has"),
    ],
)
def test_numbers_that_point_nowhere_are_refused_at_once(
    version: Path, name: str, dtype: type[np.generic], forged: int, message_part: str
) -> None:
    numbers = np.fromfile(version / name, dtype=dtype)
    numbers[0] = forged
    numbers.tofile(version / name)
    forge_checksums(version)
    assert refused(LoadedIndex, version).startswith(message_part)


@pytest.mark.parametrize(
    ("starts_of", "message_part"),
    [
        *((name, f"{name}.rows.bin: has") for name in ("names", "trigrams", "metadata_terms", "code", "prose")),
        ("names.of_rows", "names.of_rows.bin: has"),
        ("service_edges", "service_edges.starts.bin: does not divide the 1 edges of service_edges.bin"),
    ],
)
def test_a_last_start_that_lies_elsewhere_is_refused_at_once(version: Path, starts_of: str, message_part: str) -> None:
    path = version / f"{starts_of}.starts.bin"
    starts = np.fromfile(path, dtype=np.int64)
    for forged in (-1, starts[-1] + 1, 1 << 62):
        np.asarray([*starts[:-1], forged], dtype=np.int64).tofile(path)
        forge_checksums(version)
        assert refused(LoadedIndex, version).startswith(message_part)


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


@pytest.mark.parametrize(
    "template",
    [
        "javascript:alert(document.cookie)//{path}",
        "https://ann:secret@git.example/{path}",
        "https://git.example/{commit}/{path}",
        "https://git.example/{path.__init__.__globals__}",
        'https://git.example/"><script>{path}',
        "https://git.example/\n{path}",
        "https://git.example/",
        "https://git.example/" + "{path}" * 200,
        7,
    ],
)
def test_a_template_that_makes_no_safe_links_is_damage(version: Path, template: object) -> None:
    edit_manifest(version, link_template=template)
    for call in (LoadedIndex, verify, Manifest.read):
        message = refused(call, version)
        assert message.startswith("manifest.json: 1 errors")
        assert "link_template" in message
    (entry,) = IndexStore(version.parents[2]).listed()
    assert (entry.version, entry.link_template) == ("v1", "")
    assert "link_template" in entry.damage
    backend = EmbeddedBackend(version.parents[2])
    assert backend.list_indexes("", "", AccessContext(), UNLIMITED.scopes, never_stop) == ()
    with pytest.raises(PreconditionError):
        backend.get_index(V1, AccessContext())
