"""Versions that are published and taken from there; attacks and faults of what is published."""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

from groundwire_index.embedding.int8.record import RECORD_FILE, EncoderRecord
from groundwire_index.embedding.int8.store import EncoderStore
from groundwire_index.index_errors import VersionDeletedError, VersionNotFoundError
from groundwire_index.nodes.node import Node
from groundwire_index.scope import Scope
from groundwire_index.store.loaded import open_version
from groundwire_index.store.manifest import CHECKSUM_FILE, MANIFEST_FILE, Manifest
from groundwire_index.store.store import IndexStore
from groundwire_object_storage.index_cache import CacheBounds, CacheUpdate, IndexCache
from groundwire_object_storage.object_folder import ObjectFolder, ObjectStorageError
from groundwire_object_storage.published_versions import PublishedVersions
from groundwire_object_storage.publishing import publish

V1 = Scope("shop", "feature/tax", "v1")
V2, V3 = (replace(V1, active_index=version) for version in ("v2", "v3"))
OTHER = Scope("stock", "main", "v1")


class Fleet:
    """One data folder that is built in, an address, and one data folder of servers."""

    def __init__(self, folder: Path, build: Callable[..., None], make_node: Callable[..., Node]) -> None:
        self._build, self._make_node = build, make_node
        self.address = folder / "published"
        self.built = IndexStore(folder / "built")
        self.served = IndexStore(folder / "served")
        self.published = PublishedVersions(ObjectFolder(str(self.address)))
        self.bounds = CacheBounds(1 << 30, kept=1)

    def build(self, store: IndexStore, scope: Scope, text: str) -> None:
        """Builds a version of one node."""
        store.data.mkdir(exist_ok=True)
        self._build(store.data, [self._make_node("Tax", text, scope=scope)], vectors=[(1, 0, 0)], scope=scope)

    def release(self, scope: Scope) -> None:
        """Builds a version, publishes it, and lets servers take it."""
        self.build(self.built, scope, f"tax of {scope.active_index}")
        publish(self.built, EncoderStore(self.built.data), self.published, scope)
        self.published.activate(scope)

    def update(self) -> CacheUpdate:
        """What a follower of the address does at one look."""
        cache = IndexCache(self.published, self.served.data, self.bounds)
        cache.claim()
        return cache.update()

    def published_file(self, scope: Scope, name: str) -> Path:
        """A published file."""
        return self.address / "shop" / "feature%2Ftax" / scope.active_index / name

    def rewrite_manifest(self, scope: Scope, **changes: object) -> None:
        """Changes fields of a published manifest, and its checksum with it, as an attacker can who may write there."""
        fields = json.loads(self.published_file(scope, MANIFEST_FILE).read_bytes()) | changes
        content = json.dumps(fields).encode()
        self.published_file(scope, MANIFEST_FILE).write_bytes(content)
        checksum = f"{hashlib.sha256(content).hexdigest()}  {MANIFEST_FILE}\n"
        self.published_file(scope, CHECKSUM_FILE).write_text(checksum)

    def names_of_served_versions(self) -> list[str]:
        return self.served.versions(V1)


@pytest.fixture
def folder(scratch: Callable[[], AbstractContextManager[Path]]) -> Iterator[Path]:
    with scratch() as directory:
        yield directory


@pytest.fixture
def fleet(folder: Path, publish: Callable[..., None], make_node: Callable[..., Node]) -> Fleet:
    return Fleet(folder, publish, make_node)


def _size(store: IndexStore, scope: Scope) -> int:
    return sum(path.stat().st_size for path in store.directory(scope).iterdir())


def test_servers_have_the_bytes_that_were_built(fleet: Fleet) -> None:
    fleet.release(V1)
    fleet.release(OTHER)
    update = fleet.update()
    assert [version.scope for version in update.activated] == [V1, OTHER]
    assert not update.failures
    for scope in (V1, OTHER):
        assert fleet.served.active(scope) == "v1"
        fleet.served.verify(scope)
        built, served = fleet.built.directory(scope), fleet.served.directory(scope)
        assert {path.name: path.read_bytes() for path in served.iterdir()} == {
            path.name: path.read_bytes() for path in built.iterdir()
        }
    assert fleet.update().activated == []


def test_the_version_before_is_kept_and_an_older_one_can_be_taken_again(fleet: Fleet) -> None:
    for scope in (V1, V2, V3):
        fleet.release(scope)
        fleet.update()
    assert fleet.names_of_served_versions() == ["v2", "v3"]
    fleet.published.activate(V1)
    [activated] = fleet.update().activated
    assert activated.bytes > 0
    assert fleet.served.active(V1) == "v1"
    assert fleet.names_of_served_versions() == ["v1", "v3"]
    fleet.published.activate(V3)
    [activated] = fleet.update().activated
    assert (activated.scope, activated.bytes) == (V3, 0)


def test_only_wanted_repositories_are_taken(fleet: Fleet) -> None:
    fleet.release(V1)
    fleet.release(OTHER)
    cache = IndexCache(fleet.published, fleet.served.data, fleet.bounds, "stock".__eq__)
    cache.claim()
    assert cache.update().scope_count == 1
    assert list(fleet.served.scopes()) == [Scope("stock", "main")]


def test_an_upload_that_has_not_ended_is_not_taken(fleet: Fleet) -> None:
    fleet.release(V1)
    fleet.update()
    fleet.release(V2)
    fleet.published_file(V2, CHECKSUM_FILE).unlink()
    [failure] = fleet.update().failures
    assert "shop feature/tax has no version 'v2'" in failure
    assert [entry.version for entry in fleet.published.listed()] == ["v1"]
    publish(fleet.built, EncoderStore(fleet.built.data), fleet.published, V2)  # again: it goes on where it ended
    assert not fleet.update().failures
    assert fleet.served.active(V1) == "v2"


@pytest.mark.parametrize("fault", ["another byte", "shorter", "longer", "missing"])
def test_a_damaged_object_changes_nothing(fleet: Fleet, fault: str) -> None:
    fleet.release(V1)
    fleet.update()
    fleet.release(V2)
    fleet.release(OTHER)
    texts = fleet.published_file(V2, "text.utf8")
    content = texts.read_bytes()
    if fault == "missing":
        texts.unlink()
    else:
        damaged = {"another byte": b"X" + content[1:], "shorter": content[:-1], "longer": content + b"\0" * 9}
        texts.write_bytes(damaged[fault])
    update = fleet.update()
    [failure] = update.failures
    assert "text.utf8" in failure
    assert "publish" in failure
    assert fleet.served.active(V1) == "v1"
    assert fleet.names_of_served_versions() == ["v1"]
    assert not list(fleet.served.directory(V1).parent.glob(".building-*"))
    assert [version.scope for version in update.activated] == [OTHER]


@pytest.mark.parametrize(
    "name", ["../../../../outside", "/outside", "a/b", "..", ".active", MANIFEST_FILE, "nul\0", "", "text.utf8"]
)
def test_a_name_of_a_file_leads_nowhere_else(fleet: Fleet, folder: Path, name: str) -> None:
    fleet.release(V1)
    content = b"from outside"
    fleet.address.joinpath("outside").write_bytes(content)
    entry = {"name": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    files = json.loads(fleet.published_file(V1, MANIFEST_FILE).read_bytes())["files"]
    fleet.rewrite_manifest(V1, files=[*files, entry])
    [failure] = fleet.update().failures
    assert "is no name of an index's file" in failure
    assert fleet.names_of_served_versions() == []
    assert list(folder.rglob("outside")) == [fleet.address / "outside"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format_version": 1}, "build the index anew"),
        ({"version": "v9"}, "holds version 'v9' of shop feature/tax"),
        ({"repository": "stock"}, "holds version 'v1' of stock feature/tax"),
        ({"files": []}, "is not in the manifest"),
        ({"link_template": "javascript:alert(1)//{path}"}, "is no web address; begin it with https:// or http://"),
        ({"node_count": 2}, "bytes"),
        ({"node_count": "many"}, "errors"),
        ({"files": [{"name": "a.bin", "bytes": -(1 << 60), "sha256": ""}]}, "greater than or equal to 0"),
        (
            {
                "vector_space": {
                    "embedder": "",
                    "fingerprint": "",
                    "dimension": 3,
                    "query_encoder": {"fingerprint": "../../other", "mean_cosine": 1.0, "min_cosine": 1.0},
                }
            },
            "is no name of an encoder",
        ),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(fleet: Fleet, changes: dict[str, object], message: str) -> None:
    fleet.release(V1)
    fleet.rewrite_manifest(V1, **changes)
    [failure] = fleet.update().failures
    assert message in failure
    assert fleet.names_of_served_versions() == []


@pytest.mark.parametrize("pointer", [b"../v1", b"", b"\xff\xfe", b"v1\0", b"x" * 2_000])
def test_a_pointer_that_names_no_version_changes_nothing(fleet: Fleet, pointer: bytes) -> None:
    fleet.release(V1)
    fleet.update()
    fleet.published_file(V1, "").parent.joinpath(".active").write_bytes(pointer)
    assert not fleet.update().activated
    assert fleet.served.active(V1) == "v1"


def test_folders_that_no_scope_can_have_are_left_out(fleet: Fleet) -> None:
    fleet.release(V1)
    for name in ("a%3A%3Ab", "%2E%2E", "sh%6Fp", ".hidden", "shop/%0A"):
        fleet.address.joinpath(name, "main").mkdir(parents=True)
    assert fleet.published.scopes() == [Scope("shop", "feature/tax")]


def test_without_room_the_oldest_inactive_version_goes_and_an_active_one_never(fleet: Fleet) -> None:
    fleet.release(V1)
    fleet.release(V2)
    size = _size(fleet.built, V1)
    fleet.bounds = CacheBounds(most_bytes=2 * size + size // 2, kept=5)
    fleet.update()
    fleet.published.activate(V1)
    fleet.update()
    assert fleet.names_of_served_versions() == ["v1", "v2"]
    fleet.release(V3)
    assert not fleet.update().failures
    assert fleet.names_of_served_versions() == ["v1", "v3"]
    fleet.bounds = CacheBounds(most_bytes=size + size // 2, kept=5)
    fleet.published.activate(V2)
    [failure] = fleet.update().failures
    assert "raise --max-bytes" in failure
    assert fleet.served.active(V1) == "v3"
    assert fleet.names_of_served_versions() == ["v1", "v3"]  # none went for nothing


def test_what_is_withdrawn_is_deleted_everywhere_and_its_name_is_not_used_again(fleet: Fleet) -> None:
    fleet.release(V1)
    fleet.update()
    fleet.release(V2)
    fleet.update()
    with pytest.raises(ObjectStorageError, match="is active; publish another first"):
        fleet.published.withdraw(V2)
    fleet.published.withdraw(V1)
    assert [entry.version for entry in fleet.published.listed()] == ["v2"]
    assert not list(fleet.address.rglob("v1/*.utf8"))
    fleet.update()
    with pytest.raises(VersionDeletedError):
        fleet.served.require(V1)
    with pytest.raises(ObjectStorageError, match="was withdrawn; names are not used twice"):
        publish(fleet.built, EncoderStore(fleet.built.data), fleet.published, V1)
    with pytest.raises(ObjectStorageError, match="has no version 'v1'"):
        fleet.published.withdraw(V1)


def test_a_withdrawal_that_was_interrupted_lets_nobody_take_the_version_again(fleet: Fleet, folder: Path) -> None:
    fleet.release(V1)
    fleet.release(V2)
    with patch.object(ObjectFolder, "remove", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        fleet.published.withdraw(V1)
    assert fleet.published.checksum(V1) is not None
    elsewhere = IndexStore(folder / "elsewhere")
    with pytest.raises(ObjectStorageError, match="was withdrawn; names are not used twice"):
        publish(elsewhere, EncoderStore(elsewhere.data), fleet.published, V1)
    with pytest.raises(ObjectStorageError, match="was withdrawn; publish another"):
        fleet.published.activate(V1)
    fleet.published.withdraw(V1)
    assert fleet.published.checksum(V1) is None


def test_a_withdrawn_version_that_is_named_as_active_is_not_taken(fleet: Fleet) -> None:
    """One who activates it has found no withdrawal, and one who withdraws it no activation, at the same time."""
    for scope in (V1, V2):
        fleet.release(scope)
        fleet.update()
    fleet.published.withdraw(V1)
    (fleet.address / "shop" / "feature%2Ftax" / ".active").write_text("v1")
    [failure] = fleet.update().failures
    assert "the active version 'v1' was withdrawn; publish another" in failure
    assert fleet.served.active(V1) == "v2"
    assert fleet.names_of_served_versions() == ["v2"]


def test_what_is_withdrawn_is_deleted_also_where_the_next_version_cannot_be_taken(fleet: Fleet) -> None:
    for scope in (V1, V2, V3):
        fleet.release(scope)
        if scope != V3:
            fleet.update()
    assert fleet.names_of_served_versions() == ["v1", "v2"]
    fleet.published_file(V3, "text.utf8").unlink()
    fleet.published.withdraw(V1)
    [failure] = fleet.update().failures
    assert "text.utf8: is missing" in failure
    assert fleet.names_of_served_versions() == ["v2"]


def test_a_name_is_not_published_twice_with_other_contents(fleet: Fleet, folder: Path) -> None:
    fleet.release(V1)
    again = publish(fleet.built, EncoderStore(fleet.built.data), fleet.published, V1)
    assert (again.files, again.bytes) == (0, 0)
    other = IndexStore(folder / "elsewhere")
    fleet.build(other, V1, "another text")
    with pytest.raises(ObjectStorageError, match="is published with another content"):
        publish(other, EncoderStore(other.data), fleet.published, V1)
    with pytest.raises(VersionNotFoundError):
        publish(other, EncoderStore(other.data), fleet.published, V2)


def test_a_folder_of_own_builds_is_not_taken_for_a_cache(fleet: Fleet) -> None:
    fleet.release(V1)
    cache = IndexCache(fleet.published, fleet.built.data, fleet.bounds)
    with pytest.raises(ObjectStorageError, match="holds indexes that were built there; name another folder"):
        cache.claim()
    fleet.update()
    elsewhere = PublishedVersions(ObjectFolder(f"{fleet.address}-2"))
    with pytest.raises(ObjectStorageError, match="were taken from"):
        IndexCache(elsewhere, fleet.served.data, fleet.bounds).claim()


def test_the_encoder_of_queries_comes_along(fleet: Fleet) -> None:
    """The index of a model without its encoder would answer no text query."""
    files = {"encoder.int8.onnx": b"weights", "tokenizer.json": b"{}"}
    checksums = tuple((name, hashlib.sha256(content).hexdigest()) for name, content in sorted(files.items()))
    record = EncoderRecord("minilm", "f" * 64, 1, 3, "mean", 128, "", checksums)
    fleet.release(V1)
    fleet.published_file(V1, CHECKSUM_FILE).unlink()
    directory = fleet.built.directory(V1)
    _name_encoder(directory, record.fingerprint)
    built_encoders = EncoderStore(fleet.built.data)
    with pytest.raises(ObjectStorageError, match="build the version again in this data folder"):
        publish(fleet.built, built_encoders, fleet.published, V1)
    built_encoders.put(record, files)
    publish(fleet.built, built_encoders, fleet.published, V1)
    weights = fleet.address / ".encoders" / record.fingerprint / "encoder.int8.onnx"
    weights.write_bytes(b"others")
    [failure] = fleet.update().failures
    assert "encoder.int8.onnx" in failure
    assert EncoderStore(fleet.served.data).records() == []
    weights.write_bytes(b"weights")
    assert not fleet.update().failures
    assert EncoderStore(fleet.served.data).records() == [record]
    served = EncoderStore(fleet.served.data).directory(record.fingerprint)
    assert {path.name for path in served.iterdir()} == {*files, RECORD_FILE}


def test_the_files_of_an_encoder_are_bounded_together(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"{number}.onnx": bytes(1_000) for number in range(10)}
    checksums = tuple((name, hashlib.sha256(content).hexdigest()) for name, content in files.items())
    record = EncoderRecord("minilm", "f" * 64, 1, 3, "mean", 128, "", checksums)
    encoders = EncoderStore(fleet.built.data)
    fleet.build(fleet.built, V1, "tax")
    _name_encoder(fleet.built.directory(V1), record.fingerprint)
    encoders.put(record, files)
    publish(fleet.built, encoders, fleet.published, V1)
    fleet.published.activate(V1)
    monkeypatch.setattr("groundwire_object_storage.index_cache._MOST_ENCODER_BYTES", 4_500)
    [failure] = fleet.update().failures
    assert "4.onnx: has more than 500 bytes" in failure
    monkeypatch.undo()
    assert not fleet.update().failures


def _name_encoder(directory: Path, fingerprint: str) -> None:
    """Lets the manifest of a version name an encoder."""
    space = {
        "embedder": "minilm",
        "fingerprint": "f" * 64,
        "dimension": 3,
        "query_encoder": {"fingerprint": fingerprint, "mean_cosine": 1.0, "min_cosine": 1.0},
        "probes": [],
    }
    fields = json.loads((directory / MANIFEST_FILE).read_bytes()) | {"vector_space": space}
    content = json.dumps(fields).encode()
    (directory / MANIFEST_FILE).write_bytes(content)
    (directory / CHECKSUM_FILE).write_text(f"{hashlib.sha256(content).hexdigest()}  {MANIFEST_FILE}\n")
    assert Manifest.read(directory).vector_space is not None


def test_readers_of_a_version_that_is_evicted_go_on(fleet: Fleet) -> None:
    fleet.release(V1)
    fleet.update()
    opened = open_version(fleet.served.require(V1), V1)
    for scope in (V2, V3):
        fleet.release(scope)
        fleet.update()
    assert fleet.names_of_served_versions() == ["v2", "v3"]
    assert opened.nodes.texts[0] == "tax of v1"
