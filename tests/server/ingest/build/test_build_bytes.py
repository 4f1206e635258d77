"""The bytes of an index: those of the first builds, which held every node in memory, in whatever pieces it is made.

`policy.bin` and the edges are of later builds: policy classes count from 1, and edges stand in one table.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from groundwire_index.files.segment import SpilledSegment
from groundwire_index.scope import Scope
from groundwire_index.store.manifest import Manifest
from groundwire_index.store.store import SEGMENTS_FOLDER, IndexStore
from groundwire_index.vectors.vector_file import VECTORS_FILE
from groundwire_ingest.build import spool
from groundwire_ingest.build.build import BuildOptions, build_index
from groundwire_ingest.build.segments import SegmentMaker
from groundwire_ingest.build.spool import NodeSpool
from groundwire_ingest.build.vectors import write_own_vectors
from groundwire_ingest.processes import Advance
from groundwire_ingest.records import SourceNode, SourceRecord
from support.builds import Records, Stages
from support.varied_records import varied_records

FIRST_BUILDS = {
    "categories.bin": "f8e9a477184df168",
    "categories.starts.bin": "7ec8ac95a4f6e78a",
    "categories.values.offsets.bin": "139416e2f691f7fe",
    "categories.values.utf8": "41d1f54fd8bc7e8e",
    "code.frequencies.bin": "0124ad41ab359c6d",
    "code.lengths.bin": "970f99cd7373f93f",
    "code.rows.bin": "2e9c0e4cdce4ba35",
    "code.starts.bin": "4d0f951414960bc2",
    "code.terms.offsets.bin": "ecdb62f053fbf813",
    "code.terms.utf8": "7cf808c68c329014",
    "content_hash.bin": "c265e44ac052f262",
    "context_prefix.offsets.bin": "1dab018db54b9cd1",
    "context_prefix.utf8": "c3f22b07abcf1148",
    "edges.confidences.bin": "cac3cd436c5e7a43",
    "edges.from.bin": "26ac9081663750fc",
    "edges.lines.bin": "ae798ba3d9711b9b",
    "edges.to.bin": "ee3669e36707120f",
    "edges.types.bin": "fd3184aae29f91b9",
    "flags.bin": "52ec9560d23082b2",
    "id.offsets.bin": "9fdc18ceb58e2dcd",
    "id.utf8": "5aa52f00e0e033b6",
    "metadata.offsets.bin": "9718ac70071e888b",
    "metadata.utf8": "ea9799821c0fcb22",
    "metadata_terms.rows.bin": "9ec53797554d155a",
    "metadata_terms.starts.bin": "d02399a49a1ab31e",
    "metadata_terms.terms.offsets.bin": "7fb4a50e85ae177a",
    "metadata_terms.terms.utf8": "13150b062a2ec8a2",
    "names.rows.bin": "7ade6363be3ce724",
    "names.sizes.bin": "c44467f394e0e012",
    "names.starts.bin": "9b5b7bdc0ecf4aa4",
    "names.terms.offsets.bin": "78c7679abd28601e",
    "names.terms.utf8": "c85422ecac05dc87",
    "numbers.bin": "d66584156842f2ee",
    "policies.json": "81edadb478bdfc1f",
    "policy.bin": "2035112e3ffea606",
    "prose.frequencies.bin": "5c009c2aba710a85",
    "prose.lengths.bin": "68d479a8664c0dde",
    "prose.rows.bin": "fb5fdb8aadcfd4be",
    "prose.starts.bin": "6ecd7a63184266fd",
    "prose.terms.offsets.bin": "9e156457c60f6f2a",
    "prose.terms.utf8": "4e7aecea39271f99",
    "reading_order.bin": "69ebdbdf3c9bb454",
    "reading_order.starts.bin": "b4166a9851c8ce17",
    "signature.offsets.bin": "9a765e02f92d5c70",
    "signature.utf8": "33e57d4674dd0ac0",
    "source_uri.offsets.bin": "4f027f92d4f525c9",
    "source_uri.utf8": "aee74e864f19ad33",
    "symbol.offsets.bin": "6ceb412e845721d8",
    "symbol.utf8": "0e9d753de54cdff4",
    "text.offsets.bin": "ab38f06937211a12",
    "text.utf8": "5344e111df467ed1",
    "timestamps.bin": "e41c94ae08947699",
    "trigrams.rows.bin": "67e4e4f2a2b21861",
    "trigrams.starts.bin": "ed2c0ea4223e62a9",
    "trigrams.terms.offsets.bin": "5a87581497fba535",
    "trigrams.terms.utf8": "64ef6e2afd8aaca9",
    "vectors.faiss": "66b6248017d325f3",
    "vectors.present.bin": "5e4084eff2f37d63",
}
"""The first 64 bits of the SHA-256 of every file as commit a18b58a wrote it, but for flags and lines, which
are as format 5 has them; edges between services are stored anew, and tables of words have the tokens of rules 2."""

SCOPE = Scope("shop", "main", "v1")


@dataclass(frozen=True)
class VariedSource:
    description: str = "varied records"

    def read(self) -> Iterator[SourceRecord]:
        for record in varied_records(60):
            yield replace(record, vector=_vector(record)) if isinstance(record, SourceNode) else record


def _vector(node: SourceNode) -> tuple[float, ...]:
    return (float(len(node.text) + 1), float(len(node.path)), -1.0)


def checksums(data: Path, **options: int) -> dict[str, str]:
    build_index(VariedSource(), BuildOptions(data, SCOPE, None, **options), Stages())  # type: ignore[arg-type]
    return {entry.name: entry.sha256 for entry in Manifest.read(IndexStore(data).require(SCOPE)).files}


def first_builds_files(checksums: dict[str, str]) -> dict[str, str]:
    return {name: checksum[:16] for name, checksum in checksums.items() if name in FIRST_BUILDS}


def test_a_small_build_in_one_piece(tmp_path: Path) -> None:
    assert first_builds_files(checksums(tmp_path)) == FIRST_BUILDS


def test_pieces_of_any_size(tmp_path: Path) -> None:
    whole = checksums(tmp_path / "whole")
    for size in (1, 1_000, 10_000):
        assert checksums(tmp_path / str(size), bytes_a_segment=size) == whole


def test_own_vectors_in_blocks_of_any_size(tmp_path: Path) -> None:
    with NodeSpool(tmp_path) as spool:
        numbers = [spool.append(record) for record in VariedSource().read() if isinstance(record, SourceNode)]
        nodes = spool.finish(np.asarray(numbers))
    written = set()
    for rows_a_block in (1, 4, 7, len(nodes)):
        directory = tmp_path / str(rows_a_block)
        directory.mkdir()
        write_own_vectors(directory, nodes, 3, rows_a_block)
        written.add((directory / VECTORS_FILE).read_bytes())
    assert len(written) == 1


@pytest.mark.parametrize("processes", [2, 3])
def test_other_processes(tmp_path: Path, processes: int) -> None:
    assert first_builds_files(checksums(tmp_path, processes=processes, bytes_worth_processes=0)) == FIRST_BUILDS


def test_segments_of_an_earlier_build_change_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "ROWS_A_SPAN", 4)
    made: list[int] = []
    make = SegmentMaker.made

    def noting(self: SegmentMaker, rows: range, advance: Advance) -> SpilledSegment:
        made.append(len(rows))
        return make(self, rows, advance)

    monkeypatch.setattr(SegmentMaker, "made", noting)
    rng, records = random.Random(5), list(varied_records(60))
    for number in range(6):
        checksums_of_builds: list[dict[str, str]] = []
        counts: list[int] = []
        for data in (tmp_path / "again", tmp_path / str(number)):
            made.clear()
            scope = replace(SCOPE, active_index=f"v{number}")
            build_index(Records(records), BuildOptions(data, scope, None, skip_dangling_edges=True), Stages())
            checksums_of_builds.append(
                {entry.name: entry.sha256 for entry in Manifest.read(IndexStore(data).require(scope)).files}
            )
            counts.append(sum(made))
        assert checksums_of_builds[0] == checksums_of_builds[1]
        assert counts[0] < counts[1] or not number
        assert len([*(tmp_path / "again/shop/main" / SEGMENTS_FOLDER).iterdir()]) == len(made)
        node = rng.choice([record for record in records if isinstance(record, SourceNode)])
        place = records.index(node)
        records[place : place + 1] = [] if number == 3 else [replace(node, text=f"edit {number}")]


def test_the_segments_go_with_the_version_of_the_last_build_and_stay_when_an_older_one_is_deleted(
    tmp_path: Path,
) -> None:
    store, segments = IndexStore(tmp_path), tmp_path / "shop/main" / SEGMENTS_FOLDER
    first, second, third = (replace(SCOPE, active_index=name) for name in ("v3", "v2", "v1"))
    for scope in (first, second):
        build_index(VariedSource(), BuildOptions(tmp_path, scope, None), Stages())
    store.delete(first)
    assert [*segments.iterdir()]
    build_index(VariedSource(), BuildOptions(tmp_path, third, None, activate=False), Stages())
    store.delete(third)
    assert not segments.exists()


def test_a_damaged_segment_is_made_anew(tmp_path: Path) -> None:
    whole = checksums(tmp_path)
    (segment,) = (tmp_path / "shop/main" / SEGMENTS_FOLDER).iterdir()
    content = segment.read_bytes()
    (segment.parent / "folder").mkdir()
    for number, written in enumerate((b"", b"[1, 2]" + bytes(8), content.replace(b"invoice", b"Invoice"))):
        assert written != content
        segment.write_bytes(written)
        scope = replace(SCOPE, active_index=f"again{number}")
        build_index(VariedSource(), BuildOptions(tmp_path, scope, None), Stages())
        checksums_again = {
            entry.name: entry.sha256 for entry in Manifest.read(IndexStore(tmp_path).require(scope)).files
        }
        assert checksums_again == whole
        assert segment.read_bytes() == content
