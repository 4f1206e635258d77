"""A tree's own edges, judged by the indexes in it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench.repositories.compiler import Judged, TruthError, app, grid, judge
from support.scip_index import Entry, Mark, document, index, write_tree

PACKAGE = "scip-test python shop 1 "
STORE = """\
class Store:
    def archive(self):
        print(1, 2, 3)
        return 4


def make():
    return Store()
"""
MAIN = """\
from store import Store, make


def right():
    return make()


def wrong(x):
    x.archive()


def unknown(x):
    x.archive()


def missed():
    return table()["x"].archive() + getattr(Store, "y")
"""
MARKS = [
    Mark(1, "Store", PACKAGE + "store/Store#", rows=(1, 4)),
    Mark(2, "archive", PACKAGE + "store/Store#archive().", rows=(2, 4)),
    Mark(7, "make", PACKAGE + "store/make().", rows=(7, 8)),
    Mark(8, "Store", PACKAGE + "store/Store#"),
]
USES = [
    Mark(5, "make", PACKAGE + "store/make()."),
    Mark(9, "archive", "scip-test python other 1 io/File#archive()."),
    Mark(17, "table", PACKAGE + "store/make()."),
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    made = index([document("store.py", Entry(STORE, MARKS)), document("main.py", Entry(MAIN, USES))])
    return write_tree(tmp_path / "shop", {"store.py": STORE, "main.py": MAIN, "index.scip": made})


def test_edges_are_right_wrong_unknown_or_missed(tree: Path) -> None:
    judged = {
        (edge.from_key.partition("#")[2], edge.to_key.partition("#")[2]): edge.verdict
        for edge in judge(tree)
        if edge.from_key.startswith("py::main.py#")
    }
    assert judged["right", "make"] == "right"
    assert judged["wrong", "Store.archive"] == "wrong"
    assert judged["unknown", "Store.archive"] == "unknown"
    assert judged["missed", "make"] == "missed"


def test_shares_are_of_what_the_compiler_knows() -> None:
    def judged(number: int, confidence: float, verdict: str) -> Judged:
        return Judged(f"a{number}", "b", "Calls", confidence, 1, verdict)  # type: ignore[arg-type]

    verdicts = [(1.0, "right"), (0.9, "right"), (0.5, "right"), (0.9, "wrong"), (0.5, "unknown"), (0.0, "missed")]
    by_type = grid("shop", [judged(number, *verdict) for number, verdict in enumerate(verdicts)])
    assert by_type.rows[0] == ["Calls", "5", "3", "1", "1", "0.750", "0.667", "4", "0.750"]


def test_a_tree_without_an_index_of_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TruthError, match=r"no \*\.scip in it covers its files; run an indexer in it first"):
        judge(write_tree(tmp_path, {"main.py": MAIN}))


def test_the_program_writes_tables_and_edges(tree: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, [str(tree), "--out", str(tmp_path / "results")])
    assert done.exit_code == 0, done.output
    assert "shop: edges by type" in (tmp_path / "results" / "compiler.md").read_text()
    assert '"verdict": "missed"' in (tmp_path / "results" / "compiler.json").read_text()
    refused = CliRunner().invoke(app, [str(tmp_path / "results"), "--out", str(tmp_path / "results")])
    assert refused.exit_code == 1
