"""Calls over repositories with edges between them are timed beside one index of them, and without these edges."""

from pathlib import Path

import pytest

from bench.speed.between import BETWEEN, WHOLE, WITHOUT, grid, measure_between

pytestmark = pytest.mark.slow

FILES = {
    "lib/lib/client.py": "class Client:\n    def send(self):\n        return 1\n",
    "lib/lib/__init__.py": "",
    "app/main.py": "from lib.client import Client\n\n\ndef main():\n    return Client().send()\n",
    "other/main.py": "def main():\n    return 1\n",
}


def written(folder: Path) -> Path:
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def test_every_index_gets_the_same_calls(tmp_path: Path) -> None:
    trees = written(tmp_path / "trees")
    costs = measure_between([trees / "app", trees / "lib"], ["what does main send?"], 2, tmp_path / "work")
    assert costs.edges == 2
    assert costs.ends_bytes > 0
    assert {kind: {name: len(times) for name, times in by.items()} for kind, by in costs.milliseconds.items()} == {
        kind: {WHOLE: 2, BETWEEN: 2, WITHOUT: 2} for kind in ("walk", "query")
    }
    table = grid(costs, "app and lib")
    assert [row[0] for row in table.rows[:3]] == [f"walk: {name}" for name in (WHOLE, BETWEEN, WITHOUT)]


def test_trees_without_edges_between_them_are_refused(tmp_path: Path) -> None:
    trees = written(tmp_path / "trees")
    with pytest.raises(RuntimeError, match="no edges between app, other"):
        measure_between([trees / "app", trees / "other"], ["what?"], 2, tmp_path / "work")
    with pytest.raises(RuntimeError, match="must be two or more"):
        measure_between([trees / "app"], ["what?"], 2, tmp_path / "work")
