"""The benches from end to end: the real programs over the wire, on 200 nodes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.speed.systems import ROOT

pytestmark = pytest.mark.slow

NODES = 200
CALLS = ("semantic", "semantic, 1 % random", "bm25", "hybrid", "hybrid, 10 % clustered", "expand hub", "fetch", "query")
QUICK = ("--rounds", "2", "--calls", "3", "--policy-classes", "5")


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


@pytest.fixture(scope="module")
def peers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Peers' environments, of which one stands and has nothing installed."""
    folder = tmp_path_factory.mktemp("peers")
    home = folder / "qdrant-edge"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    return folder


def test_latency(out: Path, peers: Path) -> None:
    calls = [argument for scenario in CALLS for argument in ("--only", scenario)]
    clients = ("--clients", 1, "--clients", 2)
    said = run("latency", "--out", out, "--nodes", NODES, "--peers", peers, *clients, *calls, *QUICK)
    assert "qdrant-edge did not run: the adapter ended; its last words: ModuleNotFoundError" in said
    found = result(out, f"latency-{NODES}")
    assert set(found["loaded"]) == {"groundwire"}
    assert not [one["problem"] for one in found["series"] if one["problem"]]
    recalls = [one["recall"] for one in found["series"] if one["recall"] is not None]
    assert recalls == [1.0] * (2 * len([call for call in CALLS if call.startswith("semantic")]))
    assert found["environment"]["versions"]["groundwire"]
    assert (out / f"latency-{NODES}-2.png").read_bytes().startswith(b"\x89PNG")


def test_throughput(out: Path) -> None:
    only = ("--only", "semantic", "--only", "fetch")
    loop = ("--clients", 1, "--clients", 4, "--seconds", 0.1, "--policy-classes", 5)
    run("throughput", "--out", out, "--nodes", NODES, "--workers", 1, *only, *loop)
    loads = result(out, f"throughput-{NODES}")["loads"]
    assert [(one["scenario"], one["clients"]) for one in loads] == [
        (call, clients) for call in ("semantic", "fetch") for clients in (1, 4)
    ]
    assert all(one["calls_per_second"] > 0 and one["server_cpu"] > 0 and one["client_cpu"] > 0 for one in loads)


def test_scale(out: Path) -> None:
    sizes = ("--nodes", NODES, "--nodes", NODES + 50, "--milvus-nodes", NODES, "--workers", 1)
    only = ("--only", "semantic", "--only", "fetch")
    run("scale", "--out", out, *sizes, "--clients", 1, *only, *QUICK)
    found = result(out, "scale")
    both, alone = found["sizes"]
    assert [one["comparison"]["corpus"]["nodes"] for one in (both, alone)] == [NODES, NODES + 50]
    series = both["comparison"]["series"]
    assert [one["system"] for one in series] == ["embedded", "embedded", "on Milvus", "on Milvus"]
    assert all(one["times"] and one["recall"] in (1.0, None) for one in series)
    assert [one["agreement"] for one in series] == [None, None, 1.0, 1.0]
    assert both["build_seconds"] > 0
    held = both["in_milvus"]
    assert held["published"].keys() == {"Publishing nodes", "Publishing edges", "Publishing facts", "Verifying"}
    assert held["bytes_a_node"].keys() == {"vectors", "sparse vectors", "filters", "contents", "edges", "facts"}
    assert held["bytes_a_node"]["vectors"] == pytest.approx(4 * 384)
    assert held["file_bytes"] > 0
    assert 0 < held["idle"]["private"] < held["used"]["private"]
    asked = {one["scenario"]: (one["searches"], one["queries"] > 0) for one in held["requests"]}
    assert asked == {"semantic": (1.0, True), "fetch": (0.0, True)}
    assert all(0 < one["sent"] < one["received"] for one in held["requests"])
    assert alone["in_milvus"] is None
    for start in found["starts"]:
        assert 0 < start["listening_seconds"] <= start["answered_seconds"]
        assert start["memory"]["private"] <= start["memory"]["proportional"] <= start["memory"]["resident"]


def test_an_unknown_call_is_refused(out: Path) -> None:
    command = [sys.executable, "-m", "bench", "latency", "--out", str(out), "--only", "nothing"]
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "dumb"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 2
    assert "nothing: must be among" in done.stderr
