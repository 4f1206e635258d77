"""The benches from end to end: the real programs over the wire, on 200 nodes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.shared.programs import ROOT

pytestmark = pytest.mark.slow

NODES = 200
QUICK = ("--rounds", "2", "--calls", "3")


def run(*arguments: str | Path | float) -> str:
    command = [sys.executable, "-m", "bench", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def result(folder: Path, name: str) -> Any:
    assert (folder / f"{name}.md").read_text(encoding="utf-8").startswith("**")
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all write, so that the corpus and its index are made once."""
    return tmp_path_factory.mktemp("speed")


def test_scale(out: Path) -> None:
    sizes = ("--nodes", NODES, "--nodes", NODES + 50, "--milvus-nodes", NODES, "--workers", 1)
    only = ("--only", "semantic", "--only", "fetch")
    run("scale", "--out", out, *sizes, "--clients", 1, "--clients", 2, *only, *QUICK)
    measured = result(out, "scale")
    both, alone = measured["sizes"]
    assert [part["nodes"] for part in (both, alone)] == [NODES, NODES + 50]
    series = both["series"]
    assert [row["server"] for row in series] == ["embedded", "on Milvus"] * 4
    assert all(0 < row["p50"] <= row["p95"] <= row["p99"] for row in series)
    assert [row["recall"] for row in series] == [1.0, 1.0, None, None] * 2
    assert [row["agreement"] for row in series] == [None, 1.0] * 4
    assert all(both["memory"][server]["private"] > 0 for server in ("embedded", "on Milvus"))
    assert both["build_seconds"] > 0
    held = both["in_milvus"]
    published = {f"Publishing {part}" for part in ("nodes", "edges", "facts", "source texts")}
    assert held["published"].keys() == {*published, "Verifying"}
    assert held["file_bytes"] > 0
    assert 0 < held["idle"]["private"] < held["used"]["private"]
    assert alone["in_milvus"] is None
    for start in measured["starts"]:
        assert 0 < start["listening_seconds"] <= start["answered_seconds"]
        assert start["memory"]["private"] <= start["memory"]["proportional"] <= start["memory"]["resident"]


def test_edits(out: Path) -> None:
    tree = out / "tree"
    tree.mkdir()
    (tree / "tax.py").write_text("def rate():\n    return 2\n", encoding="utf-8")
    (tree / "more.py").write_text("import tax\n", encoding="utf-8")
    run("edits", "--out", out, "--source", tree, "--rounds", 1)
    seconds = result(out, "edits-tree")
    builds = {"the first", "another branch, with an edit", "another branch, with one file more"}
    assert all(seconds[name] > 0 for name in builds)


def test_an_unknown_call_is_refused(out: Path) -> None:
    command = [sys.executable, "-m", "bench", "scale", "--out", str(out), "--only", "nothing"]
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "dumb"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 2
    assert "nothing: must be among" in done.stderr
