"""Zips that unpack to more than they are, or claim so, take no more memory than what is read of them at a time."""

import io
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from groundwire_ingest.archive_files import MAX_MEMBER_BYTES, MAX_RATIO, MAX_UNPACKED_BYTES, ArchiveFiles
from groundwire_ingest.bundle.bundle_files import open_bundle_files
from groundwire_ingest.ingest_errors import IngestError
from support import programs

CHUNKS = "regular_code_bundle/chunks.json"
MEGABYTE = 1_000_000


def read_in_a_process(path: Path, what: str = "records") -> tuple[int, int, str]:
    """How much of that a process read (-1 when it refused), by how many megabytes it grew, and why it refused."""
    done = programs.run("read_archive", what, path)
    assert done.returncode == 0, done.stderr
    count, grown = map(int, done.stdout.split())
    return count, grown, done.stderr


def deflated(path: Path, entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def opened(path: Path) -> ArchiveFiles:
    files = open_bundle_files(path)
    assert files is not None
    return files


def listed_anew(path: Path, change: Callable[[zipfile.ZipInfo], None]) -> Path:
    """Writes the list of a zip's files anew, changed."""
    content = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        start = archive.start_dir
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for member in members:
            change(member)
            archive.filelist.append(member)
        archive._didModify = True  # type: ignore[attr-defined]
    directory = bytearray(stream.getvalue())
    end = directory.rfind(b"PK\x05\x06")
    struct.pack_into("<L", directory, end + 16, start)
    path.write_bytes(content[:start] + directory)
    return path


@pytest.mark.parametrize("item", [b"{},", b"0.5,", b'{"a":0},'])
def test_a_small_zip_that_unpacks_to_a_list_of_millions_is_refused_unread(tmp_path: Path, item: bytes) -> None:
    path = deflated(tmp_path / "bomb.zip", {CHUNKS: b"[" + item * (60 * MEGABYTE // len(item)) + b"0]"})
    assert path.stat().st_size < 150_000
    count, grown, why = read_in_a_process(path)
    assert count == -1
    assert f"{path}/{CHUNKS}: unpacks from " in why
    assert "at most 50 times the size in a zip is read, so unpack it and give the folder" in why
    assert grown < 20


def test_what_passes_the_bounds_is_made_one_item_at_a_time(tmp_path: Path) -> None:
    lists = {"channels.json": b'[{"id": "C1", "name": "general"}]', "users.json": b"[]"}
    day = b"[" + b"{}," * (10 * MEGABYTE // 3) + b"{}]"
    path = deflated(tmp_path / "export.zip", {**lists, "general/2025-01-01.json": day}, zipfile.ZIP_STORED)
    count, grown, why = read_in_a_process(path)
    assert (count, "field 'type' is missing" in why) == (-1, True)
    # The 10 MB are there as bytes and as text; as objects, all together, they would take 240 MB.
    assert grown < 60


def test_a_member_and_the_whole_have_a_bound_of_their_own(tmp_path: Path) -> None:
    bodies = {f"sql_bundle/docs/bodies/{number}.sql": b" " * 900_000 for number in range(10)}
    path = deflated(tmp_path / "many.zip", {CHUNKS: b"[]", **bodies})
    with pytest.raises(IngestError, match=r"many.zip: unpacks from \d+ to 9000002 bytes; beyond 8388608 bytes"):
        open_bundle_files(path)


@pytest.mark.parametrize(
    ("member_bytes", "member_count", "refused"),
    [
        (MAX_MEMBER_BYTES + 1, 1, f"chunks.json: unpacks to {MAX_MEMBER_BYTES + 1} bytes; at most {MAX_MEMBER_BYTES}"),
        (MAX_MEMBER_BYTES, 5, f"many.zip: unpacks to {5 * MAX_MEMBER_BYTES} bytes; at most {MAX_UNPACKED_BYTES}"),
    ],
)
def test_a_zip_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, member_bytes: int, member_count: int, refused: str
) -> None:
    """It claims as much as its size allows it to."""
    content = bytes(MAX_MEMBER_BYTES // MAX_RATIO + 1)
    names = [CHUNKS, *(f"sql_bundle/docs/bodies/{number}.sql" for number in range(1, member_count))]
    path = deflated(tmp_path / "many.zip", dict.fromkeys(names, content), zipfile.ZIP_STORED)

    def claim(member: zipfile.ZipInfo) -> None:
        member.file_size = member_bytes

    listed_anew(path, claim)
    with pytest.raises(IngestError, match=refused):
        open_bundle_files(path)


def test_a_real_export_deflates_well_within_the_bounds(tmp_path: Path) -> None:
    chunks = [{"Id": number, "Text": f"int F{number}() => {number % 7};", "Class": "Shop"} for number in range(40_000)]
    path = deflated(tmp_path / "bundle.zip", {CHUNKS: json.dumps(chunks).encode()})
    assert opened(path).read(CHUNKS) == json.dumps(chunks).encode()


def test_a_member_that_claims_less_than_it_holds_is_not_inflated_beyond_its_claim(tmp_path: Path) -> None:
    path = deflated(tmp_path / "lie.zip", {CHUNKS: b" " * (300 * MEGABYTE)})

    def claim(member: zipfile.ZipInfo) -> None:
        member.file_size = 1_000

    listed_anew(path, claim)
    count, grown, why = read_in_a_process(path)
    assert count == -1
    assert "chunks.json: cannot be unpacked" in why
    assert grown < 20


def test_a_member_that_claims_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    path = deflated(tmp_path / "lie.zip", {CHUNKS: b"[]"})

    def claim(member: zipfile.ZipInfo) -> None:
        member.file_size = 500_000

    with pytest.raises(IngestError, match=r"chunks.json: cannot be unpacked"):
        opened(listed_anew(path, claim)).read(CHUNKS)


def test_members_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    path = deflated(tmp_path / "overlap.zip", {CHUNKS: b"[" + b" " * 900_000 + b"]", "repo_meta.json": b"{}" * 9})

    def share(member: zipfile.ZipInfo) -> None:
        member.header_offset = 0

    with pytest.raises(IngestError, match="reaches into what follows it"):
        open_bundle_files(listed_anew(path, share))


def test_a_member_that_claims_more_of_the_zip_than_there_is_is_refused(tmp_path: Path) -> None:
    path = deflated(tmp_path / "claim.zip", {CHUNKS: b" " * (5 * MEGABYTE)})

    def claim(member: zipfile.ZipInfo) -> None:
        member.compress_size = MEGABYTE

    with pytest.raises(IngestError, match="reaches into what follows it"):
        open_bundle_files(listed_anew(path, claim))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_cannot_be_unpacked_piece_by_piece_are_refused(tmp_path: Path, method: int) -> None:
    path = deflated(tmp_path / "odd.zip", {CHUNKS: b"[]" + b" " * 900_000}, method)
    with pytest.raises(IngestError, match=f"is compressed by method {method}; only stored and deflated files are read"):
        opened(path).read(CHUNKS)


def test_a_list_of_millions_of_files_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "directory.zip"
    name = b"a"
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\x01\x02", *(20, 3, 20, 0), *(0, 0, 0, 33), 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)
    count = 1_000_000
    directory = (entry + name) * count
    locator_at = len(directory)
    end64 = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, len(directory), 0)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, locator_at, 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    path.write_bytes(directory + end64 + locator + end)
    read, grown, why = read_in_a_process(path, "names")
    assert "lists its files in 47000000 bytes; at most 16777216 are read of a zip's list" in why
    assert (read, grown < 20) == (-1, True)
