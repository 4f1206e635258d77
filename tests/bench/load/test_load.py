"""The load bench from end to end: the real programs, on 200 nodes and for half a second a load."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.load.calls import MIX, offered_calls
from bench.load.generator import Load, Offered, point
from bench.load.h2load import Repeated, h2load_grid
from bench.shared.programs import ROOT
from bench.speed.corpus import Corpus


def run(*arguments: str | Path | float) -> None:
    command = [sys.executable, "-m", "bench.load", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_mix_holds_each_kind_as_often_as_it_says(corpus: Corpus) -> None:
    calls = offered_calls(corpus)
    assert len(calls) == sum(MIX.values()) * len(corpus.query_texts)
    assert len([call for call in calls if call.method.endswith("/FetchNodeTexts")]) == MIX["fetch"] * 12


def test_a_point_tells_refusals_from_failures() -> None:
    ends = {"RESOURCE_EXHAUSTED": 2, "DEADLINE_EXCEEDED": 1}
    measured = point("direct", Load(2.0, rate=10.0), Offered(2.0, [1.0, 3.0, 2.0, 4.0, 5.0], [0.0, 0.5], ends))
    assert (measured.answered, measured.refused, measured.failed) == (2.5, 0.25, 0.125)
    assert (measured.percentiles[0], measured.percentiles[-1]) == (3.0, 4.96)


def test_no_answer_at_all_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="direct: no call was answered"):
        point("direct", Load(2.0, rate=10.0), Offered(1.0, ends={"UNAVAILABLE": 3}))


def test_single_calls_are_compared_round_by_round() -> None:
    latencies = [
        *(Repeated("this tree", "bm25", 1, 100.0, p50, 9.0, 2.0) for p50 in (2.0, 8.0, 3.0)),
        *(Repeated("the other tree", "bm25", 1, 200.0, p50, 8.0, 1.0) for p50 in (1.0, 10.0, 2.0)),
    ]
    assert h2load_grid(latencies, "calls").rows == [
        ["bm25, 1 at a time, the other tree", "200", "2.00", "8.00", "1.00", "1.00", "1.00"],
        ["bm25, 1 at a time, this tree", "100", "3.00", "9.00", "2.00", "1.50", "2.00"],
    ]


@pytest.mark.slow
def test_latency_of_two_trees(tmp_path: Path) -> None:
    loads = ("--seconds", 0.5, "--callers", 2, "--share", 0.2, "--share", 0.5)
    run("latency", "--out", tmp_path, "--nodes", 200, "--tree", ROOT, *loads)
    document: Any = json.loads((tmp_path / "load.json").read_text(encoding="utf-8"))
    trees = ["the other tree", "this tree"]
    assert [row["server"] for row in document["closed"]] == trees
    assert [row["server"] for row in document["open"]] == [*trees, *trees]
    assert not [row for row in (*document["closed"], *document["open"]) if row["failed"]]
    assert (tmp_path / "load.md").read_text(encoding="utf-8").startswith("**")
