"""A copy of a version in Milvus has the files of the same index that was never there."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from groundwire_index.index_errors import IndexDamagedError, VersionDeletedError
from groundwire_index.store.loaded import verify
from groundwire_index.store.writer import SKIPPED_FILE
from groundwire_ingest.records import SourceNode, SourceRecord, StatedAccess
from groundwire_milvus.catalogue import Catalogue
from groundwire_milvus.local_copy import local_copy
from support.builds import RECORDS, V1, build, edge, index_of, node
from support.milvus_builds import build_in_milvus, copy_to_milvus, new_catalogue
from support.milvus_server import MilvusServer
from support.varied_records import varied_records

PUBLIC = StatedAccess("", (), (), 0)
HUB_EDGES = 1_100
"""More than one row of Milvus holds."""
VARIED: list[SourceRecord] = [
    *varied_records(60),
    node("hub", "all of them", access=PUBLIC),
    *(node(f"leaf/{number}", "", access=PUBLIC) for number in range(HUB_EDGES)),
    *(edge("hub", f"leaf/{number}") for number in range(HUB_EDGES)),
    edge("leaf/0", "hub", "FK"),
    node("long", "größer als ein Feld " * 4_000, access=PUBLIC, metadata={"long": "ü" * 40_000}),
]


def with_vectors(records: list[SourceRecord]) -> Iterator[SourceRecord]:
    chance = Random(3)
    for record in records:
        vector = tuple(chance.gauss(0, 1) for _ in range(3))
        yield replace(record, vector=vector) if isinstance(record, SourceNode) else record


@pytest.fixture
def catalogue(milvus: MilvusServer) -> Iterator[Catalogue]:
    catalogue = new_catalogue(milvus)
    yield catalogue
    catalogue.store.close()


def test_every_file_is_that_of_the_index(catalogue: Catalogue, tmp_path: Path) -> None:
    build(tmp_path / "data", list(with_vectors(VARIED)))
    original = index_of(tmp_path / "data")
    copy_to_milvus(original, catalogue)
    folder = tmp_path / "copy"
    folder.mkdir()
    copied = local_copy(catalogue, V1, folder)
    assert copied.manifest == replace(original.manifest, code=None, prose=None, files=copied.manifest.files)
    files = {entry for entry in copied.manifest.files if entry.name != SKIPPED_FILE}
    assert files < set(original.manifest.files)
    assert {"text.utf8", "edges.lines.bin", "policy.bin", "vectors.faiss"} <= {entry.name for entry in files}
    verify(folder)


def test_vectors_of_an_embedder_are_left_out(catalogue: Catalogue, tmp_path: Path) -> None:
    build_in_milvus(tmp_path / "data", catalogue, RECORDS)
    folder = tmp_path / "copy"
    folder.mkdir()
    assert local_copy(catalogue, V1, folder).vectors is None


def test_what_is_damaged_or_deleted_is_not_copied(catalogue: Catalogue, tmp_path: Path) -> None:
    build(tmp_path / "data", RECORDS)
    copy_to_milvus(index_of(tmp_path / "data"), catalogue, activate=False)
    nodes = catalogue.require(V1).collections.nodes
    catalogue.store.delete_rows(nodes, "row in [1]")
    folder = tmp_path / "copy"
    folder.mkdir()
    with pytest.raises(IndexDamagedError, match=f"{nodes}: lacks 1 of its rows from 0 on"):
        local_copy(catalogue, V1, folder)
    catalogue.store.drop(nodes)
    with pytest.raises(IndexDamagedError, match=f"no collection {nodes}"):
        local_copy(catalogue, V1, folder)
    catalogue.delete(V1)
    with pytest.raises(VersionDeletedError):
        local_copy(catalogue, V1, folder)
