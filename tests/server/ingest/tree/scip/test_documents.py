"""The bytes of an index: fields in any order, hostile sizes, paths and ranges."""

from os import SEEK_CUR
from pathlib import Path

import pytest

from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.tree.scip import documents as scip_documents
from groundwire_ingest.tree.scip import scip_pb2
from groundwire_ingest.tree.scip.documents import MAX_DOCUMENT_BYTES, Document, document_at, is_scip, outline
from support.scip_index import encoded_varint, index


@pytest.fixture
def write(tmp_path: Path) -> Path:
    return tmp_path / "index.scip"


def read(path: Path, content: bytes) -> list[Document]:
    path.write_bytes(content)
    return [document_at(path.parent, path.name, place) for place in outline(path.parent, path.name).documents]


def test_documents_come_one_by_one_and_fields_that_are_not_known_are_passed_over(write: Path) -> None:
    first, second = (index([scip_pb2.Document(relative_path=path)]) for path in ("a.py", "b/c.py"))
    unknown = b"\xa8\x06\x01" + b"\xa1\x06" + bytes(8) + b"\xa5\x06" + bytes(4) + b"\xa2\x06\x02hi"
    documents = read(write, first + unknown + second.removeprefix(index([])))
    assert [document.path for document in documents] == ["a.py", "b/c.py"]


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../a.py", "a/../../b.py", "./a.py", "a//b.py", "a\0b", ".", "a/"])
def test_paths_that_lead_out_of_the_folder_or_are_written_twice_are_left_out(write: Path, path: str) -> None:
    assert read(write, index([scip_pb2.Document(relative_path=path)] * 2)) == []
    assert outline(write.parent, write.name).skipped == (
        "2 documents with a path that is not relative, or has '.' or '..'",
    )


@pytest.mark.parametrize("numbers", [[1], [1, 2], [1, 2, 3, 4, 5]])
def test_a_range_has_three_numbers_or_four(write: Path, numbers: list[int]) -> None:
    occurrence = scip_pb2.Occurrence(range=numbers, symbol="s p n 1 a/b().")
    with pytest.raises(IngestError, match=r"document 'a.py' has a range of \d numbers; a range has three or four"):
        read(write, index([scip_pb2.Document(relative_path="a.py", occurrences=[occurrence])]))


def test_symbols_of_one_document_and_places_without_a_symbol_are_left_out(write: Path) -> None:
    kept = scip_pb2.Occurrence(
        range=[1, 2, 3, 4], symbol="s p n 1 a/b().", symbol_roles=1, enclosing_range=[0, 0, 9, 0]
    )
    others = [scip_pb2.Occurrence(range=[0, 0, 1], symbol=symbol) for symbol in ("local 3", "")]
    (document,) = read(write, index([scip_pb2.Document(relative_path="a.py", occurrences=[*others, kept])]))
    (occurrence,) = document.occurrences
    assert (occurrence.row, occurrence.start, occurrence.end) == (1, 2, -1)
    assert (occurrence.first_row, occurrence.last_row, occurrence.is_definition) == (0, 9, True)


def test_a_document_that_is_too_large_is_named_and_passed_over(write: Path) -> None:
    size = MAX_DOCUMENT_BYTES + 1
    with write.open("wb") as file:
        file.write(index([]) + b"\x12" + encoded_varint(size))
        file.seek(size, SEEK_CUR)  # a hole, which takes no room on the disk
        file.write(index([scip_pb2.Document(relative_path="a.py")]).removeprefix(index([])))
    held = outline(write.parent, write.name)
    assert [place.path for place in held.documents] == ["a.py"]
    assert held.skipped == (f"1 documents of more than {MAX_DOCUMENT_BYTES} bytes",)


def test_documents_beyond_a_number_are_refused_and_those_that_cannot_be_used_are_counted(
    write: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scip_documents, "MAX_DOCUMENTS", 2)
    monkeypatch.setattr(scip_documents, "MAX_OCCURRENCES", 1)
    small, symbols = scip_pb2.Document(relative_path="a.py"), [scip_pb2.SymbolInformation(symbol="a")] * 2
    large = scip_pb2.Document(relative_path="a.py", symbols=symbols)
    assert len(read(write, index([small, large, small]))) == 2
    assert outline(write.parent, write.name).skipped == ("1 documents with more than 1 occurrences or symbols",)
    with pytest.raises(IngestError, match="holds more than 2 documents"):
        read(write, index([small] * 3))


def test_the_depth_of_a_field_that_is_not_read_does_not_matter(write: Path) -> None:
    content = b""
    for _ in range(1_000):
        information = b"\x3a" + encoded_varint(len(content)) + content
        content = b"\x1a" + encoded_varint(len(information)) + information
    content += b"\x0a\x04a.py"
    (document,) = read(write, index([]) + b"\x12" + encoded_varint(len(content)) + content)
    assert document.path == "a.py"


def test_text_that_is_not_utf8_is_refused(write: Path) -> None:
    with pytest.raises(IngestError, match="a document that cannot be parsed"):
        read(write, index([]) + b"\x12\x04\x0a\x02\xff\xfe")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (index([]), True),
        (scip_pb2.Index(metadata=scip_pb2.Metadata(project_root="file:///a")).SerializeToString(), True),
        (scip_pb2.Index(metadata=scip_pb2.Metadata()).SerializeToString(), False),
        (b"", False),
        (b'\n{"type": "node", "kind": "cs", "local_id": "a", "text": "' + b"x" * 200 + b'"}\n', False),
        (b"PK\x03\x04", False),
        (b"\x0a\xff\xff\xff\xff\x7f", False),
        (b"\x08\x00" + index([]), False),
    ],
)
def test_an_index_is_told_by_its_metadata(write: Path, content: bytes, expected: bool) -> None:
    write.write_bytes(content)
    assert is_scip(write) is expected


def test_the_folder_that_was_indexed_is_a_uri(write: Path) -> None:
    write.write_bytes(index([], "file:///builds/my%20shop/web/"))
    assert outline(write.parent, write.name).folders == ("builds", "my shop", "web")
