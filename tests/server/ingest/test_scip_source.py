"""An index that is named by itself."""

from pathlib import Path

import pytest

from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.recognise import recognise
from groundwire_ingest.records import SkippedFile, SourceEdge, SourceNode
from groundwire_ingest.scip_source import ScipSource
from groundwire_ingest.tree.scip import scip_pb2
from groundwire_ingest.tree.source import TreeSource
from support.scip_index import Entry, Mark, document, index, write_tree

PACKAGE = "scip-test python shop 1 "
A = Entry(
    "from b import load\n\n\ndef main():\n    load()\n",
    [Mark(4, "main", PACKAGE + "a/main().", rows=(4, 5)), Mark(5, "load", PACKAGE + "b/load().")],
)
B = Entry("def load():\n    pass\n", [Mark(1, "load", PACKAGE + "b/load().", rows=(1, 2))])


def both(*, holds_text: bool) -> list[scip_pb2.Document]:
    return [document(f"shop/{name}.py", entry, holds_text=holds_text) for name, entry in (("a", A), ("b", B))]


def test_beside_its_tree_it_stands_for_the_tree(tmp_path: Path) -> None:
    made = index(both(holds_text=False))
    write_tree(tmp_path, {"shop/a.py": A.text, "shop/b.py": B.text, "index.scip": made, "README.md": "# Shop\n"})
    source = recognise(tmp_path / "index.scip")
    assert source.description == "SCIP index index.scip"
    assert list(source.read()) == list(TreeSource(tmp_path).read())


def test_without_a_tree_the_texts_are_those_of_the_index(tmp_path: Path) -> None:
    (tmp_path / "shop.bin").write_bytes(index([*both(holds_text=True), scip_pb2.Document(relative_path="c.py")]))
    source = recognise(tmp_path / "shop.bin")
    assert isinstance(source, ScipSource)
    records = list(source.read())
    assert {record.path for record in records if isinstance(record, SourceNode)} == {"shop/a.py", "shop/b.py"}
    edges = {
        (edge.from_key, edge.edge_type, edge.to_key): edge.confidence
        for edge in records
        if isinstance(edge, SourceEdge)
    }
    assert edges["py::shop/a.py#main", "Calls", "py::shop/b.py#load"] == 1
    assert SkippedFile("c.py", "shop.bin does not hold its text") in records


def test_without_texts_it_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "index.scip"
    path.write_bytes(index(both(holds_text=False)))
    with pytest.raises(IngestError, match="holds no texts, and its files are not next to it; move it into the folder"):
        list(recognise(path).read())


@pytest.mark.parametrize("paths", [["a", "a/b.py"], ["x" * 300 + ".py"]])
def test_texts_that_cannot_be_unpacked_are_refused(tmp_path: Path, paths: list[str]) -> None:
    path = tmp_path / "index.scip"
    path.write_bytes(index(scip_pb2.Document(relative_path=relative_path, text="x = 1\n") for relative_path in paths))
    with pytest.raises(IngestError, match="cannot be unpacked"):
        list(recognise(path).read())


def test_a_broken_index_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "index.scip"
    path.write_bytes(index(both(holds_text=True))[:-3])
    with pytest.raises(IngestError, match=r"index\.scip: is no SCIP index or breaks off: .* make the index anew"):
        list(recognise(path).read())
