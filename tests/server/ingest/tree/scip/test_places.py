"""Where indexes lie and what they are about: folders of packages, other machines, several at once, broken ones."""

from pathlib import Path
from typing import Any

import pytest

from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.decoding import read_source
from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.scip.indexes import MAX_DOCUMENTS_OF_A_FILE
from groundwire_ingest.tree.source import TreeSource
from groundwire_ingest.tree.walk import ListedFile, Listing, list_tree
from support.scip_index import Entry, Mark, document, edges_of, encoded_varint, index, notes_of, write_tree
from support.swaps import SWAPS, Swap

PACKAGE = "scip-test npm {name} 1 "
LOAD = "export function load(): number {\n  return 1;\n}\n"
RUN = 'import { load } from "pkg-a";\nexport function run(): number {\n  return load();\n}\n'


def package(name: str) -> str:
    return f"scip-test npm {name} 1 "


def load_document(path: str, owner: str) -> Entry:
    return Entry(LOAD, [Mark(1, "load", f"{owner}`{path}`/load().", rows=(1, 3))])


def run_document(path: str, owner: str, loaded: str) -> Entry:
    marks = [Mark(2, "run", f"{owner}`{path}`/run().", rows=(2, 4)), Mark(3, "load", loaded)]
    return Entry(RUN, marks)


EDGE = ("web/src/run.ts#run", "Calls", "web/src/load.ts#load")


def web(project_root: str) -> bytes:
    owner = package("web")
    run = run_document("run.ts", owner, owner + "`load.ts`/load().")
    documents = [document("src/load.ts", load_document("load.ts", owner)), document("src/run.ts", run)]
    return index(documents, project_root)


FILES = {"web/src/load.ts": LOAD, "web/src/run.ts": RUN}


@pytest.mark.parametrize(
    ("place", "project_root"),
    [
        ("web/index.scip", "file:///build"),
        ("index.scip", "file:///builds/42/shop/web"),
        ("index.scip", "file:///C:/shop%20two/web/"),
        ("web.scip", "file:///web"),
    ],
)
def test_paths_start_from_the_folder_of_the_index_or_the_one_that_was_indexed(
    tmp_path: Path, place: str, project_root: str
) -> None:
    assert EDGE not in edges_of(write_tree(tmp_path, FILES))
    (tmp_path / place).write_bytes(web(project_root))
    assert edges_of(tmp_path)[EDGE].confidence == 1


def test_an_index_counts_though_git_ignores_it_and_has_no_node(tmp_path: Path) -> None:
    write_tree(tmp_path, {**FILES, ".gitignore": "*.scip\n", "web/index.scip": web("file:///build")})
    assert EDGE in edges_of(tmp_path)
    assert "web/index.scip" not in notes_of(tmp_path)


def test_one_package_of_a_tree_refers_to_another(tmp_path: Path) -> None:
    a, b = package("a"), package("b")
    run = run_document("run.ts", b, a + "`load.ts`/load().")
    write_tree(
        tmp_path,
        {
            "a/load.ts": LOAD,
            "a/index.scip": index([document("load.ts", load_document("load.ts", a))]),
            "b/run.ts": RUN,
            "b/index.scip": index([document("run.ts", run)]),
        },
    )
    assert edges_of(tmp_path)["b/run.ts#run", "Calls", "a/load.ts#load"].confidence == 1


def test_packages_without_a_name_are_strangers_to_each_other(tmp_path: Path) -> None:
    nobody = "scip-test npm . . "
    run = run_document("run.ts", nobody, nobody + "`load.ts`/load().")
    write_tree(
        tmp_path,
        {
            "a/load.ts": LOAD,
            "a/index.scip": index([document("load.ts", load_document("load.ts", nobody))]),
            "b/run.ts": RUN,
            "b/index.scip": index([document("run.ts", run)]),
        },
    )
    assert ("b/run.ts#run", "Calls", "a/load.ts#load") not in edges_of(tmp_path)


def test_a_symbol_that_two_other_indexes_define_leads_nowhere(tmp_path: Path) -> None:
    a, b = package("a"), package("b")
    made = index([document("load.ts", load_document("load.ts", a))])
    run = index([document("run.ts", run_document("run.ts", b, a + "`load.ts`/load()."))])
    for name in ("a", "copy"):
        write_tree(tmp_path / name, {"load.ts": LOAD, "index.scip": made})
    edges = edges_of(write_tree(tmp_path, {"b/run.ts": RUN, "b/index.scip": run}))
    assert not [place for place in edges if place[0] == "b/run.ts#run"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is no SCIP index, for it does not start with metadata"),
        (b'{"type": "node"}\n', "is no SCIP index"),
        (web("file:///build")[:-5], "breaks off: a field of"),
        (web("file:///build") + b"\x12\x03abc", "a document that cannot be parsed at byte"),
        (web("file:///build") + b"\xff" * 11, "a number that does not end"),
        (index([]), "covers no file of the tree"),
        (index([document("src/gone.ts", load_document("gone.ts", package("web")))]), "covers no file of the tree"),
    ],
)
def test_an_index_that_cannot_be_used_is_named_and_changes_nothing(tmp_path: Path, content: bytes, why: str) -> None:
    plain = edges_of(write_tree(tmp_path, FILES))
    (tmp_path / "web" / "index.scip").write_bytes(content)
    assert edges_of(tmp_path) == plain
    note = notes_of(tmp_path)["web/index.scip"]
    assert why in note
    assert str(tmp_path) not in note


def test_a_file_is_read_for_few_of_the_documents_about_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = package("web")
    about = document("web/src/load.ts", load_document("load.ts", owner))
    opened: list[str] = []

    def counted(root: Path, listed: ListedFile) -> SourceFile | SkippedFile:
        opened.append(listed.path)
        return read_source(root, listed)

    monkeypatch.setattr("groundwire_ingest.tree.scip.indexes.read_source", counted)
    edges_of(write_tree(tmp_path, {**FILES, "index.scip": index([about] * 50), "more.scip": index([about])}))
    assert opened == ["web/src/load.ts"] * 2 * MAX_DOCUMENTS_OF_A_FILE


def test_a_million_documents_that_cannot_be_used_are_counted(tmp_path: Path) -> None:
    """Two megabytes, which were a million records and a minute."""
    write_tree(tmp_path, {**FILES, "web/index.scip": index([]) + b"\x12\x00" * 1_000_000})
    notes = [item.why for item in TreeSource(tmp_path).read() if isinstance(item, SkippedFile)]
    assert notes == [
        "1,000,000 documents with a path that is not relative, or has '.' or '..'",
        "covers no file of the tree; put it into the folder that its indexer was run in",
    ]


def test_an_index_that_takes_too_much_memory_is_named_and_the_tree_is_indexed(tmp_path: Path) -> None:
    """Thirty megabytes of empty occurrences take gigabytes."""
    plain = edges_of(write_tree(tmp_path, FILES))
    hostile = b"\x12" + encoded_varint(30 << 20) + b"\x12\x00" * (15 << 20)
    write_tree(tmp_path, {"web/index.scip": web("file:///build") + hostile})
    assert edges_of(tmp_path) == plain
    assert "1024 MB of memory" in notes_of(tmp_path)["web/index.scip"]


@pytest.mark.parametrize("swap", SWAPS, ids=lambda swap: swap.__name__)
def test_an_index_that_is_replaced_once_it_is_listed_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swap: Swap
) -> None:
    root, secret = tmp_path / "tree", tmp_path / "secret.scip"
    write_tree(root, {**FILES, "indexes/web.scip": index([])})
    secret.write_bytes(index([]))

    def swapped(*arguments: Any) -> tuple[Listing, ...]:
        listed = list_tree(*arguments)
        swap(root / "indexes" / "web.scip", secret)
        return listed

    monkeypatch.setattr("groundwire_ingest.tree.contents.list_tree", swapped)
    assert notes_of(root)["indexes/web.scip"].startswith("cannot be read: ")
