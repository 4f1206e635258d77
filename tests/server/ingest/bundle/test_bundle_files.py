"""Zips and folders that are hostile or broken are refused; what surrounds a bundle is not read."""

import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from groundwire_ingest.bundle.bundle import BundleSource
from groundwire_ingest.bundle.bundle_files import open_bundle_files
from groundwire_ingest.ingest_errors import IngestError
from support.swaps import SWAPS, Swap, deep_folders

BundleMaker = Callable[..., Path]

CHUNKS = "regular_code_bundle/chunks.json"


def _write_zip(path: Path, entries: list[tuple[str, bytes]]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("name", ["../chunks.json", "regular_code_bundle/../../x", "/etc/x", "..\\x"])
def test_a_path_outside_the_zip_is_refused(tmp_path: Path, name: str) -> None:
    path = _write_zip(tmp_path / "evil.zip", [(CHUNKS, b"[]"), (name, b"x")])
    with pytest.raises(IngestError, match="names a path outside itself"):
        open_bundle_files(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_file_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = _write_zip(tmp_path / "twice.zip", [(CHUNKS, b"[]"), (CHUNKS, b"[{}]")])
    with pytest.raises(IngestError, match=f"holds '{CHUNKS}' twice"):
        open_bundle_files(path)


def test_an_encrypted_file_is_refused(make_bundle: BundleMaker) -> None:
    path = make_bundle(zipped=True)
    content = bytearray(path.read_bytes())
    position = content.find(b"PK\x01\x02")
    while position >= 0:
        content[position + 8] |= 1
        position = content.find(b"PK\x01\x02", position + 4)
    path.write_bytes(content)
    with pytest.raises(IngestError, match=r"chunks.json: is encrypted; give a zip without a password"):
        list(BundleSource(path).read())


def test_a_truncated_zip_is_refused(make_bundle: BundleMaker) -> None:
    path = make_bundle(zipped=True)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(IngestError, match="is no zip that can be read"):
        open_bundle_files(path)


def test_a_zip_with_damaged_content_is_refused(make_bundle: BundleMaker) -> None:
    path = make_bundle(zipped=True)
    content = bytearray(path.read_bytes())
    content[80:90] = b"\xff" * 10
    path.write_bytes(content)
    with pytest.raises(IngestError, match=r"chunks.json: cannot be unpacked"):
        list(BundleSource(path).read())


def test_links_are_not_followed(tmp_path: Path, make_bundle: BundleMaker) -> None:
    secret = tmp_path / "secret.sql"
    secret.write_text("secret")
    body = "sql_bundle/docs/bodies/dbo.T.TABLE.sql"
    folder = make_bundle({"sql_bundle/graph/nodes.csv": "key\ndbo.T|TABLE\n", "sql_bundle/docs/bodies/x.sql": ""})
    (folder / body).symlink_to(secret)
    (folder / "regular_code_bundle").symlink_to(tmp_path)
    archive = tmp_path / "linked.zip"
    link = zipfile.ZipInfo(body)
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(archive, "w") as stream:
        stream.writestr("sql_bundle/graph/nodes.csv", "key\ndbo.T|TABLE\n")
        stream.writestr(link, str(secret))
    for path in (folder, archive):
        files = open_bundle_files(path)
        assert files is not None
        assert body not in files.names
        assert "secret" not in str(list(BundleSource(path).read()))


def test_a_folder_whose_only_entry_is_a_link_holds_no_bundle(tmp_path: Path, make_bundle: BundleMaker) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "top").symlink_to(make_bundle({CHUNKS: "[]"}))
    assert open_bundle_files(folder) is None


@pytest.mark.parametrize("swap", SWAPS, ids=lambda swap: swap.__name__)
def test_a_file_that_is_replaced_once_it_is_listed_is_not_followed(
    tmp_path: Path, make_bundle: BundleMaker, swap: Swap
) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('[{"id": 1, "text": "secret"}]')
    folder = make_bundle({CHUNKS: "[]"})
    source = BundleSource(folder)
    swap(folder / CHUNKS, secret)
    with pytest.raises(IngestError, match=r"chunks.json: cannot be read"):
        list(source.read())


@pytest.mark.parametrize("levels", [300, 1_900, 2_100])
def test_a_bundle_that_is_too_deep_is_refused(make_bundle: BundleMaker, levels: int) -> None:
    folder = make_bundle({CHUNKS: "[]"})
    with (
        deep_folders(folder / "regular_code_bundle", levels),
        pytest.raises(IngestError, match="lies 257 folders deep; at most 256 are read"),
    ):
        open_bundle_files(folder)


def test_backslashes_and_a_macs_extras_in_a_zip(tmp_path: Path) -> None:
    entries = [("Top\\regular_code_bundle\\chunks.json", b"[]"), ("__MACOSX/Top/x", b"x"), (".DS_Store", b"x")]
    files = open_bundle_files(_write_zip(tmp_path / "windows.zip", entries))
    assert files is not None
    assert files.names == {CHUNKS}


@pytest.mark.parametrize(
    "names",
    [
        ["src/regular_code_bundle/chunks.json", "README.md"],
        ["a/b/regular_code_bundle/chunks.json"],
        ["regular_code_bundle/other.json"],
        ["chunks.json"],
    ],
)
@pytest.mark.parametrize("zipped", [True, False])
def test_what_holds_no_bundle_at_its_top_is_none(make_bundle: BundleMaker, names: list[str], zipped: bool) -> None:
    assert open_bundle_files(make_bundle(dict.fromkeys(names, "[]"), zipped=zipped)) is None


def test_only_the_bundles_own_files_are_seen(make_bundle: BundleMaker, code_files: dict[str, object]) -> None:
    for zipped in (True, False):
        files = open_bundle_files(make_bundle({**code_files, "other/x.txt": "x", "notes.md": "x"}, zipped=zipped))
        assert files is not None
        assert files.names == set(code_files)
