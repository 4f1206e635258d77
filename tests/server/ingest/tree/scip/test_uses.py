"""What a reference is: a call, a type that is made, a type that is named, an import, a key of an object."""

from pathlib import Path

from support.scip_index import Entry, Mark, document, edges_of, index, write_tree

PACKAGE = "scip-test python shop 1 "
STORE = Entry(
    """\
from typing import overload


class Store:
    def __init__(self, size: int) -> None:
        print("made", size)
        self.size = size


@overload
def pick(key: int) -> int: ...
@overload
def pick(key: str) -> str: ...
def pick(key):
    print("picked", key)
    return key


class Box:
    items = []
""",
    [
        Mark(4, "Store", PACKAGE + "store/Store#", rows=(4, 7)),
        Mark(5, "__init__", PACKAGE + "store/Store#__init__().", rows=(5, 7)),
        Mark(7, "size", PACKAGE + "store/Store#size.", defines=True),
        Mark(11, "pick", PACKAGE + "store/pick().", rows=(10, 11)),
        Mark(14, "pick", PACKAGE + "store/pick()."),
        Mark(19, "Box", PACKAGE + "store/Box#", rows=(19, 20)),
    ],
)


def edges(tmp_path: Path, text: str, *marks: Mark) -> set[tuple[str, str, str]]:
    """The edges from `main.py`; a symbol that a file declares again counts as itself."""
    made = [document("store.py", STORE), document("main.py", Entry(text, marks))]
    write_tree(tmp_path, {"store.py": STORE.text, "main.py": text, "index.scip": index(made)})
    return {
        (start, edge_type, end.partition("~")[0])
        for start, edge_type, end in edges_of(tmp_path)
        if start.startswith("main.py")
    }


def test_making_a_type_calls_its_constructor_and_refers_to_it(tmp_path: Path) -> None:
    text = "def main():\n    return Store(3)\n"
    assert edges(tmp_path, text, Mark(2, "Store", PACKAGE + "store/Store#")) == {
        ("main.py#main", "Calls", "store.py#Store.__init__"),
        ("main.py#main", "References", "store.py#Store"),
    }


def test_a_type_without_a_constructor_is_called_itself(tmp_path: Path) -> None:
    text = "def main():\n    return Box()\n"
    uses = edges(tmp_path, text, Mark(2, "Box", PACKAGE + "store/Box#"))
    assert uses == {("main.py#main", "Calls", "store.py#Box")}


def test_a_name_that_is_called_elsewhere_in_the_node_is_not_called_here(tmp_path: Path) -> None:
    text = "def main(store: Store):\n    return other.Store(store)\n"
    uses = edges(tmp_path, text, Mark(1, "Store", PACKAGE + "store/Store#"))
    assert uses == {("main.py#main", "References", "store.py#Store")}


def test_a_call_within_a_chain_over_several_lines_is_a_call(tmp_path: Path) -> None:
    text = "def main(store):\n    return (\n        store\n        .open()\n        .pick(1)\n    )\n"
    uses = edges(tmp_path, text, Mark(5, "pick", PACKAGE + "store/pick()."))
    assert ("main.py#main", "Calls", "store.py#pick") in uses


def test_a_field_that_a_constructor_sets_is_one_of_its_type(tmp_path: Path) -> None:
    text = "def main(store):\n    return store.size\n"
    uses = edges(tmp_path, text, Mark(2, "size", PACKAGE + "store/Store#size."))
    assert uses == {("main.py#main", "References", "store.py#Store")}


def test_an_overload_leads_to_what_has_the_body(tmp_path: Path) -> None:
    text = "def main():\n    return pick(1)\n"
    uses = edges(tmp_path, text, Mark(2, "pick", PACKAGE + "store/pick()."))
    assert uses == {("main.py#main", "Calls", "store.py#pick")}


def test_an_import_is_one_of_the_file_and_a_use_after_it_is_not(tmp_path: Path) -> None:
    text = """\
from store import (
    Box,
    Store,
)
KINDS = [Box]


def main(store: Store):
    print(store, 1)
"""
    uses = edges(
        tmp_path,
        text,
        Mark(2, "Box", PACKAGE + "store/Box#"),
        Mark(3, "Store", PACKAGE + "store/Store#"),
        Mark(5, "Box", PACKAGE + "store/Box#"),
        Mark(8, "Store", PACKAGE + "store/Store#"),
    )
    assert uses == {
        ("main.py", "Imports", "store.py"),
        ("main.py#KINDS", "References", "store.py#Box"),
        ("main.py#main", "References", "store.py#Store"),
    }


def test_an_alias_in_an_import_is_part_of_it(tmp_path: Path) -> None:
    text = "from store import Store as Shop, pick as choose\n\n\ndef main():\n    return Shop(choose(2))\n"
    uses = edges(
        tmp_path,
        text,
        Mark(1, "Store as Shop", PACKAGE + "store/Store#"),
        Mark(1, "pick", PACKAGE + "store/pick()."),
        Mark(1, "choose", PACKAGE + "store/pick()."),
        Mark(5, "Shop", PACKAGE + "store/Store#"),
        Mark(5, "choose", PACKAGE + "store/pick()."),
    )
    assert uses == {
        ("main.py", "Imports", "store.py"),
        ("main.py#main", "Calls", "store.py#Store.__init__"),
        ("main.py#main", "References", "store.py#Store"),
        ("main.py#main", "Calls", "store.py#pick"),
    }
